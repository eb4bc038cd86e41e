// The metrics of the process, for Prometheus.

#include "server/routes.h"
#include "telemetry/families.h"

namespace belay::server {
namespace {

// Counting the runs reads all that have not ended: a scrape every few seconds reuses the count.
constexpr std::chrono::seconds kCountEvery{15};

constexpr const char* kTextType = "text/plain; version=0.0.4; charset=utf-8";

void set_waiting_runs(Metrics& metrics, const Value& counted) {
  metrics.clear(telemetry::kWaitingRuns);
  const Value::Array* waits = counted["waitCauses"].as_array();
  if (!waits) return;
  for (const Value& wait : *waits) {
    const std::string* cause = wait["cause"].as_string();
    std::optional<std::int64_t> runs = wait["runs"].as_int();
    if (!cause || !runs) continue;
    metrics.set(telemetry::kWaitingRuns, {{"cause", *cause}}, static_cast<double>(*runs));
  }
}

Task<Result<Done>> count_runs(ApiContext& world) {
  Instant now = world.parts.clock.now();
  bool is_recent = now >= world.runs_counted_at && now < world.runs_counted_at + kCountEvery;
  if (is_recent) co_return Done{};
  world.runs_counted_at = now;
  // The counts of all users: they contain no names of theirs.
  const Principal everyone;
  BELAY_CO_TRY(Value counted, co_await world.parts.service.queues(everyone, std::nullopt));
  Metrics& metrics = *world.parts.telemetry.metrics;
  set_waiting_runs(metrics, counted);
  metrics.clear(telemetry::kRuns);
  const Value::Array* queues = counted["queues"].as_array();
  if (!queues) co_return Done{};
  for (const Value& queue : *queues) {
    const std::string* name = queue["name"].as_string();
    // The member `paused` is that of the queue.
    using Pair = std::pair<const char*, const char*>;
    for (auto [status, member] : {Pair("queued", "queued"), Pair("running", "running"),
                                  Pair("paused", "waiting"), Pair("quarantined", "quarantined")}) {
      std::optional<std::int64_t> count = queue[member].as_int();
      if (!name || !count) continue;
      metrics.set(telemetry::kRuns, {{"queue", *name}, {"status", status}},
                  static_cast<double>(*count));
    }
  }
  Whose whose;
  // Of no user: the open approvals with their payloads are not read.
  whose.approvals = UserId();
  BELAY_CO_TRY(StatusSummary summary,
               co_await world.parts.service.standing(everyone, std::move(whose)));
  metrics.set(telemetry::kRunsCodeGone, {}, static_cast<double>(summary.code_gone.size()));
  co_return Done{};
}

}  // namespace

std::vector<Route> metrics_routes(ApiContext& world) {
  Route route = route_of("GET", "/metrics", "getMetrics", "Metrics in Prometheus' text format");
  route.answers = {{200, "Version 0.0.4 of the format", "", kTextType}};
  route.handle = with(world, [](ApiContext& served, Call) -> Task<Result<Reply>> {
    if (!served.parts.telemetry.metrics) {
      co_return error(ErrorCode::not_found, "This server collects no metrics.");
    }
    // The other metrics are returned even if the store cannot be read now.
    (void)co_await count_runs(served);
    Reply reply;
    reply.headers.push_back({"Content-Type", kTextType});
    reply.text = served.parts.telemetry.metrics->text();
    co_return std::move(reply);
  });
  std::vector<Route> routes;
  routes.push_back(std::move(route));
  return routes;
}

}  // namespace belay::server
