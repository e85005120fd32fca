#!/usr/bin/env bash
# egc data from outside: exit codes, one-sentence errors, JSON of the contract, the same bytes for
# the same seed, and no library loaded that a command does not need.
# Usage: data_test.sh EGC_PROGRAM
set -u
egc=$1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache EGC_DATA=$work/kept
mkdir -p "$work/kept"

# expect CODE "part of stderr" -- arguments
expect() {
  local code=$1 part=$2; shift 3
  local out; out=$("$egc" "$@" 2>&1 >/dev/null); local got=$?
  [ "$got" -eq "$code" ] || fail "egc $*: exit $got, expected $code ($out)"
  case "$out" in *"$part"*) ;; *) fail "egc $*: stderr does not say '$part': $out" ;; esac
  [ "$(grep -c . <<<"$out")" -le 1 ] || fail "egc $*: more than one line on stderr: $out"
}

# shows "part of stdout" -- arguments
shows() {
  local part=$1; shift 2
  local out; out=$("$egc" "$@" 2>"$work/stderr") || fail "egc $*: exit $?: $(cat "$work/stderr")"
  case "$out" in *"$part"*) ;; *) fail "egc $*: stdout does not say '$part': $out" ;; esac
}

# bytes_of DIRECTORY: names and contents of all files, and whatever else is there
bytes_of() { (cd "$1" && find . | LC_ALL=C sort && find . -type f | LC_ALL=C sort | xargs -r sha256sum) | sha256sum; }
# names_in DIRECTORY: one line
names_in() { find "$1" -mindepth 1 -maxdepth 1 -printf '%f\n' | LC_ALL=C sort | tr '\n' ' '; }

# Every command has help with an example.
for command in list info verify generate fetch "build csv" "build molecules" "build images" "build code"; do
  # shellcheck disable=SC2086
  "$egc" data $command --help | grep -q "Example:" || fail "egc data $command --help has no example"
done

# Wrong calls.
expect 2 "needs a command" -- data
expect 2 "needs a command" -- data build
expect 2 "nonsense" -- data nonsense
expect 2 "dataset" -- data info
expect 2 "name" -- data generate --out "$work/x"
expect 2 "--out" -- data generate pattern
expect 2 "mars" -- data generate mars --out "$work/x"
expect 2 "known: pattern, cluster" -- data generate mars --out "$work/x"
expect 2 "(0, 1]" -- data generate pattern --size 0 --out "$work/x"
expect 2 "(0, 1]" -- data generate pattern --size 1.5 --out "$work/x"
expect 2 "(0, 1]" -- data generate pattern --size nan --out "$work/x"
expect 2 "--size" -- data generate pattern --size many --out "$work/x"
expect 2 "--seed" -- data generate pattern --seed -1x --out "$work/x"
expect 2 "known: zinc, cifar10" -- data fetch mars
expect 2 "0.8,0.1,0.1" -- data build csv --edges e --nodes n --label y --split half --out "$work/x"
expect 2 "--label" -- data build csv --edges e --nodes n --out "$work/x"
expect 2 "--nodes" -- data build csv --edges e --label y --out "$work/x"
expect 2 "known: onehot, embed" -- data build csv --edges e --nodes n --label y --text both --out "$work/x"
expect 2 "--superpixels" -- data build images "$work" --superpixels 1 --out "$work/x"
[ ! -e "$work/x" ] || fail "a wrong call left $work/x"

# Data that is not there.
expect 3 "unknown dataset \"mars\"" -- data info mars
expect 3 "egc data fetch arxiv" -- data info arxiv
expect 3 "egc data fetch molhiv" -- data verify ogbg-molhiv
expect 3 "$work/none" -- data info "$work/none"
expect 3 "raw/" -- data info "$work"
touch "$work/file"
expect 3 "expected a dataset directory" -- data verify "$work/file"
expect 3 "nodes.csv" -- data build csv --edges "$work/edges.csv" --nodes "$work/nodes.csv" --label y --out "$work/x"
expect 3 "expected a directory of Python sources" -- data build code "$work/none" --out "$work/x"

# generate: the same bytes for the same seed, others for another; nothing but the target appears.
for name in pattern cluster graph-props molecules functions academic; do
  shows "graphs" -- data generate "$name" --size 0.002 --seed 7 --out "$work/a/$name"
  shows "graphs" -- --threads 1 --seed 7 data generate "$name" --size 0.002 --out "$work/b/$name"
  shows "graphs" -- data generate "$name" --size 0.002 --seed 8 --out "$work/c/$name"
  [ "$(bytes_of "$work/a/$name")" = "$(bytes_of "$work/b/$name")" ] || fail "generate $name: other bytes for the same seed"
  [ "$(bytes_of "$work/a/$name")" != "$(bytes_of "$work/c/$name")" ] || fail "generate $name: the same bytes for another seed"
