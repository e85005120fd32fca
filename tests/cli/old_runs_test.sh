#!/usr/bin/env bash
# Runs of the engine on LibTorch (version 0.1.0+be4d1d5082, golden/runs): their models score the same, and resumed after
# two epochs they train as they did there.
# Usage: old_runs_test.sh EGC
set -euo pipefail
egc=$1
golden=$(cd "$(dirname "$0")/../golden/runs" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$golden/data" "$work/data"
for run in egc-m pna gat mpnn-max; do
  cp -r "$golden/$run" "$work/$run"
  sed -i "s|\"DATASET\"|\"$work/data\"|" "$work/$run/config.json"
  "$egc" eval "$work/$run" "$work/data" --json >"$work/$run/now.json"
  "$egc" --quiet train --resume "$work/$run" >/dev/null
done
python3 - "$work" egc-m pna gat mpnn-max <<'CHECK'
import json
import sys
from pathlib import Path

work, *runs = sys.argv[1:]
for run in runs:
    lines = {
        name: [json.loads(line) for line in (Path(work) / run / name).read_text().splitlines()]
        for name in ("metrics.jsonl", "expected.jsonl", "now.json", "eval.json")
    }
    assert len(lines["metrics.jsonl"]) == len(lines["expected.jsonl"]) == 4, run
    for ours, theirs in zip(lines["metrics.jsonl"], lines["expected.jsonl"]):
        # A bias before a batch norm has the gradient 0 but for rounding, which Adam makes steps of: training
        # does not see it, the running statistics do.
        for key, tolerance in (("epoch", 0), ("lr", 0), ("train_loss", 1e-6), ("valid", 0.01)):
            assert abs(ours[key] - theirs[key]) <= tolerance, (run, key, ours, theirs)
    now, then = lines["now.json"][0], lines["eval.json"][0]
    assert abs(now["value"] - then["value"]) < 1e-6, (run, now, then)
CHECK
echo "old runs: fine"
