#!/usr/bin/env bash
# Training, scoring and predicting from outside: what is printed, what is left behind, what is refused.
# Usage: train_test.sh EGC_PROGRAM
. "$(dirname "$0")/begin.sh"
# runs arguments: works, quietly
runs() { "$egc" --quiet "$@" >stdout 2>stderr || fail "egc $*: exit $? ($(cat stderr))"; [ ! -s stderr ] || fail "egc $*: says $(cat stderr)"; }
py() { python3 - "$@" || fail "check of $*"; }

"$egc" data generate molecules --size 0.02 --out data >/dev/null
small=(--hidden 16 --layers 2 --batch 32)

# JSON lines of the contract: epochs, seeds, a summary.
"$egc" --json --quiet train data --model egc-m "${small[@]}" --epochs 3 --seeds 2 --out runs/two >json 2>stderr || fail "train: $(cat stderr)"
py json <<'CHECK'
import json, math, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
epochs = [l for l in lines if "epoch" in l]
seeds = [l for l in lines if "best_epoch" in l]
assert [(l["seed"], l["epoch"]) for l in epochs] == [(s, e) for s in (0, 1) for e in (1, 2, 3)], epochs
assert all(k in l for l in epochs for k in ("train_loss", "valid", "lr", "seconds"))
assert [l["seed"] for l in seeds] == [0, 1] and all(k in l for l in seeds for k in ("valid", "test"))
last = lines[-1]
assert last["summary"] is True and last["metric"] == "mae" and last["seeds"] == 2
tests = [l["test"] for l in seeds]
mean = sum(tests) / 2
assert abs(last["mean"] - mean) < 1e-12
assert abs(last["std"] - math.sqrt(sum((t - mean) ** 2 for t in tests))) < 1e-12
assert tests[0] != tests[1]
CHECK
for file in config.json metrics.jsonl events.out.tfevents.0.egc last.ckpt best.safetensors report.html; do
  [ -s "runs/two/seed-1/$file" ] || fail "the run has no $file"
done
py runs/two/seed-1 <<'CHECK'
import json, sys
run = sys.argv[1]
config = json.load(open(run + "/config.json"))
assert config["seed"] == 1 and config["train"]["epochs"] == 3 and config["model"]["model"] == "egc-m"
assert all(config["about"][k] for k in ("version", "instruction_set", "threads", "dataset_checksum")), config["about"]
assert len(open(run + "/metrics.jsonl").readlines()) == 3
page = open(run + "/report.html").read()
assert "<svg" in page and "egc-m on molecules" in page and "predicted − true" in page
assert "egc train" in page and ">training set<" in page and config["about"]["version"] in page and "Complete configuration" in page
CHECK

# PNA's mean degree is the training set's: nobody is asked for it.
runs train data --model pna "${small[@]}" --epochs 1 --out runs/pna

# A schedule by steps, paused: the same model, and early stopping only where it is asked for.
new=(--model egc-s --norm layer --feed-forward 2 --virtual-node --head-layers 2 --dropout 0.1 --optimizer adamw --wd 0.1 --schedule cosine)
runs train data "${new[@]}" "${small[@]}" --warmup-epochs 1 --epochs 4 --out runs/cosine
runs train data "${new[@]}" "${small[@]}" --warmup-epochs 1 --epochs 4 --until 2 --out runs/paused-cosine
runs train --resume runs/paused-cosine
cmp -s runs/cosine/best.safetensors runs/paused-cosine/best.safetensors || fail "a resumed cosine schedule gives another model"
py runs/cosine <<'CHECK'
import json, math, sys
config = json.load(open(sys.argv[1] + "/config.json"))
assert config["train"]["patience"] == 0 and config["model"]["norm"] == "layer" and config["model"]["virtual_node"] is True, config
rates = [json.loads(line)["lr"] for line in open(sys.argv[1] + "/metrics.jsonl")]
assert rates[0] == config["train"]["lr"] and rates == sorted(rates, reverse=True) and 0 < rates[3] < 0.1 * rates[0], rates
CHECK
for norm in "--norm data" "data --norm" "data --norm batch" "--norm=true data"; do
  runs train $norm --model gcn "${small[@]}" --epochs 1 --overwrite --out runs/norm
  grep -q '"norm": true' runs/norm/config.json || fail "$norm is not batch norm"
