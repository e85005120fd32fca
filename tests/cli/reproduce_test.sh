#!/usr/bin/env bash
# Tables of the paper from outside: cells run once, go on after a kill, and are shown beside the paper's.
# Usage: reproduce_test.sh EGC_PROGRAM
. "$(dirname "$0")/begin.sh"
shows() { case "$(cat stdout)" in *"$1"*) ;; *) fail "stdout has no '$1': $(cat stdout)" ;; esac; }
reproduce() { "$egc" --quiet --data-dir nowhere reproduce "$@" >stdout 2>stderr; }

"$egc" data generate molecules --size 0.02 --out small >/dev/null
on_small=(--use zinc=small --epochs 2)

# The list, a table without anything run, and where to get the data.
reproduce || fail "the list: $(cat stderr)"
[ "$("$egc" --json reproduce | python3 -c 'import json, sys; print(sum("title" in json.loads(l) for l in sys.stdin))')" -eq 11 ] || fail "the list as JSON lines"
for table in main mag heads-bases activation aggregators ga-mlp sampling fusion latency-arxiv latency-code accuracy-normalised; do shows "$table"; done
reproduce main --show --out empty || fail "main --show: $(cat stderr)"
shows "0.281 ± 0.007"; shows "egc data fetch zinc"
[ -s empty/main/report.html ] || fail "no page"
reproduce main --show --markdown --out empty || fail "markdown"
shows "| egc-m | - | 0 | 0.281 ± 0.007 |"

# A cell: once trained, never again; a second table takes it from there.
reproduce main --cell zinc/egc-s "${on_small[@]}" --seeds 2 --out out || fail "a cell: $(cat stderr)"
shows "small instead, at most 2 epochs"
# Pages are of the whole table, and of one way to run it each.
[ -e out/main/report.html ] && fail "a short run is on the page of the real ones"
grep -q "<td>egc-m</td>" out/main/report-zinc-as-small-2-epochs.html || fail "the page has not all rows"
cell=out/small/egc-s-2-epochs
for seed in 0 1; do
  [ -s $cell/seed-$seed.json ] || fail "no record of seed $seed"
  [ -s $cell/seed-$seed/best.safetensors ] || fail "no model of seed $seed"
