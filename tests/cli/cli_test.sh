#!/usr/bin/env bash
# The program from outside: exit codes, one-sentence errors, JSON, and which libraries it loads.
# Usage: cli_test.sh EGC_PROGRAM
set -u
egc=$1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# expect CODE "part of stderr" -- arguments
expect() {
  local code=$1 part=$2; shift 3
  local out; out=$("$egc" "$@" 2>&1 >/dev/null); local got=$?
  [ "$got" -eq "$code" ] || fail "egc $*: exit $got, expected $code ($out)"
  case "$out" in *"$part"*) ;; *) fail "egc $*: stderr does not say '$part': $out" ;; esac
  [ "$(grep -c . <<<"$out")" -le 1 ] || fail "egc $*: more than one line on stderr: $out"
}
[ "$("$egc" | grep -c "^Usage: egc")" -eq 1 ] && "$egc" >/dev/null || fail "egc alone prints no help, or fails"
expect 2 "nonsense" -- nonsense
expect 2 "needs a command" -- bench
expect 2 "mars" -- bench fusion --topology mars
expect 2 "arxiv-like" -- bench fusion --topology mars
expect 2 "scale" -- bench fusion --scale 2
expect 2 "--reps" -- bench fusion --reps 0
expect 2 "--threads" -- --threads 0 bench fusion
expect 2 "divisible by heads" -- bench layer --hidden 135 --topology zinc-single --reps 1
expect 2 "known: add, mean" -- bench layer --aggregators mx --topology zinc-single --reps 1
expect 2 "known: gcn, gin" -- bench layer --model egcs --topology zinc-single --reps 1
expect 2 "duplicate aggregator" -- bench layer --aggregators max,max --topology zinc-single --reps 1
expect 2 'unknown command "trian"; did you mean "train"?' -- trian zinc --model egc-m
expect 2 'unknown command "fuson"; did you mean "fusion"? egc bench --help' -- bench fuson
expect 2 'unknown flag "--modle"; did you mean "--model"?' -- train zinc --modle=egc-m
expect 2 'unknown flag "--jsn"; did you mean "--json"?' -- bench fusion --jsn
expect 2 'unknown flag "--elephants"; egc train --help' -- train zinc --elephants
expect 2 'did you mean "arxiv-like"?' -- bench fusion --topology arxivlike
expect 2 'did you mean "egc-s"? known: gcn' -- bench layer --model egcs --topology zinc-single --reps 1
expect 3 'did you mean "pattern"?' -- data info patern
expect 2 'did you mean "zinc"?' -- data fetch zink
expect 5 'did you mean "zinc-egc-m"?' -- info zinc-egcm
EGC_FORCE_TARGET=MMX expect 2 "MMX" -- bench fusion --scale 0.001 --reps 1

for help in "--help" "bench --help" "bench fusion --help" "bench layer --help"; do
  # shellcheck disable=SC2086
  "$egc" $help | grep -q "Example\|Usage" || fail "egc $help prints no help"
done
for command in "bench fusion" "bench layer"; do
  # shellcheck disable=SC2086
  "$egc" $command --help | grep -q "Example:" || fail "egc $command --help has no example"
done

# Completion and manual follow from the same commands as the help.
completes() {  # completes "words, the last one begun" EXPECTED...
  local line=$1 word got; shift
  got=$(bash -c 'source <("$0" completion bash); COMP_WORDS=($1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _egc; echo " ${COMPREPLY[*]} "' "$egc" "$line")
  for word in "$@"; do case "$got" in *" $word "*) ;; *) fail "$line<Tab> does not offer $word:$got" ;; esac; done
}
completes "egc be" bench
completes "egc bench fus" fusion
completes "egc train --hid" --hidden
completes "egc train --thr" --threads
completes "egc train zin" zinc
completes "egc train zinc --model egc-" egc-s egc-m
completes "egc data build mol" molecules
"$egc" man | grep -q '^.SS egc bench fusion' || fail "the manual lacks a command"
"$egc" man | grep -q -- '\\-\\-hidden' || fail "the manual lacks a flag"
! "$egc" man | grep -q "$HOME" || fail "the manual tells where this machine keeps things"
if command -v groff >/dev/null; then
  [ -z "$("$egc" man | groff -man -ww -Tascii 2>&1 >/dev/null)" ] || fail "groff warns of the manual: $("$egc" man | groff -man -ww -Tascii 2>&1 >/dev/null | head -3)"
fi

# Nothing heavy is linked or loaded, so the start takes milliseconds.
heavy='libtorch\|libc10\|blas\|lapack\|libgomp\|libRDKit\|libopencv\|libcurl'
ldd "$egc" | grep -q libegc.so || fail "ldd does not see the library"
[ "$(ldd "$egc" | grep -c "$heavy")" -eq 0 ] || fail "the program links $(ldd "$egc" | grep "$heavy")"
loaded() { LD_DEBUG=files "$egc" "$@" 2>&1 >/dev/null | grep 'calling init'; }
loaded bench fusion --scale 0.001 --reps 1 | grep -q libegc.so || fail "the check of loaded libraries cannot see them"
[ "$(loaded bench fusion --scale 0.001 --reps 1 | grep -c "$heavy")" -eq 0 ] || fail "egc bench fusion loads heavy libraries"

# JSON lines: every line parses and has the keys of the contract.
json_has() {
  local keys=$1; shift
  "$egc" --json "$@" 2>/dev/null | python3 -c '
import json, sys
keys = sys.argv[1].split(",")
lines = [json.loads(line) for line in sys.stdin]
assert lines, "no lines"
for line in lines:
    missing = [k for k in keys if k not in line]
    assert not missing, missing
' "$keys" || fail "egc --json $*"
}
json_has bench,topology,nodes,edges,features,method,ms_median,ms_min,reps,threads bench fusion --scale 0.001 --reps 2
json_has bench,model,topology,implementation,mode,ms_median,peak_extra_mb bench layer --topology zinc-single --reps 2
json_has bench,model,topology,implementation,mode,ms_median,peak_extra_mb,peak_extra_mb_twice_the_edges bench layer --model all --topology zinc-single --reps 1
[ -z "$("$egc" bench layer --topology zinc-single --reps 1 2>&1 >/dev/null)" ] || fail "bench layer warns"
# Rows of 13 layers, inference and training.
[ "$("$egc" --json bench layer --topology zinc-single --reps 1 --model all | grep -c '"implementation":"egc"')" -eq 26 ] || fail "bench layer --model all"
expect 2 "hidden" -- bench layer --model gat --hidden -8

for target in $(EGC_FORCE_TARGET=? "$egc" bench fusion --scale 0.001 --reps 1 2>&1 | sed -n 's/.*this machine has: //p' | tr -d ,); do
  EGC_FORCE_TARGET=$target "$egc" bench fusion --scale 0.001 --reps 1 | grep -q "$target" || fail "EGC_FORCE_TARGET=$target"
done

[ "$failures" -eq 0 ] && echo "cli: fine"
exit "$((failures > 0))"
