#!/usr/bin/env bash
# Killing a training run loses nothing: whatever call or moment it dies at, or finds the disk full at,
# resuming ends with the bits of an undisturbed run, and no epoch that was announced is trained again.
# Usage: crash_test.sh EGC_PROGRAM FAULTS_LIBRARY (tests/faults)
#   EGC_CRASH_STRIDE  one of so many cases with a disturbed call is tried (default 11; 1: every call in every way)
#   EGC_CRASH_RANDOM  kills at random moments (default 20)
#   EGC_CRASH_JOBS    cases at a time (default: the cores)
set -euo pipefail
egc=$1
faults=$(realpath "$2")
stride=${EGC_CRASH_STRIDE:-11}
random=${EGC_CRASH_RANDOM:-20}
at_once=${EGC_CRASH_JOBS:-$(nproc)}
work=$(mktemp -d)
work=$(realpath "$work")  # as the system names it to the library
# shellcheck disable=SC2046
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
: >"$work/failures"; : >"$work/done"; : >"$work/hits"

# Cases run in processes of their own, so what they find out is kept in files.
fail() { echo "FAILED: $*" | tee -a "$work/failures"; }
started=0
# background CASE ARGUMENTS
background() {
  while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n || true; done
  started=$((started + 1))
  { "$@"; echo "$1" >>"$work/done"; } &
}

# try NAME COMMAND: its exit code in $code, what it says in NAME.out and NAME.err
try() {
  local name=$1; shift
  code=0
  { ("$@" >"$name.out" 2>"$name.err") || code=$?; } 2>/dev/null  # where bash says "Killed"
}
# one_sentence NAME CODE "part": exit code and stderr of the last try
one_sentence() {
  local said; said=$(cat "$1.err")
  [ "$code" -eq "$2" ] || fail "${1##*/}: exit $code, expected $2 ($said)"
  [[ $said == "egc: "*"$3"* ]] || fail "${1##*/}: stderr does not say 'egc: ...$3': $said"
  [ "$(wc -l <"$1.err")" -eq 1 ] || fail "${1##*/}: not one line on stderr: $said"
}

# Validation gets better until the third epoch and worse in the fourth: best and last differ.
epochs=4 seed=5 hidden=16 lr=0.01 threads=1
# These become the program, so that $! is the process to kill. Each needs a process of its own: &, ( ) or try.
train() {
  exec "$egc" train "$work/data" --model egc-m --self-loops symnorm --hidden "$hidden" --layers 2 --dropout 0.1 --batch 16 \
    --lr "$lr" --seed "$seed" --epochs "$epochs" --threads "$threads" --json --quiet --out "$1"
}
resume() { exec "$egc" train --resume "$1" --threads "$threads" --json --quiet; }
go_on() { if [ -e "$1/config.json" ]; then resume "$1"; else train "$1"; fi; }
# with_fault FAULT CALL COMMAND RUN
with_fault() {
  export EGC_TEST_FAULT=$1 EGC_TEST_FAULT_AT=$2 EGC_TEST_FAULT_DIR=$4 EGC_TEST_FAULT_COUNT=$4.calls LD_PRELOAD=$faults
  "$3" "$4"
}

