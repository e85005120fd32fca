#!/usr/bin/env bash
# A person's first own dataset, and what they do with runs: plans of columns, standardised numbers, predictions that can be joined,
# runs of several seeds, options that would do nothing.
# Usage: own_data_test.sh EGC_PROGRAM
. "$(dirname "$0")/begin.sh"
runs() { "$egc" --quiet "$@" >stdout 2>stderr || fail "egc $*: exit $? ($(cat stderr))"; }
py() { python3 - "$@" || fail "check of $*"; }

# 200 people: two numbers of very different size, a text, a name of their own, a constant, an odd cell, a split.
python3 - <<'MAKE'
import random
random.seed(3)
rows = []
for k in range(200):
    age, income = random.uniform(18, 80), random.lognormvariate(10.5, 0.6)
    kind = "yes" if (age - 49) / 18 + (income - 40000) / 20000 + random.gauss(0, 0.3) > 0 else "no"
    split = "train" if k < 140 else "valid" if k < 170 else "test"
    rows.append([f"p{k}", f"name {k}", f"{age:.1f}", "unknown" if k == 7 else f"{income:.0f}", random.choice(["north", "south"]), "CH", split, kind])
with open("people.csv", "w") as f:
    f.write("id,name,age,income,region,country,split,buys\n")
    for r in rows: f.write(",".join(r) + "\n")
with open("more.csv", "w") as f, open("turned.csv", "w") as t:
    head = "name,income,id,age,region,note,buys\n"
    lines = [f"{r[1]},{r[3]},{r[0]},{r[2]},{r[4]},seen,{r[7]}\n" for r in rows if r[3] != "unknown"]
    f.write(head + "".join(lines)); t.write(head + "".join(reversed(lines)))
with open("ties.csv", "w") as f, open("none.csv", "w") as n:
    f.write("source,target\n"); n.write("source,target\np0,p0\n")
    for _ in range(500): f.write(f"p{random.randrange(200)},p{random.randrange(200)}\n")
MAKE
"$egc" data build csv --nodes people.csv --edges ties.csv --label buys --undirected --out people >plan 2>notes || fail "build: $(cat notes)"
for part in 'age  *number  *0' 'income  *number  *1' 'region  *category  *0  *2' 'name  *ignore .*all its values are distinct texts' 'country  *ignore .*all its values are the same' 'split by column "split": 140 train, 30 valid, 30 test'; do
  grep -q "$part" plan || fail "the plan has no '$part': $(cat plan)"
done
for part in 'ignoring column "name"' 'ignoring column "country"' 'line 9 "unknown"' 'are replaced by the mean'; do
  grep -q "$part" notes || fail "nothing is said of '$part': $(cat notes)"
done
"$egc" --json --quiet data build csv --nodes people.csv --edges ties.csv --label buys --column region=ignore --out again 2>/dev/null >json || fail "build --json"
py json <<'CHECK'
import json, sys
line = json.load(open(sys.argv[1]))
kinds = {c["name"]: c["kind"] for c in line["columns"]}
assert kinds == {"name": "ignore", "age": "number", "income": "number", "region": "ignore", "country": "ignore"}, kinds
assert line["split_column"] == "split"
CHECK
expect 2 "known: number, category, ignore" -- data build csv --nodes people.csv --edges ties.csv --label buys --column age=text --out x
expect 2 "name=kind" -- data build csv --nodes people.csv --edges ties.csv --label buys --column age --out x
expect 2 '"when"' -- data build csv --nodes people.csv --edges ties.csv --label buys --split-column when --out x

# With the defaults alone it learns: numbers are standardised, which can be turned off, and the program warns then.
"$egc" --json --quiet train people --model egc-s --out runs/people >json 2>stderr || fail "train: $(cat stderr)"
py json runs/people/config.json <<'CHECK'
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
assert lines[-1]["mean"] >= 0.8, lines[-1]
config = json.load(open(sys.argv[2]))
assert config["train"]["standardize"] == "train", config["train"]
assert config["model"]["self_loops"] == "all", config["model"]
CHECK
"$egc" train people --model egc-s --standardize none --epochs 1 --out runs/raw >/dev/null 2>stderr || fail "train --standardize none: $(cat stderr)"
grep -q 'feature columns region=.* and income .* more than a factor of 100; consider --standardize train' stderr || fail "no warning of scales: $(cat stderr)"
expect 2 "no float features" -- train pattern --model gcn --standardize train --out x
expect 2 '"train" or "none"' -- train people --model gcn --standardize all --out x