done
python3 - $cell <<'CHECK' || fail "the record"
import json, sys
cell = sys.argv[1]
record = json.load(open(cell + "/seed-1.json"))
assert record["config"]["seed"] == 1 and record["config"]["train"]["epochs"] == 2, record["config"]
assert record["config"]["about"]["dataset_checksum"] and record["version"].startswith("0.") and record["instruction_set"]
assert record["command"][0] == "train" and record["result"]["seed"] == 1 and record["result"]["test"] > 0
CHECK
touch -d 2000-01-01 $cell/seed-0.json $cell/seed-0/*
"$egc" --json --quiet --data-dir nowhere reproduce activation --cell zinc/egc-s "${on_small[@]}" --seeds 2 --out out >json 2>stderr || fail "activation: $(cat stderr)"
[ "$(find $cell -type f -newermt 2001-01-01 -path '*seed-0*' | wc -l)" -eq 0 ] || fail "a finished cell was touched"
python3 - json $cell <<'CHECK' || fail "JSON lines"
import json, statistics, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert len(lines) == 1, lines
line = lines[0]
tests = [json.load(open(f"{sys.argv[2]}/seed-{k}.json"))["result"]["test"] for k in (0, 1)]
assert line["runs"] == 2 and abs(line["mean"] - statistics.mean(tests)) < 1e-12
assert abs(line["std"] - statistics.stdev(tests)) < 1e-12
assert line["paper"] == 0.364 and line["paper_std"] == 0.02 and line["verdict"] in ("better", "worse", "within")
assert line["used"].endswith("/small")
CHECK

# Killed in the middle it goes on, to the same model.
reproduce sampling --cell zinc/egc-s-drop-edges-0.5 --use zinc=small --epochs 6 --out whole || fail "whole: $(cat stderr)"
for signal in KILL TERM; do
  "$egc" --quiet --data-dir nowhere reproduce sampling --cell zinc/egc-s-drop-edges-0.5 --use zinc=small --epochs 6 --out $signal >/dev/null 2>&1 &
  parent=$!
  run=$signal/small/egc-s-drop-edges-0.5-6-epochs
  for _ in $(seq 200); do [ -s $run/seed-0/metrics.jsonl ] && break; sleep 0.05; done
  child=$(pgrep -P $parent)
  kill -$signal $parent; [ $signal = TERM ] || kill -KILL "$child"
  wait $parent 2>/dev/null
  [ -e $run/seed-0.json ] && fail "$signal: it ended before"
  for _ in $(seq 100); do kill -0 "$child" 2>/dev/null || break; sleep 0.05; done
  reproduce sampling --cell zinc/egc-s-drop-edges-0.5 --use zinc=small --epochs 6 --out $signal || fail "going on after $signal: $(cat stderr)"
  cmp $run/seed-0/best.safetensors whole/small/egc-s-drop-edges-0.5-6-epochs/seed-0/best.safetensors || fail "$signal: another model"
done

# What is there is shown, whatever was asked for at first.
reproduce main --show --cell zinc/egc-s "${on_small[@]}" --out out || fail "show: $(cat stderr)"
grep -qE "egc-s .* 2 " stdout || fail "--show does not show both seeds: $(cat stdout)"

# Several at a time; a cell that fails leaves the others alone.
reproduce activation --cell 'zinc/egc-s*' "${on_small[@]}" --jobs 2 --out out || fail "jobs: $(cat stderr)"
for row in egc-s-hardtanh egc-s-sigmoid egc-s-softmax; do [ -s out/small/$row-2-epochs/seed-0.json ] || fail "no $row"; done
mkdir -p bad/small/egc-s-sigmoid-2-epochs/seed-0 && echo '{' >bad/small/egc-s-sigmoid-2-epochs/seed-0/config.json
reproduce activation --cell 'zinc/egc-s*' "${on_small[@]}" --out bad && fail "a damaged run passed"
[ -s bad/small/egc-s-softmax-2-epochs/seed-0.json ] || fail "a cell behind the failing one was not run"
shows "egc-s-softmax"

# Benchmarks are cells too.
reproduce --threads 2 fusion --cell 'zinc-batch/*' --reps 1 --out out || fail "fusion: $(cat stderr)"
shows "fused"
python3 - out/zinc-batch/fusion-2-threads/measured.json <<'CHECK' || fail "the record of fusion"
import json, sys
result = json.load(open(sys.argv[1]))["result"]
assert all(result[m]["ms_median"] > 0 for m in ("spmm", "naive", "reordered", "fused")), result
CHECK
touch -d 2000-01-01 out/zinc-batch/fusion-2-threads/measured.json
reproduce --threads 2 fusion --cell 'zinc-batch/*' --reps 1 --out out || fail "fusion again: $(cat stderr)"
[ out/zinc-batch/fusion-2-threads/measured.json -ot json ] || fail "a finished benchmark ran again"
reproduce --threads 2 fusion --cell 'zinc-batch/*' --reps 2 --out out || fail "fusion, more rounds: $(cat stderr)"
grep -q '"reps": 2' out/zinc-batch/fusion-2-threads/measured.json || fail "one round was taken for two"
# Where the data are not here, benchmarks take what is generated in their place, and say so.
reproduce latency-arxiv --cell arxiv/gcn --reps 1 --out out || fail "latency-arxiv: $(cat stderr)"
shows "on arxiv-like instead"
python3 - out/arxiv-like/gcn-epoch-time-*/measured.json <<'CHECK' || fail "the record of an epoch"
import json, sys
record = json.load(open(sys.argv[1]))
assert record["result"]["train_s"] > 0 and record["result"]["dataset_checksum"] and record["config"]["model"]["features"] == 128
CHECK
"$egc" data generate functions --size 0.01 --out few >/dev/null
reproduce latency-code --cell code2/gcn --use code2=few --reps 1 --out out || fail "latency-code: $(cat stderr)"
grep -qE "gcn +[0-9]" stdout || fail "latency-code shows $(cat stdout)"

# One sentence for everything wrong.
expect 2 "unknown table" -- reproduce mian
expect 2 "no cell zinc/egc-x" -- reproduce main --cell zinc/egc-x
expect 2 "no cell zinc/egc-x" -- reproduce main --cell zinc/egc-s --cell zinc/egc-x
expect 2 "DATASET=REPLACEMENT" -- reproduce main --use zinc --show
expect 2 "no dataset zync" -- reproduce main --use zync=small
expect 3 "nothing-there" -- reproduce main --use zinc=nothing-there
expect 3 "egc data fetch zinc" -- --data-dir nowhere reproduce main --cell zinc/egc-s --out out
expect 2 "--epochs" -- reproduce main --epochs 0
mkdir -p elsewhere && cp -r small elsewhere/small
expect 2 "was run on" -- reproduce main --cell zinc/egc-s --use zinc=elsewhere/small --epochs 2 --out out --show
expect 2 "was run on" -- reproduce main --cell zinc/egc-s --use zinc=elsewhere/small --epochs 2 --out out
expect 2 "--seeds" -- reproduce main --seeds 0
echo '{' >$cell/seed-0.json
expect 3 "seed-0.json" -- reproduce main --cell zinc/egc-s "${on_small[@]}" --out out --show
rm $cell/seed-0.json; echo '{}' >$cell/config.json
expect 2 "another configuration" -- reproduce main --cell zinc/egc-s "${on_small[@]}" --out out
expect 2 "another configuration" -- reproduce main --cell zinc/egc-s "${on_small[@]}" --out out --show
# What cannot be read of one cell does not keep the others from their page.
reproduce main --cell zinc/egc-m --show "${on_small[@]}" --out out || fail "a page beside a damaged cell: $(cat stderr)"
expect 5 "cannot be created" -- reproduce main --cell zinc/egc-s "${on_small[@]}" --out /proc/nothing

[ $failures -eq 0 ] && echo "reproduce: fine"
exit $((failures > 0))