epochs_said() { grep '"train_loss"' "$1" || true; }
without_seconds() { sed 's/,"seconds":[^,}]*//' "$1"; }
# The header of last.ckpt has seconds, the tensors behind it are the same bytes.
tensors_of() { tail -c "+$((9 + $(od -An -tu8 -N8 "$1")))" "$1"; }
# same RUN REFERENCE
same() {
  local name=${1##*/} left
  cmp -s "$1/best.safetensors" "$2/best.safetensors" || fail "$name: another best.safetensors"
  cmp -s <(without_seconds "$1/metrics.jsonl") <(without_seconds "$2/metrics.jsonl") || fail "$name: another metrics.jsonl"
  cmp -s <(tensors_of "$1/last.ckpt") <(tensors_of "$2/last.ckpt") || fail "$name: other tensors in last.ckpt"
  # Moments and durations differ, as numbers of fixed size.
  [ "$(wc -c <"$1"/events.*)" -eq "$(wc -c <"$2"/events.*)" ] || fail "$name: other events"
  [ -s "$1/report.html" ] || fail "$name: no report.html"
  left=$(find "$1" -name '*.tmp.*')
  [ -z "$left" ] || fail "$name: left behind: $left"
}
# left_whole RUN: what a dead process leaves can be used. Whether last.ckpt can, resuming tells.
left_whole() {
  [ ! -e "$1/best.safetensors" ] ||
    [ "$(tensors_of "$1/best.safetensors" | wc -c)" -eq "$(tensors_of "$work/new/best.safetensors" | wc -c)" ] ||
    fail "${1##*/}: a part of best.safetensors"
}
# finish RUN REFERENCE: to the end, undisturbed. RUN.said has the epochs announced before; the seconds
# in their lines tell whether they were kept or trained again.
finish() {
  if [ ! -e "$1/config.json" ]; then
    try "$1.no_run" resume "$1"; one_sentence "$1.no_run" 2 "not a run"
  fi
  try "$1.finish" go_on "$1"
  [ "$code" -eq 0 ] || fail "${1##*/}: resuming ends with exit $code: $(cat "$1.finish.err")"
  [ ! -s "$1.finish.err" ] || fail "${1##*/}: resuming says $(cat "$1.finish.err")"
  same "$1" "$2"
  local lost; lost=$(grep -vxFf "$1/metrics.jsonl" "$1.said" || true)
  [ -z "$lost" ] || fail "${1##*/}: epochs are trained again: $lost"
}

# The references: 4 epochs for disturbed calls, 30 for moments.
"$egc" data generate molecules --size 0.01 --out "$work/data" >/dev/null
try "$work/new" with_fault count 0 train "$work/new"
[ "$code" -eq 0 ] || { fail "training: $(cat "$work/new.err")"; exit 1; }
[ "$(epochs_said "$work/new.out" | wc -l)" -eq 4 ] || fail "4 epochs are not announced: $(cat "$work/new.out")"
grep -q '"best_epoch":3' "$work/new.out" || fail "the best epoch is not the third: $(cat "$work/new.out")"
began=$(date +%s%N)
(epochs=30; train "$work/long" >/dev/null)
duration=$((($(date +%s%N) - began) / 1000000))

# All calls are seen. What cannot be made again is also safe when the machine stops: a file is synced, renamed, and
# then its directory synced.
for call in "mkdir .*/new" "open .*/lock" "write .*/metrics.jsonl" "rename .*/"{config.json,metrics.jsonl,last.ckpt,best.safetensors,report.html}; do
  grep -q "^$call" "$work/new.calls" || fail "no call seen: $call"
done
unsynced=$(awk -v dir="$work/new" '
  renamed != "" && $0 != "fsync " dir { print renamed }
  { renamed = "" }
  $1 == "rename" && $2 ~ /config.json|last.ckpt|best.safetensors/ { renamed = $2; if (last != "fsync " $2) print $2 }
  { last = $0 }
  END { print renamed }' "$work/new.calls")
[ -z "$unsynced" ] || fail "renamed without syncing: $unsynced"

# A run that died in its third checkpoint, with half of it left behind: resuming can die as well.
third=$(grep -n '^rename .*/last\.ckpt' "$work/new.calls" | sed -n '3s/:.*//p')
try "$work/begun" with_fault half $((third - 2)) train "$work/begun"
[ "$code" -eq 137 ] && ls "$work"/begun/last.ckpt.tmp.* >/dev/null || fail "no half of a checkpoint: exit $code"
cp -a "$work/begun" "$work/resumed"
try "$work/resumed" with_fault count 0 resume "$work/resumed"
epochs_said "$work/begun.out" >"$work/resumed.said"
[ "$(wc -l <"$work/resumed.said")" -eq 2 ] || fail "2 epochs are not announced"
[ "$(epochs_said "$work/resumed.out" | wc -l)" -eq 2 ] || fail "the other 2 epochs are not announced"
finish "$work/resumed" "$work/new"  # of a finished run: changes nothing

# Each call of both, in each way.
disturbed() {
  local start=$1 call=$2 fault=$3 run=$work/$1-$2-$3
  if [ "$start" = resumed ]; then cp -a "$work/begun" "$run"; fi
  try "$run" with_fault "$fault" "$call" go_on "$run"
  if [ "$fault" = enospc ]; then
    one_sentence "$run" 5 "$run"
  else
    [ "$code" -eq 137 ] || fail "${run##*/}: exit $code, expected 137 ($(cat "$run.err"))"
  fi
  epochs_said "$run.out" >"$run.said"
  if [ "$start" = resumed ]; then epochs_said "$work/begun.out" >>"$run.said"; fi
  left_whole "$run"
  finish "$run" "$work/new"
  rm -r "$run"
}
cases() {
  for start in new resumed; do
    awk -v start="$start" '{
      print start, NR, "kill"; print start, NR, "kill-after"; print start, NR, "enospc"
      if ($1 == "write") print start, NR, "half"
    }' "$work/$start.calls"
  done | awk -v stride="$stride" 'NR % stride == 0'
}
cases >"$work/cases"
while read -r start call fault; do background disturbed "$start" "$call" "$fault"; done <"$work/cases"

# Moments: one to three kills, the later ones while it resumes.
killed() {
  local run=$work/random-$1 delay; shift
  local epochs=30
  : >"$run.said"
  for delay; do
    go_on "$run" >"$run.out" 2>"$run.err" &
    sleep "$delay"
    kill -9 $! 2>/dev/null || true
    code=0; { wait $! || code=$?; } 2>/dev/null
    epochs_said "$run.out" >>"$run.said"
    left_whole "$run"
    case $code in
      137) echo "$run" >>"$work/hits" ;;
      0) ;;  # it was faster
      *) fail "${run##*/}: exit $code: $(cat "$run.err")" ;;
    esac
  done
  finish "$run" "$work/long"
  rm -r "$run"
}
RANDOM=7
for ((left = random, number = 1; left > 0; ++number)); do
  delays=()
  for ((kills = 1 + RANDOM % 3; kills > 0 && left > 0; --kills, --left)); do
    delays+=("$(printf '%d.%03d' $((moment = RANDOM % duration, moment / 1000)) $((moment % 1000)))")
  done
  background killed "$number" "${delays[@]}"
