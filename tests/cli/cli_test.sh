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
expect 2 "subcommand" --
expect 2 "nonsense" -- nonsense
expect 2 "subcommand" -- bench
expect 2 "mars" -- bench fusion --topology mars --no-aten
expect 2 "arxiv-like" -- bench fusion --topology mars --no-aten
expect 2 "scale" -- bench fusion --scale 2 --no-aten
expect 2 "--reps" -- bench fusion --reps 0 --no-aten
expect 2 "--threads" -- --threads 0 bench fusion --no-aten
expect 2 "divisible by heads" -- bench layer --hidden 135 --topology zinc-single --reps 1
expect 2 "known: add, mean" -- bench layer --aggregators mx --topology zinc-single --reps 1
expect 2 "known: gcn, gin" -- bench layer --model egcs --topology zinc-single --reps 1
expect 2 "came twice" -- bench layer --aggregators max,max --topology zinc-single --reps 1
EGC_FORCE_TARGET=MMX expect 2 "MMX" -- bench fusion --no-aten --scale 0.001 --reps 1

for help in "--help" "bench --help" "bench fusion --help" "bench layer --help"; do
  # shellcheck disable=SC2086
  "$egc" $help | grep -q "Example\|Usage" || fail "egc $help prints no help"
done
for command in "bench fusion" "bench layer"; do
  # shellcheck disable=SC2086
  "$egc" $command --help | grep -q "Example:" || fail "egc $command --help has no example"
done

# Without ATen no LibTorch is loaded, and the start takes milliseconds.
libraries() { LD_DEBUG=files "$egc" "$@" 2>&1 >/dev/null | grep -c 'calling init.*\(libtorch\|libc10\|libopenblas\)'; }
[ "$(libraries --help)" -eq 0 ] || fail "egc --help loads LibTorch"
[ "$(libraries bench fusion --no-aten --scale 0.001 --reps 1)" -eq 0 ] || fail "egc bench fusion --no-aten loads LibTorch"
[ "$(libraries bench fusion --aten --topology zinc-batch --scale 0.001 --reps 1)" -gt 0 ] || fail "the check for LibTorch cannot see it"

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
# Rows of ours and of those composed of ATen calls (seven layers of 13), inference and training.
rows() { "$egc" --json bench layer --topology zinc-single --reps 1 "$@" | grep -o '"implementation":"\(egc\|aten\)"' | sort | uniq -c | tr -s ' \n' ' '; }
aten='"implementation":"aten"' ours='"implementation":"egc"'
[ "$(rows --model all --aten)" = " 14 $aten 26 $ours " ] || fail "bench layer --model all --aten"
[ "$(rows --model all)" = " 26 $ours " ] || fail "bench layer --model all without --aten"
[ "$(rows --model egc-s --activation softmax)" = " 2 $aten 2 $ours " ] || fail "bench layer --model egc-s"
[ "$(rows --model gat --aten)" = " 2 $aten 2 $ours " ] || fail "bench layer --model gat --aten"
expect 2 "mpnn-max, pna, egc-s, egc-m, egc, not gcn" -- bench layer --model gcn --aten --topology zinc-single
expect 2 "hidden" -- bench layer --model gat --hidden -8

for target in $(EGC_FORCE_TARGET=? "$egc" bench fusion --no-aten --scale 0.001 --reps 1 2>&1 | sed -n 's/.*this machine has: //p' | tr -d ,); do
  EGC_FORCE_TARGET=$target "$egc" bench fusion --no-aten --scale 0.001 --reps 1 | grep -q "$target" || fail "EGC_FORCE_TARGET=$target"
done

[ "$failures" -eq 0 ] && echo "cli: fine"
exit "$((failures > 0))"
