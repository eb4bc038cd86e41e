#!/usr/bin/env bash
# Measures the HTTP server, compared with a minimal Beast server: a small response of src/http and a
# run's status from `belay serve`, and the memory of idle streams of both. Requires wrk (apt-get
# install wrk), which is used only here.
#
#   bench/http_bench.sh [BUILD]    BUILD: a release build with the benchmarks; build/release
#
# BELAY_HTTP_SECONDS (10), BELAY_HTTP_CONNECTIONS (64), BELAY_HTTP_STREAMS (5000) and
# BELAY_HTTP_STALLED (9000) set the duration and the numbers of connections.
# Server and wrk share the cores of the machine: unless it is otherwise idle, only the ratios are
# reliable. The servers alternate for three rounds; the best round of each counts.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
seconds=${BELAY_HTTP_SECONDS:-10}
connections=${BELAY_HTTP_CONNECTIONS:-64}
streams=${BELAY_HTTP_STREAMS:-5000}
stalled=${BELAY_HTTP_STALLED:-9000}
command -v wrk >/dev/null || { echo "http_bench.sh: wrk is missing: apt-get install wrk" >&2; exit 1; }
ulimit -n "$(ulimit -Hn)"

folder=$(mktemp -d)
started=()
finish() {
  for process in "${started[@]}"; do kill "$process" 2>/dev/null || true; done
  for process in "${started[@]}"; do wait "$process" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap finish EXIT

start() {  # NAME COMMAND...: starts a server that prints its port, which is then in $folder/NAME
  local name=$1
  shift
  "$@" >"$folder/$name" &
  started+=("$!")
  until [[ -s $folder/$name ]]; do
    kill -0 "$!" || exit 1
    sleep 0.1
  done
}

export BELAY_STORE=sqlite:$folder/store.db
serve() {  # NAME: starts belay serve on a free port
  local name=$1 log=$folder/$1.log
  "$build/belay" serve --listen 127.0.0.1:0 2>"$log" &
  started+=("$!")
  until grep -q -s -E '127.0.0.1:[0-9]+' "$log"; do
    kill -0 "$!" || exit 1
    sleep 0.1
  done
  grep -m 1 -o -E '127.0.0.1:[0-9]+' "$log" | cut -d: -f2 >"$folder/$name"
}

ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; }
resident() { awk '/^VmRSS/ {print $2}' "/proc/$1/status"; }

measure() {  # NAME PID PATH: prints "requests/s microseconds-of-CPU-per-request"
  local before after
  before=$(ticks "$2")
  wrk -t1 -c"$connections" -d"${seconds}s" "http://127.0.0.1:$(cat "$folder/$1")$3" >"$folder/wrk"
  after=$(ticks "$2")
  awk -v ticks=$((after - before)) -v hertz="$(getconf CLK_TCK)" '
    /requests in/ {count = $1}
    /^Requests\/sec/ {rate = $2}
    /Non-2xx|Socket errors/ {print > "/dev/stderr"}
    END {printf "%.0f %.1f\n", rate, ticks / hertz / count * 1e6}' "$folder/wrk"
}

printf '{"date":"2025-11-21","content":"A calm day. I walked by the river."}\n' >"$folder/note.jsonl"
"$build/belay" notes import "$folder/note.jsonl" >/dev/null 2>&1
"$build/belay" run daily-audit --date 2025-11-21 --thread measured >/dev/null 2>&1
status=/api/agents/status/measured

start bare "$build/bench/bare_server"
start small "$build/bench/http_ends" serve
serve belay
bare=${started[0]} small=${started[1]} belay=${started[2]}
for _ in 1 2 3; do
  measure bare "$bare" / >>"$folder/bare.rates"
  measure small "$small" / >>"$folder/small.rates"
  measure belay "$belay" "$status" >>"$folder/belay.rates"
done
row() {  # NAME WHAT
  sort -rn "$folder/$1.rates" | head -n 1 | awk -v what="$2" -v limit="$limit" \
    '{printf "| %s | %d | %.1f us | %.0f %% |\n", what, $1, $2, 100 * $1 / limit}'
}
limit=$(sort -rn "$folder/bare.rates" | head -n 1 | cut -d' ' -f1)
echo "| | requests/s | CPU of a request | of the limit |"
echo "|---|---|---|---|"
row bare "Beast alone, a small answer: the limit"
row small "src/http, the same answer"
row belay "belay serve, a run's status"
echo

# hold COMMAND...: runs http_ends until release(); returns when all its connections are open.
hold() {
  rm -f "$folder/hold" "$folder/opened"
  mkfifo "$folder/hold"
  "$build/bench/http_ends" "$@" <"$folder/hold" >"$folder/opened" &
  holder=$!
  exec 9>"$folder/hold"
  until [[ -s $folder/opened ]]; do
    kill -0 "$holder" || exit 1
    sleep 0.1
  done
}
release() {
  exec 9>&-
  wait "$holder"
}

open() {  # NAME PID PATH TITLE: prints the memory that open streams cost the server
  local name=$1 process=$2 before after cpu
  before=$(resident "$process")
  hold open "$(cat "$folder/$name")" "$streams" "$3"
  cpu=$(ticks "$process")
  sleep 10
  cpu=$(($(ticks "$process") - cpu))
  after=$(resident "$process")
  release
  echo "$4, $streams streams that wait: $(((after - before) / 1024)) MiB," \
    "$(((after - before) * 1024 / streams)) bytes each;" \
    "CPU: $(awk -v t="$cpu" -v h="$(getconf CLK_TCK)" 'BEGIN {printf "%.1f", t / h * 10}') % of a core"
}
start fresh_small "$build/bench/http_ends" serve
open fresh_small "${started[3]}" /stream "src/http"

# A run that is due tomorrow, so that its streams have no events.
serve fresh_belay
curl -s -o "$folder/begun" -H 'Content-Type: application/json' \
  -d '{"threadId":"waits","input":{"question":"?"},"delayMs":86400000}' \
  "http://127.0.0.1:$(cat "$folder/fresh_belay")/api/agents/assistant/runs"
open fresh_belay "${started[4]}" /api/threads/waits/events "belay serve"

# Latency of other requests while many connections have sent half of a request and stalled.
p99() {
  wrk -t1 -c"$connections" -d"${seconds}s" --latency "http://127.0.0.1:$(cat "$folder/belay")$status" |
    awk '/99%/ {print $2} /Non-2xx|Socket errors/ {print > "/dev/stderr"}'
}
before=$(p99) memory=$(resident "$belay")
hold stall "$(cat "$folder/belay")" "$stalled"
during=$(p99) memory=$((($(resident "$belay") - memory) / 1024))
release
echo "belay serve, p99 of a status: $before; beside $stalled connections that stall: $during, $memory MiB more"
