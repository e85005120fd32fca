#!/usr/bin/env bash
# egc data fetch against a server that misbehaves (server.py): good downloads become datasets,
# interrupted ones go on, everything else ends with its exit code and leaves nothing behind.
# Usage: fetch_test.sh EGC_PROGRAM
set -u
egc=$1
here=$(cd "$(dirname "$0")" && pwd)
fixtures=$here/../data/fixtures
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
work=$(mktemp -d) || exit 1
export XDG_CACHE_HOME=$work/cache
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
export no_proxy=127.0.0.1
mkdir -p "$work/www" "$work/cases"

# Small archives in the publishers' layouts.
python3 - "$work/www" "$fixtures" <<'EOF'
import gzip, os, sys, zipfile
www, fixtures = sys.argv[1:3]
def gz(text): return gzip.compress(text.encode(), mtime=0)
def save(name, entries):
    with zipfile.ZipFile(os.path.join(www, name), "w", zipfile.ZIP_DEFLATED) as z:
        for path, content in entries.items(): z.writestr(path, content)
def hiv(folder):
    return {
        f"{folder}/raw/num-node-list.csv.gz": gz("2\n3\n2\n"),
        f"{folder}/raw/num-edge-list.csv.gz": gz("1\n2\n1\n"),
        f"{folder}/raw/edge.csv.gz": gz("0,1\n0,1\n1,2\n0,1\n"),
        f"{folder}/raw/node-feat.csv.gz": gz("5,0,4,5,3,0,2,0,0\n" * 7),
        f"{folder}/raw/edge-feat.csv.gz": gz("0,0,0\n" * 4),
        f"{folder}/raw/graph-label.csv.gz": gz("0\n1\n0\n"),
        f"{folder}/split/scaffold/train.csv.gz": gz("0\n"),
        f"{folder}/split/scaffold/valid.csv.gz": gz("1\n"),
        f"{folder}/split/scaffold/test.csv.gz": gz("2\n"),
        f"{folder}/mapping/README.md": os.urandom(200000),  # makes a download worth interrupting
    }
save("hiv.zip", hiv("hiv"))
save("arxiv.zip", hiv("arxiv"))
save("mag.zip", hiv("mag"))
save("code2.zip", {
    "code2/raw/num-node-list.csv.gz": gz("4\n1\n"),
    "code2/raw/num-edge-list.csv.gz": gz("3\n0\n"),
    "code2/raw/edge.csv.gz": gz("0,1\n0,2\n2,3\n"),
    "code2/raw/node-feat.csv.gz": gz("5,7\n1,0\n2,3\n0,9\n4,4\n"),
    "code2/raw/node_depth.csv.gz": gz("0\n1\n1\n25\n0\n"),
    "code2/raw/node_is_attributed.csv.gz": gz("0\n1\n0\n1\n1\n"),
    "code2/raw/graph-label.csv.gz": gz("get name\nset\n"),
    "code2/split/project/train.csv.gz": gz("0\n"),
    "code2/split/project/test.csv.gz": gz("1\n"),
})
def read(name): return open(os.path.join(fixtures, name), "rb").read()
save("molecules.zip", {f"molecules/{p}.pickle": read("molecules_protocol3.pickle") for p in ("train", "val", "test")})
for part, ids in {"train": "2,0", "val": "1", "test": "0,1"}.items():
    open(os.path.join(www, part + ".index"), "w").write(ids + "\n")
save("CIFAR10_v2.zip", {"CIFAR10_v2.pt": read("superpixels_zip.pt")})
EOF

python3 "$here/server.py" "$work/www" "$work/port" "$work/log" &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 100); do [ -e "$work/port" ] && break; sleep 0.1; done
[ -e "$work/port" ] || { echo "FAILED: the server does not start"; exit 1; }
site=http://127.0.0.1:$(cat "$work/port")