done

# A wish to stop: a checkpoint within the epoch, exit code 130.
interrupted() {
  local signal=$1 run=$work/signal-$1-$2 after=$2 tries epochs=30
  for ((tries = 1; tries <= 10; ++tries)); do
    rm -rf "$run"
    train "$run" >"$run.out" 2>"$run.err" &
    while kill -0 $! 2>/dev/null && ! { [ -e "$run/metrics.jsonl" ] && [ "$(wc -l <"$run/metrics.jsonl")" -ge "$after" ]; }; do sleep 0.01; done
    kill -s "$signal" $! 2>/dev/null || true
    code=0; wait $! || code=$?
    [ "$code" -eq 0 ] || break  # 0: it was faster
  done
  one_sentence "$run" 130 "egc train --resume $run"
  grep -aq 'batches\\":[1-9]' "$run/last.ckpt" || fail "${run##*/}: no checkpoint within the epoch"
  epochs_said "$run.out" >"$run.said"
  finish "$run" "$work/long"
}
for signal in INT TERM; do
  for after in 0 3; do background interrupted "$signal" "$after"; done
done

# The same bits for any number of threads, and again.
threads() {
  local run=$work/threads-$1 threads=$1
  try "$run" train "$run"
  [ "$code" -eq 0 ] || fail "$1 threads: exit $code: $(cat "$run.err")"
  same "$run" "$work/new"
}
for count in 1 2 4; do background threads "$count"; done