done
for norm in "--no-norm data" "data --norm none"; do
  runs train $norm --model gcn "${small[@]}" --epochs 1 --overwrite --out runs/norm
  grep -q '"norm": false' runs/norm/config.json || fail "$norm is a norm"
done

# Seeds one after the other, at once, and alone give the same models.
runs train data --model egc-m "${small[@]}" --epochs 3 --seeds 2 --jobs 2 --out runs/jobs
runs --seed 1 train data --model egc-m "${small[@]}" --epochs 3 --out runs/alone
cmp -s runs/two/seed-1/best.safetensors runs/jobs/seed-1/best.safetensors || fail "--jobs gives another model"
cmp -s runs/two/seed-1/best.safetensors runs/alone/best.safetensors || fail "a seed alone gives another model"
cmp -s runs/two/seed-0/best.safetensors runs/two/seed-1/best.safetensors && fail "two seeds give the same model"
runs train --resume runs/jobs
grep -q "mean and standard deviation over 2 seeds" stdout || fail "no mean over seeds: $(cat stdout)"

# What a person sees: on a terminal a bar that is drawn over, elsewhere plain lines.
train="'$egc' train data --model egc-m --hidden 16 --layers 2 --batch 4 --epochs 3 --out"
on_terminal() { script -qec "$1" /dev/null </dev/null; }
TERM=xterm NO_COLOR= on_terminal "$train runs/bar" >bar.out || fail "train on a terminal: $(cat bar.out)"
TERM=dumb on_terminal "$train runs/dumb" >dumb.out || fail "train on a dumb terminal: $(cat dumb.out)"
TERM=xterm NO_COLOR=1 on_terminal "$train runs/plain" >plain.out || fail "train with NO_COLOR: $(cat plain.out)"
"$egc" train data --model egc-m "${small[@]}" --epochs 3 --out runs/pipe >pipe.out 2>&1 || fail "train into a pipe: $(cat pipe.out)"
py <<'CHECK'
import re
def read(name): return open(name, newline="").read()
def visible(text): return re.sub("\x1b\\[[0-9;]*[mK]", "", text)
bar = read("bar.out")
drawn = re.findall(r"\r(epoch \d+/3 \[[= ]{16}\][^\r\n]*)", bar)
assert drawn and all("loss" in d and "left" in d for d in drawn), bar
assert max(len(visible(piece)) for piece in re.split("[\r\n]", bar)) < 80, bar
# What stays is what follows the last time that a line was cleared.
stays = [visible(line.rstrip("\r").split("\r\x1b[K")[-1]) for line in bar.split("\n")]
assert stays[0].startswith("Training egc-m on molecules: 2 layers of width 16, "), stays
assert stays[1].endswith(" graphs to train on, at most 3 epochs; results go to runs/bar"), stays
assert stays[2].startswith("epoch    1  loss ") and "(best so far)" in stays[2], stays
assert not any("[=" in line for line in stays), stays
epochs = [line for line in stays if line.startswith("epoch ")]
assert 1 <= len(epochs) <= 3 and len(stays) == len(epochs) + 9, stays
assert stays[-4:] == ["Report:   runs/bar/report.html", "Predict:  egc predict runs/bar INPUT",
                      "Evaluate: egc eval runs/bar data", ""], stays
for name in ("dumb.out", "plain.out", "pipe.out"):
    text = read(name)
    assert "\x1b" not in text and "\r" not in text.replace("\r\n", "\n"), text
    assert [len(re.findall(f"seed 0 epoch {e}: loss", text)) for e in (1, 2, 3)] == [1, 1, 1], text
    assert "egc predict runs/" in text, text
CHECK
TERM=xterm NO_COLOR= on_terminal "'$egc' predict runs/bar data --out seen.csv" >seen.out || fail "predict on a terminal: $(cat seen.out)"
grep -q "predictions so far" seen.out && [ "$(wc -l <seen.out)" -eq 1 ] || fail "predict on a terminal: $(cat seen.out)"

