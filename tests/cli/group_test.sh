#!/usr/bin/env bash
# Training by several processes: the network of one process, the same bits twice, and what happens when one is lost.
# Usage: group_test.sh EGC_PROGRAM
. "$(dirname "$0")/begin.sh"
export PYTHONPATH=$source/tests/python PYTHONDONTWRITEBYTECODE=1

"$egc" data generate molecules --size 0.02 --out data >/dev/null
"$egc" data generate pattern --size 0.01 --out nodes >/dev/null
# launches N OUT arguments: a group of N ranks, quietly
launches() {
  local n=$1 out=$2; shift 2
  "$egc" --quiet launch -n "$n" -- train "$@" --out "$out" --quiet --threads 1 >log 2>&1 || fail "launch -n $n train $*: exit $? ($(cat log))"
}
# close A B TOLERANCE: the parameters of two models, relative to the norm of all of them. Left out are biases right before a
# batch norm, which takes them away again: their gradient is 0 but for rounding, which Adam scales up to whole steps; and the
# running means, which go with them.
close() {
  /usr/bin/python3 - "$@" <<'CHECK' || fail "$1 and $2 differ (${*:4})"
import sys
import torch
from tensor_files import read_safetensors
a, b = (read_safetensors(f + "/best.safetensors")[0] for f in sys.argv[1:3])
assert a.keys() == b.keys()
names = [k for k in a if not k.endswith(("conv.bias", "conv.nn.bias", "conv.lin_l.bias", "linears.0.bias", "linears.1.bias", "running_mean"))]
assert len(names) > len(a) / 2
off = sum(float((a[k].double() - b[k].double()).square().sum()) for k in names) ** 0.5
norm = sum(float(a[k].double().square().sum()) for k in names) ** 0.5
assert off <= float(sys.argv[3]) * norm, f"{off / norm:.2g} apart"
CHECK
}

# About 20 steps. 99 graphs in a batch do not divide by 2 or 3, the last batch has a few.
common=(--hidden 16 --layers 2 --batch 25 --lr 0.0005)
for what in "data --model egc-m" "data --model egc-s --dropout 0.3" "nodes --model egc-s"; do
  read -ra words <<<"$what"
  rm -rf one two three again
  "$egc" --quiet train "${words[@]}" "${common[@]}" --epochs 2 --out one --threads 1 >log 2>&1 || fail "train $what: $(cat log)"
  launches 2 two "${words[@]}" "${common[@]}" --epochs 2
  launches 3 three "${words[@]}" "${common[@]}" --epochs 2
  launches 3 again "${words[@]}" "${common[@]}" --epochs 2
  close one two 1e-5 "$what"
  close one three 1e-5 "$what"
  cmp -s three/best.safetensors again/best.safetensors || fail "$what: three ranks twice differ"
done

# Any batch and any number of ranks: fewer graphs than ranks, a last batch of one, graphs without nodes, alone in a batch too.
for kind in categories floats none; do
  python3 - tiny_$kind $kind <<'MAKE'
import json, os, sys
out, kind = sys.argv[1:]
os.makedirs(out + "/raw"); os.makedirs(out + "/split/s")
nodes = [3, 0, 2, 1, 4, 0, 2, 3, 1]
edges = [max(0, n - 1) for n in nodes]
def write(name, rows):
    with open(f"{out}/{name}.csv", "w") as f: f.writelines(f"{r}\n" for r in rows)
write("raw/num-node-list", nodes); write("raw/num-edge-list", edges)
write("raw/edge", [f"{k},{k + 1}" for n in edges for k in range(n)])
if kind == "categories": write("raw/node-feat", [k % 3 for k in range(sum(nodes))])
if kind == "floats": write("raw/node-feat", [f"{k % 5 / 4 + 0.01},0.5" for k in range(sum(nodes))])
write("raw/graph-label", [k % 2 for k in range(len(nodes))])
write("split/s/train", range(5)); write("split/s/valid", [5, 6]); write("split/s/test", [7, 8])
json.dump({"name": out, "task": "graph-classification", "num_classes": 2, "add_inverse_edge": True,
           "node_features": {"categories": "categorical", "floats": "float", "none": "none"}[kind]}, open(out + "/dataset.json", "w"))
MAKE
done
for what in "categories egc-m 1" "categories egc-m 2" "categories egc-m 64" "floats egc-m 1" "floats pna 2" "floats gat 1" "none egc-m 1" "none gcn 4"; do
  read -r kind model batch <<<"$what"
  rm -rf tiny_run
  "$egc" --quiet train tiny_$kind --model $model --hidden 16 --layers 2 --batch $batch --epochs 2 --out tiny_run --threads 1 >log 2>&1 || fail "train tiny_$kind --model $model --batch $batch: $(cat log)"
  "$egc" --quiet eval tiny_run tiny_$kind --split valid --batch 1 >log 2>&1 || fail "eval of a graph without nodes: $(cat log)"
  [ "$("$egc" --quiet predict tiny_run tiny_$kind --batch 1 2>log | grep -c .)" -eq 10 ] || fail "predict of a graph without nodes: $(cat log)"