done
shows "1 graphs" -- data generate zinc-batch --size 0.01 --out "$work/a/zinc-batch/"
[ "$(names_in "$work/a")" = "academic cluster functions graph-props molecules pattern zinc-batch " ] || fail "generate leaves more than its targets: $(names_in "$work/a")"

# An existing directory is refused and untouched, an empty one is taken.
mkdir -p "$work/full/raw" "$work/empty"
echo mine >"$work/full/raw/edge.csv"
before=$(bytes_of "$work/full")
expect 2 "not empty" -- data generate molecules --size 0.001 --out "$work/full"
expect 2 "not empty" -- data generate molecules --size 0.001 --out "$work/full/"
expect 2 "not empty" -- data generate molecules --size 0.001 --out "$work/full/raw/edge.csv"
[ "$before" = "$(bytes_of "$work/full")" ] || fail "a refused --out was changed"
shows "graphs" -- data generate molecules --size 0.001 --out "$work/empty"
expect 5 "/proc" -- data generate molecules --size 0.001 --out /proc/egc_data_test
# The disk is full, as far as files of more than 4 kB go.
mkdir "$work/disk"
out=$( (trap '' XFSZ; ulimit -f 4; "$egc" data generate molecules --size 0.05 --out "$work/disk/x") 2>&1 >/dev/null)
code=$?
[ "$code" -eq 5 ] || fail "generate on a full disk: exit $code ($out)"
[ -z "$(names_in "$work/disk")" ] || fail "generate on a full disk leaves $(names_in "$work/disk")"

# info and verify, by path and by name in --data-dir.
json_has() {
  local keys=$1; shift
  "$egc" "$@" 2>/dev/null | python3 -c '
import json, sys
keys = sys.argv[1].split(",")
lines = [json.loads(line) for line in sys.stdin]
assert lines, "no lines"
for line in lines:
    missing = [k for k in keys if k not in line]
    assert not missing, missing
' "$keys" || fail "egc $*"
}
contract=name,task,graphs,nodes,edges,features,classes,splits,mean_nodes,mean_edges
for name in pattern academic molecules zinc-batch; do
  json_has $contract data info "$work/a/$name" --json
  shows "are valid" -- data verify "$work/a/$name"
  json_has name,fine,known,differences --json data verify "$work/a/$name"
done
"$egc" data info "$work/a/pattern" --json 2>/dev/null | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["name"] == "pattern" and d["task"] == "node-classification", d
assert d["graphs"] == 28 and d["classes"] == 2 and d["features"] == 1, d
assert d["splits"] == {"train": 20, "valid": 4, "test": 4}, d
assert abs(d["mean_nodes"] - d["nodes"] / 28) < 1e-9 and abs(d["mean_edges"] - d["edges"] / 28) < 1e-9, d
' || fail "egc data info pattern --json"
shows "molecules" -- data info molecules-here --data-dir "$(mkdir -p "$work/kept2" && cp -r "$work/a/molecules" "$work/kept2/molecules-here" && echo "$work/kept2")"
cp -r "$work/a/academic" "$work/kept/mine"
shows "author" -- data info mine
shows "are valid" -- data verify mine
expect 3 "unknown dataset \"mine\"" -- data info mine --data-dir "$work/kept2"
expect 2 "generated" -- data info "$work/a/pattern" --split other
json_has name,what,here,path --json data list
shows "egc data fetch arxiv" -- data list
cp -r "$work/a/molecules" "$work/kept/zinc12k"
shows "$work/kept/zinc12k" -- data list

# verify believes no cache, and finds what is wrong.
cp -r "$work/a/molecules" "$work/bad"
shows "graphs" -- data info "$work/bad"
echo 99999 | gzip >>"$work/bad/raw/num-node-list.csv.gz"
expect 3 "" -- data verify "$work/bad"
expect 3 "" -- data info "$work/bad"
cp -r "$work/a/molecules" "$work/wrong"
echo '0,x' | gzip >"$work/wrong/raw/edge.csv.gz"
expect 3 "edge.csv.gz:1" -- data verify "$work/wrong"
echo '{"name": ' >"$work/wrong/dataset.json"
expect 3 "dataset.json" -- data info "$work/wrong"
# A copy of a published dataset with other counts is none.
cp -r "$work/a/molecules" "$work/false"
sed -i 's/"name": "molecules"/"name": "zinc"/' "$work/false/dataset.json"
expect 6 "published 12000" -- data verify "$work/false"
"$egc" --json data verify "$work/false" 2>/dev/null | grep -q '"fine":false' || fail "verify --json of a false copy"
shows "zinc" -- data info "$work/false"

