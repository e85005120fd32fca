#!/usr/bin/env bash
# Networks that read encodings of nodes, from outside: what they are trained with, they predict with.
# Usage: encode_test.sh EGC_PROGRAM
. "$(dirname "$0")/begin.sh"
export XDG_CACHE_HOME=$work/cache
# runs arguments: works, quietly
runs() { "$egc" --quiet "$@" >stdout 2>stderr || fail "egc $*: exit $? ($(cat stderr))"; [ ! -s stderr ] || fail "egc $*: says $(cat stderr)"; }
small=(--hidden 16 --layers 2 --batch 32 --epochs 3)
"$egc" data generate molecules --size 0.02 --out data >/dev/null

# Each has a file beside the data, which the second run takes. What it costs is in the number of parameters.
runs train data --model egc-s "${small[@]}" --encode rwse:6,laplacian:3,degree --out runs/all
[ -s data/.egc-cache.rwse-6.safetensors ] && [ -s data/.egc-cache.laplacian-3.safetensors ] || fail "no cache: $(ls -A data)"
before=$(stat -c '%i %Y' data/.egc-cache.rwse-6.safetensors)
runs train data --model egc-s "${small[@]}" --encode rwse:6,laplacian:3,degree --out runs/again
[ "$before" = "$(stat -c '%i %Y' data/.egc-cache.rwse-6.safetensors)" ] || fail "the cache is written twice"
cmp -s runs/all/best.safetensors runs/again/best.safetensors || fail "the cache gives another model"
runs train data --model egc-s "${small[@]}" --out runs/plain
cmp -s runs/all/best.safetensors runs/plain/best.safetensors && fail "encodings do nothing"
parameters() { "$egc" --json info "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["parameters"])'; }
[ $(($(parameters runs/all) - $(parameters runs/plain))) -eq $((2 * 10 + 10 * 16 + 16)) ] || fail "other parameters than a norm and a Linear"

# A damaged file is made anew, with a warning.
printf x | dd of=data/.egc-cache.rwse-6.safetensors bs=1 seek=2000 conv=notrunc 2>/dev/null
"$egc" --quiet train data --model egc-s "${small[@]}" --encode rwse:6,laplacian:3,degree --out runs/repaired >/dev/null 2>stderr || fail "a damaged cache: $(cat stderr)"
grep -q "rwse-6.safetensors: rebuilding the corrupt cache" stderr || fail "a damaged cache is not told: $(cat stderr)"
cmp -s runs/all/best.safetensors runs/repaired/best.safetensors || fail "a damaged cache gives another model"

# Signs of eigenvectors are drawn: a run that pauses and resumes is the one that does not, on any number of threads.
runs train data --model egc-s "${small[@]}" --encode rwse:6,laplacian:3,degree --until 1 --out runs/paused
runs --threads 1 train --resume runs/paused
cmp -s runs/all/best.safetensors runs/paused/best.safetensors || fail "a resumed run gives another model"

# A configuration file has them; predictions are those of the score.
runs train --config runs/all/config.json --out runs/config
cmp -s runs/all/best.safetensors runs/config/best.safetensors || fail "config.json does not repeat the run"
"$egc" --json --quiet eval runs/all data >eval.json || fail "eval"
"$egc" --json info runs/all >info.json || fail "info"
runs predict runs/all data --out p.csv
cp -r data elsewhere && rm -f elsewhere/.egc-cache*  # of which nothing is known
runs predict runs/all elsewhere --out q.csv --batch 7
python3 - <<'CHECK' || fail "predictions are not those of the score"
import csv, gzip, json
labels = [float(l) for l in gzip.open("data/raw/graph-label.csv.gz", "rt")]
import glob
test = [int(l) for l in gzip.open(glob.glob("data/split/*/test.csv.gz")[0], "rt")]
values = [[float(r["value"]) for r in csv.DictReader(open(f))] for f in ("p.csv", "q.csv")]
assert len(values[0]) == len(labels)
assert abs(json.load(open("info.json"))["metrics"]["test"] - json.load(open("eval.json"))["value"]) < 1e-9
assert abs(sum(abs(values[0][k] - labels[k]) for k in test) / len(test) - json.load(open("eval.json"))["value"]) < 1e-4
assert max(abs(a - b) for a, b in zip(*values)) < 1e-4
CHECK
runs explain runs/all data --part valid --out explained
runs explain runs/all elsewhere
# Seeds as one model.
runs train data --model egc-s "${small[@]}" --encode rwse:6 --seeds 2 --out runs/seeds
runs predict runs/seeds data --ensemble --out ensemble.csv

# Tables of one's own: one graph, and graphs.
python3 - <<'MAKE'
import random
random.seed(1)
def write(nodes, edges, first, count):
    with open(nodes, "w") as n, open(edges, "w") as e:
        n.write("id,size,class\n"); e.write("source,target\n")
        for k in range(first, first + count):
            n.write(f"n{k},{random.random():.3f},{'ab'[k % 2]}\n")
            e.write(f"n{k},n{first + (k * 7 + 1) % count}\nn{k},n{first + (k * k) % count}\n")
write("nodes.csv", "edges.csv", 0, 120); write("more.csv", "more_edges.csv", 500, 30)
MAKE
"$egc" data build csv --nodes nodes.csv --edges edges.csv --label class --undirected --out mine >/dev/null 2>&1 || fail "build csv"
runs train mine --model egc-s --hidden 16 --epochs 4 --encode rwse:4,laplacian:2,degree --out runs/mine
grep -q '"encoder": "linear"' runs/mine/config.json || fail "few labels: no encoder to add encodings to"
runs eval runs/mine mine
"$egc" --quiet predict runs/mine --nodes more.csv --edges more_edges.csv >more.out 2>stderr || fail "predict of tables: $(cat stderr)"
[ "$(grep -c . more.out)" -eq 31 ] || fail "predict of tables: $(cat more.out)"
runs train mine --model egc-s --hidden 16 --epochs 2 --encode rwse:4 --drop-edges 0.2 --drop-nodes 0.2 --out runs/dropped

# SMILES, where there is RDKit.
printf 'smiles,y\nCCO,1\nCCC,2\nCCN,3\nCCCl,1\nCCBr,1\nCCF,2\nCC=O,1\nCC#N,2\nC1CC1,3\nCCS,1\n' >mols.csv
if "$egc" data build molecules --smiles mols.csv --label y --task graph-regression --split-by random --split 0.6,0.2,0.2 --features zinc --out mols >/dev/null 2>&1; then
  runs train mols --model egc-s --hidden 16 --epochs 1 --encode rwse:4,laplacian:2 --out runs/mols
  printf 'CCO\nc1ccccc1\nC\n' | "$egc" --quiet predict runs/mols - >smi.out 2>stderr || fail "predict of SMILES: $(cat stderr)"
  [ "$(wc -l <smi.out)" -eq 4 ] || fail "predict of SMILES: $(cat smi.out)"
fi

# Several processes: shares of batches, and one large graph, encoded before it is cut.
close() {  # close A B: the validation losses of two runs
  python3 - "$@" <<'CHECK' || fail "$1 and $2 differ"
import json, sys
a, b = ([json.loads(l)["valid_loss"] for l in open(f + "/metrics.jsonl")] for f in sys.argv[1:3])
assert len(a) == len(b) and max(abs(x - y) / max(1, abs(x)) for x, y in zip(a, b)) < 1e-3, (a, b)
CHECK
}
launches() { "$egc" --quiet launch -n 2 -- train "$@" --quiet --threads 1 >log 2>&1 || fail "launch train $*: $(cat log)"; }
launches data --model egc-s "${small[@]}" --encode rwse:6,laplacian:3,degree --out runs/group
close runs/all runs/group
"$egc" data generate arxiv-like --size 0.01 --out whole >/dev/null
whole=(whole --model egc-s --hidden 16 --layers 2 --dropout 0 --norm --residual --encoder linear --lr 0.0002 --wd 0 --epochs 5 --monitor loss --encode rwse:4,degree)
runs train "${whole[@]}" --out runs/whole
launches "${whole[@]}" --out runs/cut
close runs/whole runs/cut

# What is refused, and how.
expect 2 'unknown encoding "rwes"; did you mean "rwse"?' -- train data --model gcn --encode rwes:4 --out x
expect 2 '--encode takes "rwse:K" with a number K from 1 to 256, got "rwse"' -- train data --model gcn --encode rwse --out x
expect 2 '--encode names rwse twice' -- train data --model gcn --encode rwse:2,rwse:3 --out x
expect 2 '--encode needs an encoder' -- train mine --model gcn --encode degree --encoder none --no-residual --out x
expect 2 '--encode takes laplacian for graphs of at most 1000 nodes' -- train whole --model gcn --encode laplacian:4 --out x
"$egc" data generate academic --size 0.02 --out typed >/dev/null
expect 2 '--encode needs graphs with a single node type' -- train typed --model regc --encode degree --out x
"$egc" data partition whole --parts 2 --out parts >/dev/null 2>&1 || fail "data partition"
"$egc" --quiet launch -n 2 -- train parts --model egc-s --hidden 16 --encode degree --out x >log 2>&1 && fail "a partitioned dataset is encoded"
grep -q "encode needs the whole graph" log || fail "a partitioned dataset is refused with: $(cat log)"
[ ! -e x ] || fail "a refused run leaves a directory"

[ "$failures" -eq 0 ] && echo "encode: fine"
exit "$failures"