done
for what in "categories 1 2" "categories 2 3" "floats 1 3" "floats 64 4" "none 2 2" "none 64 6"; do
  read -r kind batch ranks <<<"$what"
  rm -rf alone group
  "$egc" --quiet train tiny_$kind --model egc-s --hidden 16 --layers 2 --batch "$batch" --epochs 2 --out alone --threads 1 >log 2>&1 || fail "train tiny_$kind: $(cat log)"
  launches "$ranks" group tiny_$kind --model egc-s --hidden 16 --layers 2 --batch "$batch" --epochs 2
  # Without features batch norm divides rounding by next to nothing.
  [ "$kind" = none ] || close alone group 1e-4 "tiny $what"
done

# One large graph, cut among the ranks: 20 steps. The best epoch is the last: the loss falls.
"$egc" data generate arxiv-like --size 0.01 --out whole >/dev/null
whole=(--hidden 16 --layers 2 --lr 0.0002 --wd 0 --dropout 0 --norm --residual --encoder linear --epochs 20 --monitor loss)
typed=(--hidden 16 --layers 2 --lr 0.0002 --epochs 20 --monitor loss)
for model in egc-s egc-m gcn gin sage regc; do
  rm -rf one two three
  "$egc" --quiet train whole --model $model "${whole[@]}" --out one --threads 1 >log 2>&1 || fail "train whole $model: $(cat log)"
  launches 2 two whole --model $model "${whole[@]}"
  close one two 1e-5 $model
  [[ $model == egc-* ]] || continue
  launches 3 three whole --model $model "${whole[@]}"
  close one three 1e-5 $model
done
rm -rf one four
"$egc" --quiet train whole --model egc-m --self-loops symnorm "${whole[@]}" --out one --threads 1 >log 2>&1
launches 4 four whole --model egc-m --self-loops symnorm "${whole[@]}"
close one four 1e-5

# The same from parts that were made before, with the same bits; and the bytes that the halo makes: forward and backward of
# each step, and forward of each validation and of the test, in each of two layers with B * L = 8 columns.
"$egc" data partition whole --parts 3 --out cut --json >parts.json || fail "data partition"
rm -rf three cutrun again
launches 3 three whole --model egc-s "${whole[@]}"
"$egc" launch -n 3 -- train cut --model egc-s "${whole[@]}" --out cutrun --threads 1 >cutlog 2>&1 || fail "training of parts: $(cat cutlog)"
launches 3 again cut --model egc-s "${whole[@]}"
cmp -s cutrun/best.safetensors again/best.safetensors || fail "three ranks twice differ on one graph"
close three cutrun 0
python3 - <<'CHECK' || fail "the bytes of halos: $(grep bytes cutlog)"
import json, re
parts = [json.loads(line) for line in open("parts.json")]
assert sum(p["rows_sent"] for p in parts) == sum(p["rows_received"] for p in parts) > 0
sent = {int(rank): int(n) for rank, n in re.findall(r"^\[?(\d)\]?.*?(\d+) bytes of rows sent", open("cutlog").read(), re.M)}
for p in parts:
    rows = 20 * (2 * p["rows_sent"] + p["rows_received"]) + p["rows_sent"]
    assert sent[p["part"]] == 2 * rows * 8 * 4, (sent, rows)
CHECK

# Several types of nodes, some with learned embeddings.
"$egc" data generate academic --size 0.1 --out typed >/dev/null
"$egc" data partition typed --parts 3 --out typed3 >/dev/null || fail "data partition of several types"
for model in regc rgcn; do
  rm -rf one two three again
  "$egc" --quiet train typed --model $model "${typed[@]}" --out one --threads 1 >log 2>&1 || fail "train typed $model: $(cat log)"
  launches 2 two typed --model $model "${typed[@]}"
  close one two 1e-5 $model
  launches 3 three typed3 --model $model "${typed[@]}"
  close one three 1e-5 $model
done
launches 3 again typed --model rgcn "${typed[@]}"
cmp -s three/best.safetensors again/best.safetensors || fail "several types: parts made before and now differ"

# A run goes on with another number of ranks.
rm -rf one two
"$egc" --quiet train data --model egc-m "${common[@]}" --epochs 3 --out one --threads 1 >log 2>&1
launches 2 two data --model egc-m "${common[@]}" --epochs 3 --until 1
"$egc" --quiet launch -n 3 -- train --resume two --quiet --threads 1 >log 2>&1 || fail "resuming: $(cat log)"
close one two 1e-4
[ "$(wc -l <two/metrics.jsonl)" -eq 3 ] || fail "a resumed group has no three epochs"