# A configuration file, the run's own too; flags override it.
runs train data --config runs/alone/config.json --seed 1 --out runs/again
cmp -s runs/alone/best.safetensors runs/again/best.safetensors || fail "a run's config.json does not repeat it"
runs train data --config runs/alone/config.json --model gcn --epochs 1 --out runs/gcn
grep -q '"model": "gcn"' runs/gcn/config.json || fail "--model does not override --config"

# Scores: those that training reported.
"$egc" --json eval runs/alone data >eval.json || fail "eval"
py eval.json runs/alone <<'CHECK'
import json, struct, sys
got = json.load(open(sys.argv[1]))
with open(sys.argv[2] + "/best.safetensors", "rb") as f:
    meta = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))["__metadata__"]
metrics = json.loads(meta["metrics"])
assert got["metric"] == "mae" and got["split"] == "test" and got["value"] == metrics["test"], (got, metrics)
CHECK
"$egc" --json info runs/alone | python3 -c 'import json, sys; d = json.load(sys.stdin); assert d["model"] == "egc-m" and d["parameters"] > 0 and d["config"]["hidden"] == 16 and "test" in d["metrics"], d' || fail "info of a run"
"$egc" --json info runs/alone/config.json | python3 -c 'import json, sys; d = json.load(sys.stdin); assert d["model"] == "egc-m" and d["config"]["hidden"] == 16 and not d["metrics"], d' || fail "info of a configuration"
cp runs/alone/config.json configuration && cp -r runs/alone run.json
"$egc" info --config configuration | grep -q egc-m || fail "info of a configuration with any name"
"$egc" --json info run.json | grep -q '"test"' || fail "info of a run whose name ends like a configuration's"

# Predictions: a line for each graph, and their mean error is the score.
"$egc" predict runs/alone data --out p.csv >/dev/null || fail "predict"
"$egc" --json predict runs/alone/best.safetensors data >p.jsonl 2>/dev/null || fail "predict --json"
py data p.csv p.jsonl eval.json <<'CHECK'
import csv, gzip, json, os, sys
data, table, lines, score = sys.argv[1:]
def column(path):
    full = path + ".csv.gz" if os.path.exists(path + ".csv.gz") else path + ".csv"
    return [line.strip() for line in (gzip.open(full, "rt") if full.endswith("gz") else open(full))]
labels = [float(v) for v in column(data + "/raw/graph-label")]
split = next(os.scandir(data + "/split")).path
test = [int(v) for v in column(split + "/test")]
rows = list(csv.DictReader(open(table)))
assert len(rows) == len(labels), (len(rows), len(labels))
name = [k for k in rows[0] if k != "id"][0]
predicted = [float(r[name]) for r in rows]
mae = sum(abs(predicted[k] - labels[k]) for k in test) / len(test)
assert abs(mae - json.load(open(score))["value"]) < 1e-4
json_rows = [json.loads(line) for line in open(lines)]
assert len(json_rows) == len(predicted)
assert max(abs(list(r["values"].values())[0] - p) for r, p in zip(json_rows, predicted)) < 1e-6
CHECK

# Tables of one's own: trained, then predicted for rows of another table.
python3 - <<'MAKE'
import random
random.seed(1)
with open("nodes.csv", "w") as n, open("more.csv", "w") as m:
    n.write("id,size,team,class\n"); m.write("id,team,size\n")
    for k in range(200):
        kind = random.choice("ab")
        n.write(f"n{k},{random.gauss(2 if kind == 'a' else -2, 1):.3f},{'red' if kind == 'a' else 'blue'},{kind}\n")
    for k in range(5): m.write(f"x{k},red,2.{k}\n")
    m.write("x5,green,\n")
with open("edges.csv", "w") as e, open("few.csv", "w") as f:
    e.write("source,target\n"); f.write("source,target\nx0,x1\nx1,x2\n")
    for k in range(400): e.write(f"n{random.randrange(200)},n{random.randrange(200)}\n")