# build csv: from tables to a dataset that verifies.
printf 'id,age,team,class\nann,31,red,a\nbob,,blue,b\n"c, d",40,red,a\neve,22,blue,b\nfay,35,red,a\ngus,50,,b\nhal,41,red,a\nida,28,blue,b\njan,33,red,a\nkim,39,blue,b\n' >"$work/nodes.csv"
printf 'source,target\nann,bob\nbob,"c, d"\neve,fay\n' >"$work/edges.csv"
csv=(data build csv --edges "$work/edges.csv" --nodes "$work/nodes.csv")
"$egc" "${csv[@]}" --label class --undirected --out "$work/csv" >"$work/stdout" 2>"$work/stderr" || fail "build csv: $(cat "$work/stderr")"
grep -q "10 nodes, 3 edges, task node-classification" "$work/stdout" || fail "build csv says $(cat "$work/stdout")"
grep -q '"age": 1 missing values' "$work/stderr" || fail "build csv does not warn of missing values: $(cat "$work/stderr")"
shows "are valid" -- data verify "$work/csv"
python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["class_names"] == ["a", "b"], d
assert [c[0] for c in d["columns"]] == ["age", "team"], d
assert d["columns"][1][1] == ["blue", "red"], d
' "$work/csv/dataset.json" || fail "columns in dataset.json of build csv"
json_has $contract --json data info "$work/csv"
json_has name,task,graphs,nodes,edges,skipped,path --json "${csv[@]}" --label class --out "$work/csv_json"
"$egc" "${csv[@]}" --label class --undirected --seed 0 --out "$work/again/csv" >/dev/null 2>&1
rm -f "$work/csv/.egc-cache.safetensors"
[ "$(bytes_of "$work/csv")" = "$(bytes_of "$work/again/csv")" ] || fail "build csv: other bytes for the same tables"
expect 2 "its columns: id, age, team, class" -- "${csv[@]}" --label nothing --out "$work/x"
expect 2 "add up to 1" -- "${csv[@]}" --label class --ignore age,team --split 0.5,0.1,0.1 --out "$work/x"
expect 2 "not empty" -- "${csv[@]}" --label class --ignore age,team --out "$work/csv"
printf 'source,target\nann,zoe\n' >"$work/edges.csv"
expect 3 "edges.csv:2" -- "${csv[@]}" --label class --out "$work/x"
printf 'source,target\nann\n' >"$work/edges.csv"
expect 3 "edges.csv:2" -- "${csv[@]}" --label class --out "$work/x"
[ ! -e "$work/x" ] || fail "a failed build left $work/x"
ls -d "$work"/*.partial* "$work"/*/*.partial* 2>/dev/null && fail "temporary directories are left"

# Only what a command needs is loaded.
libraries() { LD_DEBUG=files "$egc" "$@" 2>&1 >/dev/null | grep -c 'calling init.*\(libtorch\|libc10\|libopenblas\|libRDKit\|libopencv\|libcurl\)'; }
printf 'source,target\nann,bob\n' >"$work/edges.csv"
none() { [ "$(libraries "$@")" -eq 0 ] || fail "egc $* loads LibTorch, RDKit, OpenCV or libcurl"; }
none data --help
none data list
none data info "$work/a/pattern"
none data verify "$work/a/pattern"
none data generate molecules --size 0.001 --out "$work/light"
none data fetch --help
none data build molecules --help
none "${csv[@]}" --label class --out "$work/light_csv"
printf 'smiles,y\nCCO,1\nCC,0\nc1ccccc1,1\nCCN,0\nCCC,1\nCCCC,0\nCO,1\nCN,0\nCCl,1\nCF,0\n' >"$work/some.csv"
[ "$(libraries data build molecules --smiles "$work/some.csv" --label y --split-by random --out "$work/heavy")" -gt 0 ] || fail "the check for libraries cannot see RDKit"

[ "$failures" -eq 0 ] && echo "data: fine"
exit "$((failures > 0))"