# A rank that dies: the others say so within the time that is stated, and the run goes on.
rm -rf lost
"$egc" launch -n 3 -- train data --model egc-m "${common[@]}" --epochs 1000 --patience 0 --out lost --threads 1 >log 2>&1 &
launcher=$!
for _ in $(seq 200); do [ -s lost/last.ckpt ] && break; sleep 0.1; done
began=$SECONDS
victim=$(pgrep -P "$launcher" | sed -n 2p)
kill -9 "$victim"
wait "$launcher"; code=$?
[ "$code" -eq 137 ] || fail "a killed rank: exit $code, expected the first one's 137"
[ $((SECONDS - began)) -le 25 ] || fail "the others took $((SECONDS - began)) s to end"
grep -q "rank 1 of 3 is lost" log || fail "nobody names the lost rank: $(tail -n 3 log)"
pgrep -f "train data --model egc-m .* --out lost" >/dev/null && fail "some ranks are left"
"$egc" --quiet launch -n 2 -- train --resume lost --until $(($(wc -l <lost/metrics.jsonl) + 2)) --quiet --threads 1 >log 2>&1 || fail "resuming after a loss: $(cat log)"

# Results are rank 0's alone, on stdout.
"$egc" --quiet launch -n 2 -- train data --model gcn "${common[@]}" --epochs 2 --out json --json --threads 1 2>log | python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin]
assert [l["epoch"] for l in lines if "epoch" in l] == [1, 2] and lines[-1]["summary"] is True, lines' || fail "the output of a group: $(cat log)"

# A launcher that keeps the store itself, as torchrun does.
/usr/bin/python3 - "$egc" <<'CHECK' >log 2>&1 || fail "a launcher's own store: $(tail -n 1 log)"
import os, subprocess, sys
import torch.distributed
store = torch.distributed.TCPStore("127.0.0.1", 0, None, True, wait_for_workers=False)
ranks = [subprocess.Popen(
    [sys.argv[1], "--quiet", "train", "data", "--model", "gcn", "--hidden", "16", "--epochs", "1", "--out", "agent", "--threads", "1"],
    env={**os.environ, "RANK": str(r), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.port), "TORCHELASTIC_USE_AGENT_STORE": "True"},
) for r in range(2)]
assert [r.wait(timeout=60) for r in ranks] == [0, 0]
CHECK

# What is refused, before anything is left behind.
RANK=0 expect 2 "WORLD_SIZE" -- train data --model gcn --out x
RANK=5 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=1 expect 2 "RANK must be an integer from 0 to 1" -- train data --model gcn --out x
RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=1 expect 2 "distributed training takes one seed" -- train data --model gcn --out x --seeds 2
[ ! -e x ] || fail "a refused run left its directory"
expect 2 "egc launch runs only train" -- launch -n 2 -- info data
# refused CODE TEXT arguments: rank 0 says it
refused() {
  local code=$1 text=$2 got; shift 2
  "$egc" --quiet launch -n 2 -- train "$@" --out x --quiet >log 2>&1; got=$?
  [ "$got" -eq "$code" ] || fail "launch -n 2 train $*: exit $got, expected $code ($(cat log))"
  grep -q "$text" log || fail "launch -n 2 train $*: $(cat log)"
  [ ! -e x ] || fail "launch -n 2 train $*: a refused run left its directory"
}
refused 2 "got gat" whole --model gat
refused 2 "drop_edges and drop_nodes are not supported" whole --model gcn --drop-edges 0.1
refused 3 "of 3, expected" cut --model gcn
mkdir -p tiny/raw tiny/split/all
echo '{"name": "tiny", "task": "node-classification", "num_classes": 2}' >tiny/dataset.json
echo 3 >tiny/raw/num-node-list.csv; echo 0,1 >tiny/raw/edge.csv; printf '1\n0\n1\n' | tee tiny/raw/node-feat.csv >tiny/raw/node-label.csv
echo 0 >tiny/split/all/train.csv; echo 1 >tiny/split/all/valid.csv; echo 2 >tiny/split/all/test.csv
"$egc" --quiet launch -n 4 -- train tiny --model gcn --out x --quiet >log 2>&1; code=$?
{ [ $code -eq 2 ] && grep -q "4 ranks are more than its 3 nodes" log && [ ! -e x ]; } || fail "more ranks than nodes: exit $code, $(cat log)"
mkdir mixed
"$egc" data partition whole --parts 2 --out metis >/dev/null
"$egc" data partition whole --parts 2 --method ranges --out ranges >/dev/null
cp metis/part-0.safetensors ranges/part-1.safetensors mixed
"$egc" --quiet launch -n 2 -- train mixed --model gcn --out mixedrun >log 2>&1; code=$?
{ [ $code -eq 3 ] && grep -q "come from different runs of egc data partition" log; } || fail "parts of two cuts: exit $code, $(cat log)"
expect 2 "one rank per partition" -- train cut --model gcn --out x5
[ ! -e x5 ] || fail "a refused run left its directory"
expect 3 "needs the whole dataset" -- data info cut
expect 2 "unknown partition method" -- data partition whole --parts 2 --method best --out x6
expect 2 "only a single graph with node classes" -- data partition data --parts 2 --out x6
[ ! -e x6 ] || fail "a refused partition left its directory"

[ "$failures" -eq 0 ] && echo "group: fine"
exit "$((failures > 0))"
