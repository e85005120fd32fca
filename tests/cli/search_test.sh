#!/usr/bin/env bash
# Searching and explaining from outside: what is found, that a search goes on, what is refused.
# Usage: search_test.sh EGC_PROGRAM
. "$(dirname "$0")/begin.sh"
lines() { "$egc" --quiet --json "$@" >json 2>stderr || fail "egc $*: exit $? ($(cat stderr))"; }
py() { python3 - "$@" || fail "check of $*"; }

"$egc" data generate molecules --size 0.02 --out small >/dev/null
cat >gcn.json <<'JSON'
{"model": {"task": "graph-regression", "model": "gcn", "hidden": 16, "layers": 2, "outputs": 1, "encoder": "embedding", "categories": [28]},
 "train": {"epochs": 4, "batch": 32}}
JSON
cat >egc.json <<'JSON'
{"model": {"task": "graph-regression", "model": "egc-m", "hidden": 16, "layers": 2, "outputs": 1, "encoder": "embedding", "categories": [28],
           "heads": 4, "bases": 2, "aggregators": ["add", "std"]},
 "train": {"epochs": 4, "batch": 32}}
JSON
echo '{"train.lr": {"log": [0.0003, 0.01]}, "train.batch": [16, 32]}' >space.json

# Halving: everyone a little, one to the end, judged by validation; done once.
lines search settings small --config gcn.json --space space.json --trials 4 --first-epochs 1 --factor 2 --jobs 2 --out found
cp json first
py json found <<'CHECK'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert sorted(l["epochs"] for l in lines) == [1, 1, 2, 4], lines
assert lines[0]["epochs"] == 4 and lines[0]["test"] is not None and all(l["test"] is None for l in lines[1:])
best = json.load(open(f"{sys.argv[2]}/{lines[0]['trial']}/config.json"))
assert best == json.load(open(sys.argv[2] + "/best.json")) and 0.0003 <= best["train"]["lr"] <= 0.01
CHECK
[ -s found/report.html ] || fail "no page"
grep -q "<th>train.batch</th><" found/report.html || fail "the page does not show the settings of the trials"
grep -q "<h2>Influence of the settings</h2>" found/report.html || fail "the page does not tell what mattered"
! grep -q "<th>train.epochs</th>" found/report.html || fail "the page shows settings that are the same for all"
touch -d 2000-01-01 found/*/after-*.json
lines search settings small --config gcn.json --space space.json --trials 4 --first-epochs 1 --factor 2 --jobs 2 --out found
cmp json first || fail "the second time differs"
[ "$(find found -name 'after-*' -newermt 2001-01-01 | wc -l)" -eq 0 ] || fail "a trial ran again"
# Killed, it goes on and finds the same.
"$egc" --quiet search settings small --config gcn.json --space space.json --trials 4 --first-epochs 1 --factor 2 --out killed >/dev/null 2>&1 &
parent=$!
for _ in $(seq 200); do [ -s killed/trial-0001/after-1.json ] && break; sleep 0.05; done
child=$(pgrep -P $parent)
kill -KILL $parent "$child"; wait $parent 2>/dev/null
[ -e killed/best.json ] && fail "it ended before it was killed"
sleep 0.3
lines search settings small --config gcn.json --space space.json --trials 4 --first-epochs 1 --factor 2 --out killed
py json first <<'CHECK'
import json, sys
a, b = ([json.loads(line) for line in open(f)] for f in sys.argv[1:])
assert [(l["trial"], l["valid"], l["test"]) for l in a] == [(l["trial"], l["valid"], l["test"]) for l in b]
CHECK
# A grid.
echo '{"train.lr": [0.001, 0.003]}' >grid.json
lines search settings small --config gcn.json --space grid.json --method grid --epochs 1 --out grid
[ "$(wc -l <json)" -eq 2 ] || fail "the grid has $(wc -l <json) trials"
# A point that is no network has no score; the others have.
echo '{"model.heads": [4, 3], "train.lr": [0.001]}' >heads.json
lines search settings small --config egc.json --space heads.json --method grid --epochs 1 --out impossible
py json <<'CHECK'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert [l["valid"] is None for l in lines] == [False, True] and [l["epochs"] for l in lines] == [1, 0], lines
CHECK

# Aggregators: both ways, beside the hand-made choice.
lines search aggregators small --config egc.json --choose 2 --epochs 6 --first-epochs 1 --factor 5 --seeds 2 --jobs 2 --out pairs
py json pairs <<'CHECK'
import json, os, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
trials = [l for l in lines if "trial" in l]
assert len(trials) == 21 and len({l["trial"] for l in trials}) == 21
summary = {l["summary"]: l for l in lines if "summary" in l}
assert summary["chosen"]["seeds"] == 2 and len(summary["chosen"]["aggregators"]) == 2
# The finalists are those that came furthest; the best of them on the validation set is chosen, whatever the test set says.
furthest = max(l["epochs"] for l in trials)
finals = [l for l in lines if l.get("summary") in ("chosen", "finalist")]
assert {"-".join(l["aggregators"]) for l in finals} >= {l["trial"] for l in trials if l["epochs"] == furthest} - {"-".join(summary.get("by-hand", {"aggregators": []})["aggregators"])}
assert len(finals) > 1 and min(finals, key=lambda l: l["valid"])["summary"] == "chosen", finals
# Finalists go on where halving left them: nothing is trained, or counted, twice.
names = ["-".join(l["aggregators"]) for l in finals]
assert summary["chosen"]["search_epochs"] == sum(l["epochs"] for l in trials if l["trial"] not in names) + (len(finals) - 1) * 2 * 6
assert set(os.listdir(sys.argv[2])) >= {n + s for n in names for s in ("", "-seed-1")}
assert {l["trial"] for l in trials} >= set(names)
best = min((l for l in lines if "summary" in l), key=lambda l: l["valid"])  # the configuration's own among them
assert json.load(open(sys.argv[2] + "/best.json"))["model"]["aggregators"] == best["aggregators"]
CHECK
lines search aggregators small --config egc.json --choose 2 --method gates --gate-epochs 2 --seeds 1 --out gates
py json <<'CHECK'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
shares = [l for l in lines if "share" in l]
assert len(shares) == 7 and abs(sum(l["share"] for l in shares) - 1) < 1e-6
assert [l["aggregator"] for l in shares[:2]] == next(l for l in lines if l.get("summary") == "chosen")["aggregators"]
CHECK

# Explaining: shares that add up, of every node.
run=$(echo gates/*/run | cut -d" " -f1)
lines explain $run small --out explained
py json explained/nodes.csv <<'CHECK'
import csv, json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert [l["layer"] for l in lines[:-1]] == [1, 2]
for l in lines[:-1]:
    for key in ("bases", "heads"):
        assert abs(sum(l[key]) - 1) < 1e-6, l
    assert abs(sum(l["aggregators"].values()) - 1) < 1e-6