MAKE
"$egc" data build csv --edges edges.csv --nodes nodes.csv --label class --undirected --out mine >/dev/null 2>&1 || fail "build csv"
runs train mine --model egc-s --hidden 16 --epochs 60 --lr 0.01 --monitor loss --out runs/mine
"$egc" predict runs/mine --nodes more.csv --edges few.csv >more.out 2>more.err || fail "predict of tables: $(cat more.err)"
grep -q '1 missing values, 0 values' more.err && grep -q '"team": 0 missing values, 1 values that were not in the training data' more.err || fail "predict of tables does not tell of gaps: $(cat more.err)"
py more.out <<'CHECK'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert [r["name"] for r in rows] == ["x0", "x1", "x2", "x3", "x4", "x5"], rows
assert [r["class"] for r in rows][:3] == ["a"] * 3, rows
for r in rows: assert abs(float(r["p_a"]) + float(r["p_b"]) - 1) < 1e-5, r
CHECK
printf 'id,team\nx0,red\nx1,red\nx2,red\n' >less.csv
expect 3 'column "size" not found' -- predict runs/mine --nodes less.csv --edges few.csv

# SMILES, where there is RDKit.
printf 'CCO\nc1ccccc1 benzene\nnonsense\n' >some.smi
printf 'smiles,y\nCCO,1\nCCC,2\nCCN,3\nCCCl,1\nCCBr,1\nCCF,2\nCC=O,1\nCC#N,2\nC1CC1,3\nCCS,1\n' >mols.csv
if "$egc" data build molecules --smiles mols.csv --label y --task graph-regression --split-by random --split 0.6,0.2,0.2 --features zinc --out mols >/dev/null 2>&1; then
  runs train mols --model egc-s --hidden 16 --epochs 1 --out runs/mols
  expect 3 'some.smi:3: "nonsense"' -- predict runs/mols some.smi --out never.csv
  [ ! -e never.csv ] || fail "a refused prediction leaves a file"
  "$egc" --quiet predict runs/mols some.smi --skip-bad >smi.out 2>/dev/null || fail "predict of SMILES"
  [ "$(wc -l <smi.out)" -eq 3 ] || fail "predict of SMILES: $(cat smi.out)"
  expect 3 "does not take SMILES" -- predict runs/mine some.smi
else
  echo "skipped: SMILES (no RDKit)"
fi

# What is refused, and how.
expect 2 "either a dataset or --resume" -- train
expect 2 "--model or --config" -- train data --out x
expect 2 'unknown model "egcs"; did you mean "egc-s"? known: gcn' -- train data --model egcs --out x
expect 3 'unknown dataset "nowhere"' -- train nowhere --model gcn --out x
expect 2 "--resume runs/alone" -- train data --model gcn --out runs/alone
expect 2 "no config.json" -- train --resume data
expect 2 "egc: --lr must be positive" -- train data --model gcn --lr 0 --out x
expect 2 '"loss" or "mae"' -- train data --model gcn --monitor rocauc --out x
expect 3 'did you mean "zinc"?' -- train zinnc --model gcn --out x
expect 2 "--hidden 13 must be a multiple of --heads 8 (the default), for instance 8 or 16" -- train data --model egc-s --hidden 13 --out x
expect 2 "--hidden 63 must be a multiple of --heads 8, for instance 56 or 64" -- train data --model gat --hidden 63 --heads 8 --out x
expect 2 "--hidden 3 must be a multiple of --towers 5, for instance 5" -- train data --model mpnn-sum --hidden 3 --towers 5 --out x
expect 2 '--warmup-epochs needs the schedule "cosine"' -- train data --model gcn --warmup-epochs 2 --out x
expect 2 '--lr-patience has no effect with the schedule "cosine"' -- train data --model gcn --schedule cosine --lr-patience 10 --out x
expect 2 'unknown norm "foo"; known: batch, layer, none' -- train data --model gcn --norm foo --out x
expect 2 "--no-norm" -- train data --model gcn --norm layer --no-norm --out x
expect 2 "--feed-forward does not apply to ga-mlp" -- train data --model ga-mlp --feed-forward 2 --out x
expect 2 "--virtual-node does not apply to ga-mlp" -- train data --model ga-mlp --virtual-node --out x
expect 2 "--head-layers does not apply to ga-mlp" -- train data --model ga-mlp --head-layers 3 --out x
expect 2 "egc: --patience must" -- train data --model gcn --patience -1 --out x
expect 2 "wrong.json" -- train data --config wrong.json --out x
expect 6 "epoch 1, batch 2" -- train data --model gcn --lr 1e30 --epochs 1 --out runs/nan
expect 4 "dataset.json" -- predict data/dataset.json data
expect 4 "data: expected a run or a model file, found a dataset" -- eval data data
expect 3 "the network was made for graph-regression" -- eval runs/alone mine
expect 2 "model or --config" -- info
[ ! -e x ] || fail "a refused run leaves a directory"