# fetch CODE WAY DATASET DIRECTORY [ARGUMENTS]: exit code and one sentence, in $out
fetch() {
  local code=$1 way=$2 name=$3 to=$4; shift 4
  out=$("$egc" data fetch "$name" --mirror "$site/$way" --data-dir "$to" "$@" 2>&1 >"$work/stdout"); local got=$?
  [ "$got" -eq "$code" ] || fail "fetch $name, server $way: exit $got, expected $code ($out)"
  [ "$(grep -c . <<<"$out")" -le 1 ] || fail "fetch $name, server $way: more than one line on stderr: $out"
  [ "$code" -eq 0 ] || [ -n "$out" ] || fail "fetch $name, server $way: says nothing"
}
says() { case "$out" in *"$1"*) ;; *) fail "stderr does not say '$1': $out" ;; esac; }
# left DIRECTORY "files": all files below, the bookkeeping ones too
left() {
  local got; got=$( (cd "$1" 2>/dev/null && find . -type f -printf '%P\n' | LC_ALL=C sort | tr '\n' ' ') )
  [ "$got" = "$2" ] || fail "left in $1: '$got', expected '$2'"
}
fresh() { to=$work/cases/$((++case)); }
case=0

# Good servers. Ours are no published datasets, so the check is off.
for name in molhiv code2 zinc cifar10; do
  fresh; fetch 0 good "$name" "$to" --no-published-check
  grep -q "$name is in $to/$name" "$work/stdout" || fail "fetch $name says $(cat "$work/stdout")"
  [ -z "$(find "$to" -name '*.zip' -o -name '*.part' -o -name '*.partial*' -o -name .unpacked)" ] || fail "fetch $name leaves $(find "$to" -type f)"
  "$egc" data info "$name" --data-dir "$to" >"$work/stdout" 2>&1 || fail "info of the fetched $name: $(cat "$work/stdout")"
  out=$("$egc" data verify "$name" --data-dir "$to" 2>&1 >/dev/null); [ $? -eq 6 ] || fail "verify of a false $name: $out"
done
fresh; fetch 0 good ogbg-molhiv "$to" --no-published-check --json
python3 -c 'import json,sys; d = json.load(open(sys.argv[1])); assert d == {"name": "molhiv", "path": sys.argv[2]}, d' "$work/stdout" "$to/molhiv" || fail "fetch --json"
# Again: it is there, nothing is asked for.
: >"$work/log"; fetch 0 none molhiv "$to"; [ ! -s "$work/log" ] || fail "fetch asks again: $(cat "$work/log")"
fresh; fetch 0 moved molhiv "$to" --no-published-check
fresh; fetch 0 whole molhiv "$to" --no-published-check
fresh; out=$("$egc" data fetch molhiv --mirror "$site/good/" --data-dir "$to" --no-published-check 2>&1 >/dev/null) || fail "a mirror with a slash: $out"

# Interrupted, then continued from where it was.
fresh; fetch 5 cut molhiv "$to" --no-published-check; says "$site/cut/hiv.zip"
left "$to" ".downloads/hiv.zip.part "
half=$(stat -c %s "$to/.downloads/hiv.zip.part")
: >"$work/log"; fetch 0 cut molhiv "$to" --no-published-check
grep -qx "cut hiv.zip bytes=$half-" "$work/log" || fail "not resumed at $half: $(cat "$work/log")"
[ -e "$to/molhiv/raw/edge.csv.gz" ] || fail "no dataset after resuming"
cmp -s <(python3 -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read("hiv/mapping/README.md"))' "$work/www/hiv.zip") "$to/molhiv/mapping/README.md" || fail "resumed content differs"
# The server cannot continue: once more from the start.
fresh; fetch 5 cutwhole code2 "$to" --no-published-check
fetch 0 cutwhole code2 "$to" --no-published-check
# A part longer than the file, or of another: no dataset of mixed bytes.
fresh; mkdir -p "$to/.downloads"; head -c 1000000 /dev/zero >"$to/.downloads/hiv.zip.part"
fetch 0 good molhiv "$to" --no-published-check
fresh; mkdir -p "$to/.downloads"; head -c 1000 /dev/zero >"$to/.downloads/hiv.zip.part"
fetch 3 good molhiv "$to" --no-published-check
fetch 0 good molhiv "$to" --no-published-check

# Servers that fail: exit 5, nothing but the empty folder of downloads.
fresh; fetch 5 none molhiv "$to"; says "404"; left "$to" ""
fresh; fetch 5 broken molhiv "$to"; says "500"; left "$to" ""
fresh; fetch 5 loop molhiv "$to"; left "$to" ""
fresh; fetch 5 tofile molhiv "$to" --no-published-check; left "$to" ""
fresh; fetch 5 toftp molhiv "$to" --no-published-check; left "$to" ""
fresh
for mirror in "file://$work/www" ftp://127.0.0.1/x nonsense:// http://127.0.0.1:1; do
  out=$("$egc" data fetch molhiv --mirror "$mirror" --data-dir "$to" --no-published-check 2>&1 >/dev/null)
  code=$?; [ "$code" -eq 5 ] || [ "$code" -eq 2 ] || fail "--mirror $mirror: exit $code ($out)"
  [ ! -e "$to/molhiv" ] || fail "--mirror $mirror made a dataset"
