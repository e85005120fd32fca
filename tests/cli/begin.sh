# What tests of the program begin with: the program, a directory of their own, and how failures are told. To be sourced.
set -u
egc=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# expect CODE "part of stderr" -- arguments: one sentence on stderr
expect() {
  local code=$1 part=$2; shift 3
  local out; out=$("$egc" --quiet "$@" 2>&1 >/dev/null); local got=$?
  [ "$got" -eq "$code" ] || fail "egc $*: exit $got, expected $code ($out)"
  case "$out" in *"$part"*) ;; *) fail "egc $*: stderr does not say '$part': $out" ;; esac
  [ "$(grep -c . <<<"$out")" -le 1 ] || fail "egc $*: more than one line on stderr: $out"
}
