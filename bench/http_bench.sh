#!/usr/bin/env bash
# Measures src/http: a small answer, side by side with the least server that Beast makes, and the
# memory of streams that wait. Takes wrk, which nothing else needs (apt-get install wrk).
#
#   bench/http_bench.sh [BUILD]    BUILD: where bare_server and http_bench are; build/release/bench
#
# BELAY_HTTP_SECONDS (10), BELAY_HTTP_CONNECTIONS (64), BELAY_HTTP_STREAMS (5000) change what is run.
# Server and wrk share the machine's cores: run it on one that is otherwise idle, or believe the
# ratio alone. The servers take turns, three rounds each, and the best of each counts.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release/bench}
seconds=${BELAY_HTTP_SECONDS:-10}
connections=${BELAY_HTTP_CONNECTIONS:-64}
streams=${BELAY_HTTP_STREAMS:-5000}
command -v wrk >/dev/null || { echo "http_bench.sh: wrk is missing: apt-get install wrk" >&2; exit 1; }
ulimit -n "$(ulimit -Hn)"

folder=$(mktemp -d)
servers=()
finish() {
  for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap finish EXIT

start() {  # NAME COMMAND...: a server, whose port stands in $folder/NAME
  local name=$1
  shift
  "$@" >"$folder/$name" &
  servers+=("$!")
  until [[ -s $folder/$name ]]; do
    kill -0 "$!" || exit 1
    sleep 0.1
  done
}

ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; }
resident() { awk '/^VmRSS/ {print $2}' "/proc/$1/status"; }

measure() {  # NAME PID: prints "requests/s microseconds-of-CPU-a-request"
  local before after
  before=$(ticks "$2")
  wrk -t1 -c"$connections" -d"${seconds}s" "http://127.0.0.1:$(cat "$folder/$1")/" >"$folder/wrk"
  after=$(ticks "$2")
  awk -v ticks=$((after - before)) -v hertz="$(getconf CLK_TCK)" '
    /requests in/ {count = $1}
    /^Requests\/sec/ {rate = $2}
    /Non-2xx|Socket errors/ {print > "/dev/stderr"}
    END {printf "%.0f %.1f\n", rate, ticks / hertz / count * 1e6}' "$folder/wrk"
}

start bare "$build/bare_server"
start belay "$build/http_bench" serve
bare=${servers[0]} belay=${servers[1]}
for _ in 1 2 3; do
  measure bare "$bare" >>"$folder/bare.rates"
  measure belay "$belay" >>"$folder/belay.rates"
done
best() { sort -rn "$folder/$1.rates" | head -n 1; }
read -r bare_rate bare_cpu < <(best bare)
read -r belay_rate belay_cpu < <(best belay)
echo "| server | requests/s | CPU of a request |"
echo "|---|---|---|"
echo "| Beast alone | $bare_rate | $bare_cpu us |"
echo "| src/http | $belay_rate | $belay_cpu us |"
awk -v a="$belay_rate" -v b="$bare_rate" 'BEGIN {printf "\n%.0f %% of the limit\n\n", 100 * a / b}'

start fresh "$build/http_bench" serve
fresh=${servers[2]}
before=$(resident "$fresh")
mkfifo "$folder/hold"
"$build/http_bench" open "$(cat "$folder/fresh")" "$streams" <"$folder/hold" >"$folder/opened" &
opener=$!
exec 9>"$folder/hold"
until [[ -s $folder/opened ]]; do
  kill -0 "$opener" || exit 1
  sleep 0.1
done
after=$(resident "$fresh")
exec 9>&-
wait "$opener"
echo "$streams streams that wait: $(((after - before) / 1024)) MiB," \
  "$(((after - before) * 1024 / streams)) bytes each"