done
out=$("$egc" data fetch molhiv --mirror "$site/good" --data-dir /proc/egc_fetch --no-published-check 2>&1 >/dev/null)
[ $? -eq 5 ] || fail "--data-dir that cannot be: $out"

# Content that is not the expected: exit 6 where a checksum or counts are known.
fresh; fetch 6 good arxiv "$to"; says "expected"; left "$to" ""
fresh; fetch 6 good arxiv "$to" --no-published-check; left "$to" ""
fresh; fetch 6 good mag "$to"; says "SHA-256"; left "$to" ""
fresh; fetch 6 good molhiv "$to"; says "published 41127, found 3"
[ ! -e "$to/molhiv" ] || fail "an unpublished molhiv was kept"
# ... and 3 where the bytes themselves are wrong. The next call begins anew: a bad file is not kept.
for way in lie html nolength; do
  fresh; fetch 3 "$way" molhiv "$to" --no-published-check
  [ ! -e "$to/molhiv" ] || fail "$way made a dataset"
  fetch 0 good molhiv "$to" --no-published-check
done
fresh; fetch 6 good molhiv "$to"
: >"$work/log"; fetch 6 good molhiv "$to"
grep -q "hiv.zip" "$work/log" || fail "a file that was not the published one is kept and used again"

# Evil archives.
python3 - "$work/www/hiv.zip" "$work/evil" <<'EOF'
import stat, sys, zipfile
good, evil = sys.argv[1:3]
def save(name, add):
    with zipfile.ZipFile(good) as old, zipfile.ZipFile(f"{evil}_{name}.zip", "w", zipfile.ZIP_DEFLATED) as z:
        for i in old.infolist(): z.writestr(i, old.read(i))
        add(z)
save("dots", lambda z: z.writestr("../../../../evil", "x"))
save("absolute", lambda z: z.writestr("/tmp/egc_fetch_evil", "x"))
def link(z):
    info = zipfile.ZipInfo("hiv/raw/link"); info.create_system = 3; info.external_attr = (stat.S_IFLNK | 0o777) << 16
    z.writestr(info, "/etc/passwd")
save("link", link)
def twice(z): z.writestr("hiv/raw/edge.csv.gz", "other")
import warnings; warnings.simplefilter("ignore"); save("twice", twice)
EOF
for kind in dots absolute link twice; do
  mv "$work/evil_$kind.zip" "$work/www/hiv.zip"
  fresh; fetch 3 good molhiv "$to" --no-published-check
  [ ! -e "$to/molhiv" ] || fail "an evil archive ($kind) made a dataset"
  [ -z "$(find "$work" /tmp -maxdepth 3 \( -name evil -o -name egc_fetch_evil \) 2>/dev/null)" ] || fail "an evil archive ($kind) wrote outside"
  [ -z "$(find "$to" -name '*.partial*')" ] || fail "an evil archive ($kind) leaves $(find "$to")"
done
# A pickle that would run something.
python3 - "$work/www/molecules.zip" "$work/executed" <<'EOF'
import os, pickle, sys, zipfile
class Evil:
    def __reduce__(self): return (os.system, ("touch " + sys.argv[2],))
with zipfile.ZipFile(sys.argv[1], "w") as z:
    for part in ("train", "val", "test"): z.writestr(f"molecules/{part}.pickle", pickle.dumps([Evil()] * 3))
EOF
fresh; fetch 3 good zinc "$to" --no-published-check
[ ! -e "$work/executed" ] || fail "a pickle was executed"
[ ! -e "$to/zinc" ] || fail "an evil pickle made a dataset"

# A directory of that name with something else in it stays as it is.
fresh; mkdir -p "$to/code2"; echo mine >"$to/code2/notes"
fetch 2 good code2 "$to" --no-published-check; says "not empty"
[ "$(cat "$to/code2/notes")" = mine ] || fail "somebody's file is gone"

[ "$failures" -eq 0 ] && echo "fetch: fine"
exit "$((failures > 0))"