# One process in a directory. The first is stopped, so that it cannot be done before the second comes.
alone() {
  local run=$work/alone epochs=30
  train "$run" >"$run.out" 2>"$run.err" &
  local first=$!
  # shellcheck disable=SC2064
  trap "kill -9 $first 2>/dev/null || true" EXIT
  while kill -0 "$first" && [ ! -e "$run/metrics.jsonl" ]; do sleep 0.01; done
  kill -STOP "$first"
  local before; before=$(ls -l --time-style=full-iso "$run")
  try "$run.resume" resume "$run"; one_sentence "$run.resume" 2 "another process"
  try "$run.train" train "$run"; one_sentence "$run.train" 2 "$run"
  [ "$(ls -l --time-style=full-iso "$run")" = "$before" ] || fail "the second process changed the run of the first"
  kill -CONT "$first"
  code=0; wait "$first" || code=$?
  [ "$code" -eq 0 ] || fail "the first process ended with $code: $(cat "$run.err")"
  same "$run" "$work/long"
}
background alone

# A last.ckpt that is damaged, cut or of something else: exit 4, and nothing is overwritten.
refused() {
  local run=$work/refused-$1
  cp -a "$work/begun" "$run"
  local file=$run/last.ckpt; shift
  "$@" "$file"
  cp "$file" "$run.before"
  try "$run" resume "$run"; one_sentence "$run" 4 "$file"
  cmp -s "$file" "$run.before" || fail "${run##*/}: last.ckpt was overwritten"
  cmp -s "$run/best.safetensors" "$work/begun/best.safetensors" || fail "${run##*/}: best.safetensors was overwritten"
}
flip() {
  local byte; byte=$(od -An -tu1 -j "$1" -N1 "$2")
  printf '%b' "\\x$(printf %02x $((byte ^ 1)))" | dd of="$2" bs=1 seek="$1" conv=notrunc status=none
}
put() { cp "$1" "$2"; }
size=$(stat -c %s "$work/begun/last.ckpt")
header=$(od -An -tu8 -N8 "$work/begun/last.ckpt" | tr -d ' ')
for at in 0 7 8 40 $((header / 2)) $((header + 7)) $((header + 8)) $((size / 2)) $((size - 1)); do
  background refused "flip-$at" flip "$at"
done
for bytes in 0 1 8 $((header / 2)) $((header + 8)) $((size / 2)) $((size - 1)); do
  background refused "cut-$bytes" truncate -s "$bytes"
done
background refused longer truncate -s $((size + 1))
echo "not a checkpoint" >"$work/text"
background refused text put "$work/text"
background refused model put "$work/begun/best.safetensors"
other() {
  local run=$work/$1; shift
  local "$@"
  try "$run" train "$run"
  refused "${run##*/}" put "$run/last.ckpt"
}
background other other-seed seed=8
background other other-width hidden=32
background other other-rate lr=0.02

wait
[ "$(wc -l <"$work/done")" -eq "$started" ] || fail "of $started cases only $(wc -l <"$work/done") came to their end"
did() { grep -cx "$1" "$work/done" || true; }
faults_did() { awk -v f="$1" '$3 == f' "$work/cases" | wc -l; }
echo "crash: $(wc -l <"$work/new.calls") calls of a run and $(wc -l <"$work/resumed.calls") of a resumed one," \
  "killed before $(faults_did kill), after $(faults_did kill-after), within $(faults_did half), disk full $(faults_did enospc);" \
  "$(wc -l <"$work/hits") of $random random kills hit; $(did interrupted) signals, $(($(did refused) + $(did other))) bad checkpoints, $(did threads) thread counts"
[ ! -s "$work/failures" ] && echo "crash: fine"
exit "$(($(wc -l <"$work/failures") > 0))"