rows = list(csv.DictReader(open(sys.argv[2])))
assert len(rows) == 2 * lines[-1]["nodes"]
names = list(lines[0]["aggregators"])
assert all(abs(sum(float(r[n]) for n in names) - 1) < 1e-4 for r in rows)
mean = sum(float(r[names[0]]) for r in rows if r["layer"] == "1") / lines[-1]["nodes"]
assert abs(mean - lines[0]["aggregators"][names[0]]) < 1e-4
graphs = {int(r["graph"]) for r in rows}
assert graphs == set(range(max(graphs) + 1)) and sum(r["node"] == "0" and r["layer"] == "1" for r in rows) == len(graphs)
CHECK
grep -q "<circle" explained/report.html || fail "no picture of a graph"
grep -q ">C</text>" explained/report.html || fail "a molecule without symbols of atoms"
grep -q "<dt>predicted</dt>" explained/report.html || fail "no prediction beside the picture"
"$egc" --quiet explain $run small --part valid --out explained-part >stdout 2>stderr || fail "explain --part: $(cat stderr)"
first=$(sed -n 2p explained-part/nodes.csv | cut -d, -f1)
[ "$first" -gt 0 ] || fail "the validation set begins with graph $first"
grep -q "<h2>Graph $first</h2>" explained-part/report.html || fail "pictures and table number graphs differently"

