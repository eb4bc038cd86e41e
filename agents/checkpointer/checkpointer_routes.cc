#include "agents/checkpointer/checkpointer_routes.h"

#include "agents/checkpointer/checkpoint_documents.h"
#include "agents/checkpointer/value_parts.h"

namespace belay::checkpointer {
namespace {

using Names = std::initializer_list<std::string_view>;

// A route with a body of type B; `required` are its required members.
template <typename B>
ModuleRoute checkpointer_route(std::string path, std::string id, std::string summary,
                               Permission permission, Names required) {
  ModuleRoute route = route_of("POST", "/api/langgraph/" + path, std::move(id), std::move(summary));
  route.permission = permission;
  route.parameters = {owner_parameter()};
  route.body = body_schema<B>(required);
  return route;
}

Result<CheckpointAccess> access_of(RouteCall& call) {
  BELAY_TRY(UserId owner, owner_in(call));
  return CheckpointAccess{call.service, call.who, std::move(owner), call.clock()};
}

RouteReply empty_reply() {
  RouteReply reply;
  reply.status = 204;
  return reply;
}

ModuleRoute put_route() {
  ModuleRoute route = checkpointer_route<PutBody>(
      "checkpoints", "putLangGraphCheckpoint",
      "Saves a checkpoint with the values of its changed channels, and pending writes of tasks",
      Permission::run, {"threadId", "checkpointId", "checkpoint", "metadata"});
  route.answers = {{204, "Saved", ""}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(CheckpointAccess at, access_of(call));
    BELAY_CO_TRY(PutBody body, read_body<PutBody>(call));
    BELAY_CO_CHECK(co_await put_checkpoint(at, std::move(body)));
    co_return empty_reply();
  };
  return route;
}

ModuleRoute writes_route() {
  ModuleRoute route = checkpointer_route<WritesBody>(
      "writes", "putLangGraphWrites", "Saves the pending writes of a task", Permission::run,
      {"threadId", "checkpointId", "taskId", "writes"});
  route.answers = {{204, "Saved, or stored before", ""}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(CheckpointAccess at, access_of(call));
    BELAY_CO_TRY(WritesBody body, read_body<WritesBody>(call));
    BELAY_CO_CHECK(co_await put_writes(at, std::move(body)));
    co_return empty_reply();
  };
  return route;
}

ModuleRoute part_route() {
  ModuleRoute route = checkpointer_route<PartBody>(
      "parts", "putLangGraphPart", "Saves a part of a value that is too large for one request",
      Permission::run, {"threadId", "blob", "part", "data"});
  route.answers = {{204, "Saved", ""}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(CheckpointAccess at, access_of(call));
    BELAY_CO_TRY(PartBody body, read_body<PartBody>(call));
    Instant now = call.clock().now();
    BELAY_CO_CHECK(co_await put_part(at, std::move(body), now));
    co_return empty_reply();
  };
  return route;
}

ModuleRoute read_part_route() {
  ModuleRoute route =
      checkpointer_route<PartName>("parts/get", "getLangGraphPart", "A part of a large value",
                                   Permission::read, {"threadId", "blob", "part"});
  route.answers = {{200, "The part", "LangGraphPart"}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(CheckpointAccess at, access_of(call));
    BELAY_CO_TRY(PartName name, read_body<PartName>(call));
    BELAY_CO_TRY(std::string data, co_await read_part(at, std::move(name)));
    co_return route_reply(Value::object({{"data", std::move(data)}}));
  };
  return route;
}

ModuleRoute tuple_route() {
  ModuleRoute route = checkpointer_route<TupleName>(
      "checkpoints/get", "getLangGraphCheckpoint",
      "A checkpoint with its values and pending writes; without an id, the newest one",
      Permission::read, {"threadId"});
  route.answers = {{200, "The checkpoint, or null", "LangGraphTupleOrNull"}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(CheckpointAccess at, access_of(call));
    BELAY_CO_TRY(TupleName name, read_body<TupleName>(call));
    BELAY_CO_TRY(auto found, co_await find_checkpoint(at, std::move(name)));
    Value document;
    if (found) {
      BELAY_CO_TRY(LoadedTuple tuple, co_await load_tuple(at, *std::move(found)));
      document = tuple_document(tuple);
    }
    co_return route_reply(Value::object({{"tuple", std::move(document)}}));
  };
  return route;
}

ModuleRoute list_route() {
  ModuleRoute route = checkpointer_route<ListBody>(
      "checkpoints/list", "listLangGraphCheckpoints",
      "Checkpoints, the greatest id first; a page can be empty although there are more",
      Permission::read, {});
  route.answers = {{200, "A page; `next` is the `after` of the next page", "LangGraphTuplePage"}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(CheckpointAccess at, access_of(call));
    BELAY_CO_TRY(ListBody body, read_body<ListBody>(call));
    BELAY_CO_TRY(ListPage page, co_await list_checkpoints(at, std::move(body)));
    co_return route_reply(list_page_document(page));
  };
  return route;
}

ModuleRoute history_route() {
  ModuleRoute route = checkpointer_route<HistoryBody>(
      "checkpoints/history", "getLangGraphHistory",
      "Writes to channels on the ancestors of a checkpoint, up to their nearest values",
      Permission::read, {"threadId", "channels"});
  route.answers = {{200, "A page; `next` is the `from` of the next page", "LangGraphHistoryPage"}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(CheckpointAccess at, access_of(call));
    BELAY_CO_TRY(HistoryBody body, read_body<HistoryBody>(call));
    BELAY_CO_TRY(auto page, co_await delta_history(at, std::move(body)));
    co_return route_reply(history_page_document(page));
  };
  return route;
}

ModuleRoute delete_thread_route() {
  ModuleRoute route = checkpointer_route<ThreadBody>(
      "threads/delete", "deleteLangGraphThread",
      "Deletion of a thread's checkpoints, writes and values", Permission::run, {"threadId"});
  route.answers = {{200, "The numbers of deleted records", "LangGraphRemoved"}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(CheckpointAccess at, access_of(call));
    BELAY_CO_TRY(ThreadBody body, read_body<ThreadBody>(call));
    BELAY_CO_TRY(Removed removed, co_await delete_thread(at, std::move(body)));
    co_return route_reply(removed_document(removed));
  };
  return route;
}

ModuleRoute copy_thread_route() {
  ModuleRoute route = checkpointer_route<CopyBody>(
      "threads/copy", "copyLangGraphThread", "Copies a thread to a thread without checkpoints",
      Permission::run, {"source", "target"});
  route.answers = {{204, "Copied", ""}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(CheckpointAccess at, access_of(call));
    BELAY_CO_TRY(CopyBody body, read_body<CopyBody>(call));
    BELAY_CO_CHECK(co_await copy_thread(at, std::move(body)));
    co_return empty_reply();
  };
  return route;
}

ModuleRoute prune_route() {
  ModuleRoute route = checkpointer_route<PruneBody>(
      "threads/prune", "pruneLangGraphThreads",
      "Deletes all but the newest checkpoint of each namespace, or the threads", Permission::run,
      {"threadIds", "strategy"});
  route.answers = {{200, "The numbers of deleted records", "LangGraphRemoved"}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(CheckpointAccess at, access_of(call));
    BELAY_CO_TRY(PruneBody body, read_body<PruneBody>(call));
    Instant now = call.clock().now();
    BELAY_CO_TRY(Removed removed, co_await prune_threads(at, std::move(body), now));
    co_return route_reply(removed_document(removed));
  };
  return route;
}

ModuleRoute delete_runs_route() {
  ModuleRoute route = checkpointer_route<RunsBody>(
      "runs/delete", "deleteLangGraphRuns",
      "Deletes the checkpoints whose metadata name one of the runs", Permission::run, {"runIds"});
  route.answers = {{200, "The numbers of deleted records", "LangGraphRemoved"}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(CheckpointAccess at, access_of(call));
    BELAY_CO_TRY(RunsBody body, read_body<RunsBody>(call));
    BELAY_CO_TRY(Removed removed, co_await delete_runs(at, std::move(body)));
    co_return route_reply(removed_document(removed));
  };
  return route;
}

}  // namespace

std::vector<ModuleRoute> checkpointer_routes() {
  std::vector<ModuleRoute> routes;
  routes.push_back(put_route());
  routes.push_back(writes_route());
  routes.push_back(part_route());
  routes.push_back(read_part_route());
  routes.push_back(tuple_route());
  routes.push_back(list_route());
  routes.push_back(history_route());
  routes.push_back(delete_thread_route());
  routes.push_back(copy_thread_route());
  routes.push_back(prune_route());
  routes.push_back(delete_runs_route());
  return routes;
}

}  // namespace belay::checkpointer