expect 2 "cannot be combined with" -- train --resume runs/alone --epochs 50
expect 2 "not empty" -- train data --model gcn --seeds 2 --out runs/alone
mkdir own; touch own/keep own/report.tmp.mine
expect 2 'own: already contains "' -- train data --model gcn --out own
[ -e own/report.tmp.mine ] && [ ! -e own/lock ] || fail "a refused run touches the directory: $(ls own)"
expect 6 "validation loss is" -- train mine --model gcn --lr 1e38 --epochs 1 --out runs/nan2
[ ! -e runs/nan2/best.safetensors ] && [ ! -e runs/nan2/last.ckpt ] || fail "a network of NaN is kept"
runs --seed 18446744073709551615 train data --model gcn "${small[@]}" --epochs 1 --out runs/seed
runs train --config runs/seed/config.json --epochs 1 --out runs/named  # it names its dataset

# A model that contradicts itself, with the right checksum, is refused.
forge() {  # forge FROM TO KEY VALUE: one entry of the metadata
  python3 - "$@" <<'FORGE'
import json, struct, sys, zlib
source, to, key, value = sys.argv[1:]
data = open(source, "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header, body = json.loads(data[8:8 + size]), data[8 + size:]
meta = header["__metadata__"]
meta[key] = value
crc = 0
def add(blob):
    global crc
    crc = zlib.crc32(blob, zlib.crc32(struct.pack("<Q", len(blob)), crc))
for name in sorted(k.encode() for k in header if k != "__metadata__"):
    t = header[name.decode()]
    add(name); add(t["dtype"].encode()); add(struct.pack(f"<{len(t['shape'])}q", *t["shape"]))
    add(body[t["data_offsets"][0]:t["data_offsets"][1]])
for name in sorted(k.encode() for k in meta if k != "checksum"):
    add(name); add(meta[name.decode()].encode())
meta["checksum"] = f"crc32:{crc:08x}"
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open(to, "wb").write(struct.pack("<Q", len(text)) + text + body)
FORGE
}
forge runs/alone/best.safetensors same.safetensors seed 1
runs eval same.safetensors data  # the forger knows the checksum
forge runs/alone/best.safetensors forged.safetensors dataset '{"task":"node-classification","num_classes":1}'
expect 4 "does not match the network" -- predict forged.safetensors data
forge runs/alone/best.safetensors forged.safetensors train '{"lr":-1}'
expect 4 "lr must be positive" -- eval forged.safetensors data
forge runs/alone/best.safetensors forged.safetensors metrics "$(printf '[%.0s' {1..5000})"
expect 4 "forged.safetensors" -- info forged.safetensors
cp -r runs/alone runs/forged
forge runs/alone/last.ckpt runs/forged/last.ckpt progress '{"batches":1e300}'
expect 4 "progress" -- train --resume runs/forged

# A checkpoint of another configuration is refused, and left alone.
runs train data --model gcn "${small[@]}" --epochs 2 --out runs/good
sed -i 's/"lr": 0.001/"lr": 1e30/; s/"epochs": 2/"epochs": 4/' runs/good/config.json
cp runs/good/last.ckpt before.ckpt
expect 4 "another run" -- train --resume runs/good
cmp -s before.ckpt runs/good/last.ckpt || fail "a refused resume touches the checkpoint"

# Datasets at the edge: they train, or one sentence tells why not.
dataset() {  # dataset DIR JSON NODES-PER-GRAPH EDGES LABELS TRAIN VALID TEST
  mkdir -p "$1/raw" "$1/split/s"; printf '%s' "$2" >"$1/dataset.json"
  local total=0 n; : >"$1/raw/node-feat.csv"; : >"$1/raw/num-node-list.csv"; : >"$1/raw/num-edge-list.csv"
  for n in $3; do echo "$n" >>"$1/raw/num-node-list.csv"; total=$((total + n)); done
  for ((n = 0; n < total; ++n)); do echo "0.$((n % 7)),1" >>"$1/raw/node-feat.csv"; done
  : >"$1/raw/edge.csv"; local edge count=0
  for edge in $4; do echo "$edge" >>"$1/raw/edge.csv"; count=$((count + 1)); done
  for n in $3; do echo "$count" >>"$1/raw/num-edge-list.csv"; count=0; done  # all in the first graph
  printf '%s\n' $5 >"$1/raw/graph-label.csv"
  printf '%s\n' $6 >"$1/split/s/train.csv"; printf '%s\n' $7 >"$1/split/s/valid.csv"; printf '%s\n' $8 >"$1/split/s/test.csv"
}
regression='{"task":"graph-regression"}'
binary='{"task":"graph-binary"}'
tiny=(--model egc-m --hidden 16 --layers 2 --epochs 2)
dataset two "$regression" "3 2" "0,1 1,2" "1 2" "0" "" "1"
expect 3 "valid" -- train two "${tiny[@]}" --out runs/e1
dataset four "$regression" "3 2 4 2" "0,1 1,2" "1 2 3 4" "0 1" "2" "3"
runs train four "${tiny[@]}" --out runs/e2
dataset single "$regression" "1 1 1 1" "" "1 2 3 4" "0 1" "2" "3"   # one node each, no edges
runs train single "${tiny[@]}" --out runs/e3
dataset constant "$regression" "3 2 4 2" "0,1" "5 5 5 5" "0 1" "2" "3"
runs train constant "${tiny[@]}" --out runs/e4
dataset oneclass "$binary" "3 2 4 2 3" "0,1" "0 1 1 1 0" "0 1" "2 3" "4"
expect 3 "--monitor loss" -- train oneclass "${tiny[@]}" --out runs/e5
runs train oneclass "${tiny[@]}" --monitor loss --out runs/e6
grep -q "undefined" stdout || fail "a ROC-AUC of one class is told as $(cat stdout)"
dataset lonely "$regression" "3 2 2" "0,1" "1 2 3" "0" "1" "2"
runs train lonely "${tiny[@]}" --out runs/e7   # batch norm of one graph goes by its running statistics

# The models that come with the sources: small, described, and good at what they say.
pretrained=$source/pretrained
for model in "$pretrained"/*.safetensors; do
  name=$(basename "$model" .safetensors)
  [ "$(stat -c %s "$model")" -lt 1000000 ] || fail "$name is larger than 1 MB"
  grep -q "$name.md" "$pretrained/README.md" && [ -s "$pretrained/$name.md" ] || fail "$name has no card"
  runs info "$model"
done
[ "$(ls "$pretrained"/*.safetensors | wc -l)" -eq 5 ] || fail "expected five models in pretrained/"
"$egc" data generate pattern --size 0.01 --out pattern >/dev/null
"$egc" --quiet --json eval "$pretrained/pattern-egc-m.safetensors" pattern >json || fail "eval of a pretrained model"
py json <<'CHECK'
import json, sys
assert json.load(open(sys.argv[1]))["value"] > 0.84
CHECK
if [ -d mols ]; then  # there is RDKit
  printf 'CC(=O)Oc1ccccc1C(=O)O\nCn1cnc2c1c(=O)n(C)c(=O)n2C\n' >two.smi
  for name in zinc-egc-s zinc-egc-m molhiv-egc-s molhiv-egc-m; do
    runs predict "$pretrained/$name.safetensors" two.smi
    [ "$(wc -l <stdout)" -eq 3 ] || fail "$name predicts $(cat stdout)"
    case $name in molhiv*) [ "$(head -1 stdout)" = id,name,probability ] || fail "$name: $(head -1 stdout)" ;; esac
  done
fi

[ "$failures" -eq 0 ] && echo "train: fine"
exit "$failures"