# Predictions: the ids and what is no feature go along; another order or fewer rows change nothing.
predict() { "$egc" --quiet predict "$@" --edges none.csv >"$out" 2>stderr || fail "predict $*: $(cat stderr)"; }
out=all.csv predict runs/people --nodes more.csv
out=turned_out.csv predict runs/people --nodes turned.csv
(head -1 more.csv; sed -n 2,21p more.csv) >piece.csv
out=piece_out.csv predict runs/people --nodes piece.csv
py <<'CHECK'
import csv
def read(name): return list(csv.DictReader(open(name)))
rows = read("all.csv")
assert list(rows[0])[:4] == ["id", "name", "note", "buys"], list(rows[0])
assert {"buys", "class", "p_no", "p_yes"} <= set(rows[0]), list(rows[0])
given = {r["id"]: r for r in read("more.csv")}
for r in rows:
    assert r["name"] == given[r["id"]]["name"] and r["buys"] == given[r["id"]]["buys"]
score = {r["id"]: r["p_yes"] for r in rows}
def same(rows): return all(abs(float(score[r["id"]]) - float(r["p_yes"])) < 1e-5 for r in rows)
piece = read("piece_out.csv")
assert len(piece) == 20 and same(piece) and same(read("turned_out.csv"))
assert sum(r["class"] == r["buys"] for r in rows) > 0.8 * len(rows)
CHECK
expect 3 "missing.csv: no such file or dataset directory" -- predict runs/people missing.csv
expect 5 "no_such_run: no such run or model file" -- predict no_such_run people
expect 5 "runs/nothing: no such run or model file" -- eval runs/nothing people

# Exports take the scaling along; ONNX and Python see the features as they are.
"$egc" --quiet train people --model gcn --encoder linear --epochs 3 --out runs/linear >/dev/null 2>&1 || fail "train --encoder linear"
runs export runs/linear --to pyg --out linear.safetensors
runs train people --model gcn --encoder none --no-residual --epochs 1 --out runs/bare
expect 2 "--standardize none or --encoder linear" -- export runs/bare --to pyg --out x

# Several seeds: the best by validation, or the one that is asked for, or all; one page over them.
"$egc" --json --quiet train people --model gcn --seeds 3 --epochs 30 --out runs/three >json 2>stderr || fail "train --seeds: $(cat stderr)"
[ -s runs/three/report.html ] || fail "no report over the seeds"
grep -q 'seed-2/report.html' runs/three/report.html && grep -q 'mean ± standard deviation' runs/three/report.html || fail "the report over the seeds"
for k in 0 1 2; do "$egc" --json --quiet eval runs/three people --seed $k >eval$k || fail "eval --seed $k"; done
"$egc" --json --quiet eval runs/three people --split valid >best || fail "eval of three seeds"
"$egc" --json --quiet eval runs/three people --ensemble >ensemble || fail "eval --ensemble"
"$egc" --quiet predict runs/three people --ensemble --out mean.csv >/dev/null || fail "predict --ensemble"
for k in 0 1 2; do "$egc" --quiet predict runs/three/seed-$k people --out one$k.csv >/dev/null || fail "predict of seed $k"; done
"$egc" info runs/three >/dev/null 2>&1 || fail "info of three seeds"
py <<'CHECK'
import csv, json
lines = [json.loads(l) for l in open("json")]
seeds = [l for l in lines if "best_epoch" in l]
for l in seeds: assert abs(json.load(open(f"eval{l['seed']}"))["value"] - l["test"]) < 1e-9, l
assert json.load(open("best"))["value"] == max(l["valid"] for l in seeds)
def p(name): return [float(r["p_yes"]) for r in csv.DictReader(open(name))]
mean = p("mean.csv")
of = [p(f"one{k}.csv") for k in range(3)]
assert max(abs(m - sum(v) / 3) for m, v in zip(mean, zip(*of))) < 1e-5
assert len({tuple(v) for v in of}) == 3
CHECK
expect 2 "no run with seed 9" -- eval runs/three people --seed 9
expect 2 "runs/people is a single model" -- eval runs/people people --ensemble

