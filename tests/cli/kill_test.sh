#!/usr/bin/env bash
# A rank is killed at a random moment: the others end within the time that is stated, nobody is left, and the run goes on to the
# bits of an undisturbed one. EGC_KILLS moments (default 2), half of them with one large graph.
# Usage: kill_test.sh EGC_PROGRAM
. "$(dirname "$0")/begin.sh"

"$egc" data generate molecules --size 0.02 --out many >/dev/null
"$egc" data generate arxiv-like --size 0.01 --out one >/dev/null
ranks=3
flags=(--hidden 16 --layers 2 --epochs 12 --patience 0 --threads 1)
for data in many one; do
  "$egc" --quiet launch -n $ranks -- train $data --model egc-m "${flags[@]}" --out undisturbed-$data >log 2>&1 || fail "undisturbed: $(cat log)"
done

RANDOM=${EGC_KILL_SEED:-7}
for k in $(seq "${EGC_KILLS:-2}"); do
  data=many; ((k % 2)) || data=one
  rm -rf run
  "$egc" launch -n $ranks -- train $data --model egc-m "${flags[@]}" --out run >log 2>&1 &
  launcher=$!
  # About as long as such a run takes: sometimes it is over before, sometimes the group has not met.
  sleep "$(printf '0.%03d' $((RANDOM % 1000)))"; sleep $((RANDOM % 4))
  victim=$(pgrep -P "$launcher" | sed -n "$((RANDOM % ranks + 1))p")
  [ -n "$victim" ] && kill -9 "$victim" 2>/dev/null
  began=$SECONDS
  wait "$launcher"; code=$?
  took=$((SECONDS - began))
  [ -z "$victim" ] || [ $took -le 25 ] || fail "kill $k: the others took $took s to end: $(tail -n 3 log)"
  pgrep -f "train $data --model egc-m .* --out run" >/dev/null && fail "kill $k: some ranks are left"
  if [ -e run/config.json ]; then
    "$egc" --quiet launch -n $ranks -- train --resume run --threads 1 >log 2>&1 || fail "kill $k: resuming: $(cat log)"
  else
    "$egc" --quiet launch -n $ranks -- train $data --model egc-m "${flags[@]}" --out run >log 2>&1 || fail "kill $k: again: $(cat log)"
  fi
  cmp -s run/best.safetensors undisturbed-$data/best.safetensors || fail "kill $k ($data, exit $code): the resumed run has other bits"
  [ -n "${EGC_KILLS:-}" ] && echo "kill $k: $data, exit $code, $took s"
done

[ "$failures" -eq 0 ] && echo "kill: fine"
exit "$((failures > 0))"
