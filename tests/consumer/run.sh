#!/usr/bin/env bash
# Installs the build to a temporary prefix, builds a user's project against it, runs it.
# Usage: run.sh BUILD_DIR
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix/install" >/dev/null
cmake -G Ninja -S "$here" -B "$prefix/consumer" -DCMAKE_PREFIX_PATH="$prefix/install" >/dev/null
cmake --build "$prefix/consumer"
(cd "$prefix" && consumer/consumer)
"$prefix/install/bin/egc" --version
"$prefix/install/bin/egc" bench layer --topology zinc-single --reps 1 >/dev/null 2>&1