# A run that is there is kept, unless it is to be replaced; one that failed at once is in nobody's way.
expect 2 "--overwrite" -- train people --model gcn --epochs 1 --out runs/three/seed-0
runs train people --model gcn --epochs 1 --out runs/three/seed-0 --overwrite
expect 2 "cannot be combined with --overwrite" -- train --resume runs/people --overwrite
before=$(cksum runs/people/best.safetensors)
expect 2 "lr must be positive" -- train people --model gcn --lr 0 --out runs/people --overwrite
[ "$(cksum runs/people/best.safetensors)" = "$before" ] || fail "a refused --overwrite loses the run"
ls -d runs/*.replaced* 2>/dev/null && fail "a replaced run is left"
mkdir -p runs/early && cp runs/people/config.json runs/early/
runs train people --model gcn --epochs 1 --out runs/early
runs train people --model gcn --epochs 1 --seeds 2 --out runs/pair
runs train people --model gcn --epochs 1 --seeds 3 --out runs/pair --overwrite
[ -d runs/pair/seed-2 ] || fail "--overwrite with seeds"
# Nothing but runs is replaced: no project with a config.json of its own, no run with a file that somebody put there.
mkdir precious && echo '{"my": "project"}' >precious/config.json
for flag in "" --overwrite; do
  # shellcheck disable=SC2086
  expect 2 "precious" -- train people --model gcn --epochs 1 --out precious $flag
done
grep -q project precious/config.json || fail "a project is replaced"
touch runs/raw/notes.txt
expect 2 "do not belong to a run" -- train people --model gcn --epochs 1 --out runs/raw --overwrite
[ -e runs/raw/notes.txt ] && [ -s runs/raw/best.safetensors ] || fail "--overwrite removes what is no run"
# A new run that fails before it has a model brings the old one back; a run's own configuration may begin the next.
runs train people --model gcn --epochs 1 --out runs/again
before=$(cksum runs/again/best.safetensors)
expect 6 "loss" -- train people --model gcn --lr 1e30 --no-norm --epochs 3 --out runs/again --overwrite
[ "$(cksum runs/again/best.safetensors)" = "$before" ] || fail "a failed --overwrite loses the run"
runs train people --config runs/again/config.json --out runs/again --overwrite
ls -d runs/*.replaced* 2>/dev/null && fail "a replaced run is left"

# Features are read by their place: a dataset with the same columns in another order, or with other classes, is refused.
awk -F, -v OFS=, '{print $1,$2,$4,$3,$5,$6,$7,$8}' people.csv >turned_columns.csv
"$egc" --quiet data build csv --nodes turned_columns.csv --edges ties.csv --label buys --out turned_columns >/dev/null 2>&1 || fail "build of turned columns"
expect 3 'column 1 is "income", but the model was trained on "age"' -- eval runs/people turned_columns
expect 3 'column 1 is "income"' -- predict runs/people turned_columns
sed 's/,yes$/,always/' people.csv >classes.csv
"$egc" --quiet data build csv --nodes classes.csv --edges ties.csv --label buys --out classes >/dev/null 2>&1 || fail "build of other classes"
expect 3 "has the classes always, no, but the model was trained on no, yes" -- eval runs/people classes

# Columns of edges: features by the rules of nodes, or weights. Weights reach the network; features are kept.
python3 - <<'MAKE'
import random
random.seed(4)
with open("roads.csv", "w") as f, open("torn.csv", "w") as t:
    for out in (f, t): out.write("source,target,km,kind,w,one\n")
    for k in range(400):
        a, b = random.randrange(200), random.randrange(200)
        km = "" if k == 5 else f"{random.uniform(1, 90):.1f}"
        line = f"p{a},p{b},{km},{random.choice(['road', 'rail'])},%s,7\n"
        f.write(line % f"{(a + b) % 7 / 2 + 0.5}"); t.write(line % ("" if k == 8 else "1"))
MAKE
cut -d, -f1,2,4 roads.csv >kinds.csv
"$egc" data build csv --nodes people.csv --edges roads.csv --label buys --undirected --edge-weight w --out roads >plan 2>notes || fail "build of roads: $(cat notes)"
for part in 'edge column  *kind  *missing' 'edge weights: column "w"' 'km  *number  *1' 'kind  *category  *0  *2' 'one  *ignore .*all its values are the same'; do
  grep -q "$part" plan || fail "the plan of roads has no '$part': $(cat plan)"
done
for part in 'edge column "km": 1 missing values; they are replaced by the mean' 'ignoring edge column "one"'; do
  grep -q "$part" notes || fail "nothing is said of '$part': $(cat notes)"
done
"$egc" data info roads >info || fail "info of roads"
grep -q 'of edges  *3 float' info && grep -q 'weights  *of edges, 0.5 to 3.5' info || fail "info of roads: $(cat info)"
"$egc" data verify roads >/dev/null || fail "verify of roads"
"$egc" --json data info roads >json
py json roads/dataset.json <<'CHECK'
import json, sys
info, d = (json.load(open(a)) for a in sys.argv[1:])
assert (info["edge_features"], info["edge_feature_kind"]) == (3, "float"), info
assert info["edge_weight"] == {"column": "w", "min": 0.5, "max": 3.5}, info["edge_weight"]
assert [c[0] for c in d["edge_columns"]] == ["km", "kind"] and d["edge_columns"][1][1] == ["rail", "road"], d
assert d["edge_weight"] == "w" and d["edge_features"] == "float", d
CHECK
runs data build csv --nodes people.csv --edges kinds.csv --label buys --out kinds
grep -q '"edge_categories"' kinds/dataset.json || fail "texts alone are categories"
expect 3 'torn.csv:10: column "w": expected a weight' -- data build csv --nodes people.csv --edges torn.csv --label buys --edge-weight w --out x
expect 2 'no column "kg" with the weights of edges (--edge-weight)' -- data build csv --nodes people.csv --edges roads.csv --label buys --edge-weight kg --out x
runs train roads --model gcn --epochs 5 --out runs/roads
runs predict runs/roads roads --out of_dataset.csv
cut -d, -f1,2,5 roads.csv >weights.csv
runs predict runs/roads --nodes people.csv --edges weights.csv --out of_tables.csv
sed '2,$s/,[0-9.]*$/,1/' weights.csv >ones.csv
runs predict runs/roads --nodes people.csv --edges ones.csv --out of_ones.csv
py <<'CHECK'
import csv
def p(name): return [float(r["p_yes"]) for r in csv.DictReader(open(name))]
a, b, ones = p("of_dataset.csv"), p("of_tables.csv"), p("of_ones.csv")
assert max(abs(x - y) for x, y in zip(a, b)) < 1e-5 and max(abs(x - y) for x, y in zip(b, ones)) > 1e-4
CHECK
expect 3 'ties.csv: no column "w" with the weights of edges, which the model was trained with' -- predict runs/roads --nodes people.csv --edges ties.csv
expect 3 'people: the model was trained with edge weights ("w"), found none' -- predict runs/roads people
expect 3 'roads: its edges have weights, but the model was trained without' -- eval runs/people roads
expect 2 "does not support edge weights" -- train roads --model gat --epochs 1 --out x
expect 2 "edge weights, which exports to ONNX do not support" -- export runs/roads --to onnx --out x
rm -rf x
# What is kept of edges is checked; what is not kept is said.
runs data generate molecules --size 0.01 --out bonds
gzip -d bonds/raw/edge-feat.csv.gz && sed -i '3s/.*/7/' bonds/raw/edge-feat.csv
expect 3 "bonds/raw/edge-feat.csv:3: column 1: a category must be in [0, 3), got 7" -- data verify bonds
runs data generate academic --size 0.1 --out academic
for relation in academic/raw/relations/*; do echo 1 >"$relation/edge-weight.csv"; break; done
"$egc" data info academic >/dev/null 2>stderr || fail "info of academic: $(cat stderr)"
grep -q 'edge-weight.csv: ignored: networks for several node types or relations take no features or weights of edges' stderr || fail "ignored weights are not mentioned: $(cat stderr)"

# Options that would do nothing are refused, with those that would.
for refused in "gcn --heads 2" "gcn --self-loops all" "gin --aggregators add" "sage --bases 2" "gat --activation softmax" "pna --heads 4" "rgcn --heads 2" "mlp --bases 4"; do
  # shellcheck disable=SC2086
  expect 2 "does not take" -- train people --model $refused --out x
done
expect 2 "it takes heads, bases, aggregators" -- train people --model regc --activation softmax --out x
expect 2 "--readout" -- train people --model gcn --readout sum --out x
expect 2 "--virtual-node applies to graph-level tasks only" -- train people --model gcn --virtual-node --out x
expect 2 "--head-layers does not apply" -- train people --model gcn --head-layers 3 --out x
expect 2 "needs a --dropout above 0" -- train people --model gcn --dropout 0 --dropout-at activation --out x
printf '{"model": {"model": "gcn", "heads": 3}}' >heads.json
expect 2 "gcn does not take heads" -- train people --config heads.json --out x
printf '{"model.heads": [1, 2]}' >space.json
printf '{"model": {"model": "gcn"}}' >gcn.json
expect 2 "gcn does not take model.heads" -- search settings people --config gcn.json --space space.json --out x
expect 2 "does not take --heads" -- bench layer --model gcn --heads 2
[ ! -e x ] || fail "a refused call leaves something"

# A configuration need not say what the dataset tells.
printf '{"model": {"model": "egc-s", "hidden": 16, "layers": 2}, "train": {"epochs": 2}}' >short.json
runs train people --config short.json --out runs/short
py runs/short/config.json <<'CHECK'
import json, sys
m = json.load(open(sys.argv[1]))["model"]
assert m["task"] == "node-classification" and m["outputs"] == 2 and m["features"] == 4 and m["encoder"] == "linear", m
assert m["hidden"] == 16 and m["layers"] == 2
CHECK
runs train people --model gcn --norm --no-residual --encoder linear --dropout 0.3 --dropout-at encoder,activation --epochs 1 --out runs/flags
py runs/flags/config.json <<'CHECK'
import json, sys
m = json.load(open(sys.argv[1]))["model"]
assert m["norm"] is True and m["residual"] is False and m["dropout_at"] == ["encoder", "activation"] and m["encoder"] == "linear", m
CHECK

# Molecules, where there is RDKit: names, further columns, numbers of rows, stdin, shipped models by name.
printf 'smiles,compound,id\nCCO,ethanol,m1\nnonsense,bad,m2\nc1ccccc1,"ben, zene",m3\n' >table.csv
printf 'CCO ethanol\nnonsense bad\nc1ccccc1 benzene\n' >named.smi
if "$egc" --quiet predict zinc-egc-m named.smi --skip-bad >named.out 2>/dev/null; then
  py <<'CHECK'
import csv
rows = list(csv.DictReader(open("named.out")))
assert [(r["id"], r["name"], r["smiles"]) for r in rows] == [("0", "ethanol", "CCO"), ("2", "benzene", "c1ccccc1")], rows
CHECK
  "$egc" --quiet predict zinc-egc-m table.csv --skip-bad >table.out 2>/dev/null || fail "predict of a table of SMILES"
  "$egc" --quiet predict zinc-egc-m - --skip-bad <table.csv >stdin.out 2>/dev/null || fail "predict of stdin"
  cmp -s table.out stdin.out || fail "a table on stdin: $(cat stdin.out)"
  "$egc" --quiet predict zinc-egc-m - --skip-bad <named.smi 2>/dev/null | cmp -s - named.out || fail "lines on stdin"
  "$egc" --quiet --json predict zinc-egc-m table.csv --skip-bad >table.jsonl 2>/dev/null || fail "predict --json"
  py <<'CHECK'
import csv, json
rows = list(csv.DictReader(open("table.out")))
assert [(r["id"], r["name"], r["compound"]) for r in rows] == [("m1", "CCO", "ethanol"), ("m3", "c1ccccc1", "ben, zene")], rows
named = list(csv.DictReader(open("named.out")))
assert [r["value"] for r in rows] == [r["value"] for r in named]
first = json.loads(open("table.jsonl").readline())
assert first["id"] == "m1" and first["compound"] == "ethanol" and abs(first["values"]["value"] - float(rows[0]["value"])) < 1e-6, first
CHECK
else
  echo "without RDKit: predictions of molecules are not tested"
fi
expect 5 "shipped models:" -- info no-such-model
exit $((failures > 0))
