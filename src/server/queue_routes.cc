// Routes of queues and workers.

#include "server/body.h"
#include "server/routes.h"
#include "service/queue_clearing.h"

namespace belay::server {
// Not in the unnamed namespace, because the codec reads the names of its members.
struct QueueBody {
  std::optional<bool> paused;
  std::optional<std::int64_t> runsMax;
  std::optional<std::int64_t> perKeyMax;
};
struct ClearQueueBody {
  std::optional<bool> dryRun;
};

namespace {

constexpr std::int64_t kPlacesMax = 1'000'000;

Route list_queues() {
  Route route = route_of("GET", "/api/queues", "listQueues", "Queues with counts and limits");
  route.parameters = {named_user_parameter()};
  route.answers = {{200, "Queues with a limit or with a run that has not ended", "QueueList"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(std::optional<UserId> user, named_user_in(call));
    BELAY_CO_TRY(Value found, co_await call.service.queues(call.who, std::move(user)));
    co_return reply_with(std::move(found));
  };
  return route;
}

Route list_workers() {
  Route route = route_of("GET", "/api/workers", "listWorkers",
                         "Live processes, and dead ones that still own runs");
  route.permission = Permission::administer;
  route.answers = {{200, "Newest first", "WorkerList"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(Value found, co_await call.service.workers(call.who));
    co_return reply_with(std::move(found));
  };
  return route;
}

Route change_queue() {
  Route route = route_of("POST", "/api/queues/{queue}", "changeQueue",
                         "Pause and limits of a queue; omitted members remain unchanged");
  route.permission = Permission::administer;
  route.body = body_schema<QueueBody>();
  route.answers = {{200, "The changed queue", "Queue"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(QueueBody body, read_body<QueueBody>(call));
    QueueChange change;
    change.name = call.path.at("queue");
    change.paused = body.paused;
    if (body.runsMax) {
      BELAY_CO_TRY(std::int64_t most, within("runsMax", *body.runsMax, 0, kPlacesMax));
      change.runs_max = static_cast<std::uint64_t>(most);
    }
    if (body.perKeyMax) {
      BELAY_CO_TRY(std::int64_t most, within("perKeyMax", *body.perKeyMax, 0, kPlacesMax));
      change.per_key_max = static_cast<std::uint64_t>(most);
    }
    BELAY_CO_TRY(Value changed, co_await call.service.change_queue(call.who, std::move(change)));
    co_return reply_with(std::move(changed));
  };
  return route;
}

Route clear_queue_route() {
  Route route = route_of("POST", "/api/queues/{queue}/clear", "clearQueue",
                         "Cancellation of the queued runs of a queue that no process has claimed; "
                         "with `dryRun`, only their number");
  route.permission = Permission::administer;
  route.body = body_schema<ClearQueueBody>();
  route.answers = {
      {200, "The runs that were queued, and those that were cancelled", "ClearedQueue"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(ClearQueueBody body, read_body<ClearQueueBody>(call));
    QueueClearing clearing;
    clearing.queue = call.path.at("queue");
    clearing.by = call.who.user.text;
    clearing.dry_run = body.dryRun.value_or(false);
    QueueClearing asked = clearing;
    BELAY_CO_TRY(ClearedQueue cleared,
                 co_await clear_queue(call.service, call.who, std::move(asked)));
    co_return reply_with(cleared_queue_document(clearing, cleared));
  };
  return route;
}

}  // namespace

std::vector<Route> queue_routes(ApiContext&) {
  std::vector<Route> routes;
  routes.push_back(list_queues());
  routes.push_back(change_queue());
  routes.push_back(clear_queue_route());
  routes.push_back(list_workers());
  return routes;
}

}  // namespace belay::server
