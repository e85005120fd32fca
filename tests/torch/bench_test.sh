#!/usr/bin/env bash
# The benchmark beside layers composed of ATen calls, from outside.
# Usage: bench_test.sh EGC_TORCH_BENCH
set -u
bench=$1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

rows() { "$bench" --json --reps 1 layer --topology zinc-single "$@" | grep -o '"implementation":"\(egc\|aten\)"' | sort | uniq -c | tr -s ' \n' ' '; }
aten='"implementation":"aten"' ours='"implementation":"egc"'
# Inference and training of each layer.
[ "$(rows --model all)" = " 14 $aten 14 $ours " ] || fail "layer --model all"
[ "$(rows --model egc-s --activation softmax)" = " 2 $aten 2 $ours " ] || fail "layer --model egc-s"
[ "$("$bench" --json --reps 1 --scale 0.001 fusion --topology zinc-batch | grep -c '"method"')" -eq 4 ] || fail "fusion"
configs=$(mktemp -d)
trap 'rm -rf "$configs"' EXIT
cp "$(dirname "$0")/../../configs/zinc/egc-m.json" "$configs"
[ "$("$bench" --json --reps 1 gemm --configs "$configs" | grep -c '"product":"grad_weight"')" -ge 3 ] || fail "gemm"
said=$("$bench" layer --model gcn --topology zinc-single 2>&1) && fail "a layer without a composed form is measured"
case "$said" in *"unknown composed layer \"gcn\"; known: gat, gatv2"*) ;; *) fail "gcn is refused with: $said" ;; esac

[ "$failures" -eq 0 ] && echo "torch bench: fine"
exit "$((failures > 0))"