# Of one large graph a part is its nodes.
"$egc" data generate arxiv-like --size 0.01 --out one >/dev/null
"$egc" --quiet train one --model egc-m --hidden 16 --layers 1 --epochs 1 --out one-run >/dev/null || fail "one graph"
lines explain one-run one --part valid
"$egc" --json data info one >info
py json info <<'CHECK'
import json, sys
summary = [json.loads(line) for line in open(sys.argv[1])][-1]
assert summary["nodes"] == json.load(open(sys.argv[2]))["splits"]["valid"], summary
CHECK

# A pause is no end.
"$egc" --quiet train small --config gcn.json --until 2 --out paused >stdout 2>stderr || fail "until: $(cat stderr)"
grep -q "paused after epoch 2" stdout || fail "a pause says $(cat stdout)"
"$egc" --quiet train small --config gcn.json --out whole >/dev/null || fail "whole"
"$egc" --quiet train --resume paused >stdout 2>stderr || fail "going on: $(cat stderr)"
cmp paused/best.safetensors whole/best.safetensors || fail "a paused run ends in another model"

# One sentence for everything wrong.
"$egc" --quiet train small --config gcn.json --out gcn >/dev/null
expect 2 "networks of EGC layers only" -- explain gcn small
expect 2 "takes either an input" -- explain $run
expect 3 "unknown dataset" -- explain $run nothing-there
expect 4 "found a dataset" -- explain small small
expect 2 "missing-space.json" -- search settings small --config gcn.json --space missing-space.json --out x
echo '{"lr": [1]}' >bad.json
expect 2 "bad.json" -- search settings small --config gcn.json --space bad.json --out x
expect 2 "no configuration" -- search aggregators small --out x
expect 2 "--choose" -- search aggregators small --config egc.json --choose 9 --out x
sed 's/"std"/"stdd"/' egc.json >misspelt.json
expect 2 "stdd" -- search aggregators small --config misspelt.json --out x
expect 2 "no aggregators to choose from" -- search aggregators small --config gcn.json --out x
expect 3 "smal" -- search aggregators smal --config egc.json --out x
[ -e x ] && fail "a refused search left a directory"
expect 2 "another search" -- search settings small --config gcn.json --space grid.json --method grid --epochs 2 --out grid
"$egc" data generate molecules --size 0.01 --out other >/dev/null
expect 2 "another search" -- search settings other --config gcn.json --space grid.json --method grid --epochs 1 --out grid
expect 2 "another search" -- --seed 1 search settings small --config gcn.json --space grid.json --method grid --epochs 1 --out grid
sed 's/"epochs": 4/"epochs": "x"/' gcn.json >text.json
expect 2 "an integer" -- search settings small --config text.json --space grid.json --out x
echo '{"train.lr": [1e30]}' >wild.json
"$egc" --quiet search settings small --config gcn.json --space wild.json --method grid --epochs 2 --out wild >/dev/null 2>stderr
[ $? -eq 6 ] && grep -q "no trial has a score" stderr || fail "a search without a score: $(cat stderr)"
expect 2 "EGC layers" -- train small --config gcn.json --aggregator-sparsity 0.1 --out refused
[ -e refused ] && fail "a refused run left a directory"
echo '{' >grid/trial-0000/after-1.json
expect 3 "after-1.json" -- search settings small --config gcn.json --space grid.json --method grid --epochs 1 --out grid

[ $failures -eq 0 ] && echo "search: fine"
exit $((failures > 0))
