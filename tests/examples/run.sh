#!/usr/bin/env bash
# Installs the build to a temporary prefix, builds the examples against it as a user would, runs them.
# Usage: run.sh BUILD_DIR
set -euo pipefail
build=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --strip --prefix "$work/install" >/dev/null
cmake -G Ninja -S "$source/examples" -B "$work/examples" -DCMAKE_PREFIX_PATH="$work/install" >/dev/null
cmake --build "$work/examples"
egc=$work/install/bin/egc
"$egc" --version
"$egc" bench layer --topology zinc-single --reps 1 >/dev/null 2>&1
# Every header of the package compiles by itself.
find "$work/install/include/egc" -name '*.h*' -not -path '*/torch/*' | while read -r header; do
  echo "#include \"$header\"" | g++ -std=c++20 -fsyntax-only -I"$work/install/include" -x c++ - || { echo "$header does not compile by itself"; exit 1; }
done
"$work/examples/train_layer"
"$work/examples/use_c" >"$work/c"
grep -q "summed over 4 nodes: 4.0" "$work/c"
[ "$(grep -c "^molecule" "$work/c")" -eq 2 ]
if [ -e "$work/examples/train_layer_torch" ]; then "$work/examples/train_layer_torch"; else echo "no LibTorch: its example is not built"; fi

# The library and the program predict the same.
"$egc" data generate molecules --size 0.01 --out "$work/data" >/dev/null
"$egc" --quiet train "$work/data" --model egc-s --hidden 16 --epochs 1 --out "$work/run" >/dev/null
"$work/examples/predict_file" "$work/run/best.safetensors" "$work/data" >"$work/ours"
"$egc" predict "$work/run" "$work/data" | tail -n +2 >"$work/theirs"
python3 - "$work/ours" "$work/theirs" <<'CHECK'
import sys
ours, theirs = ([[float(v) for v in line.split(",")] for line in open(path)] for path in sys.argv[1:])
assert len(ours) == len(theirs) > 100, (len(ours), len(theirs))
for a, b in zip(ours, theirs):
    assert len(a) == len(b) == 2 and a[0] == b[0] and abs(a[1] - b[1]) < 1e-4, (a, b)
CHECK
# A file that is no model is refused with the library's sentence.
if "$work/examples/predict_file" "$work/data/dataset.json" "$work/data" 2>"$work/error"; then exit 1; fi
grep -q "^predict_file: .*dataset.json" "$work/error"
echo "examples: fine"
