// Routes of threads: creation, search, change and deletion.

#include <algorithm>
#include <cmath>

#include "langgraph/records.h"
#include "langgraph/run_changes.h"
#include "langgraph/run_records.h"
#include "langgraph/runs.h"
#include "langgraph/state_update.h"
#include "langgraph/thread_changes.h"
#include "langgraph/thread_copies.h"
#include "langgraph/thread_extract.h"
#include "langgraph/thread_search.h"

namespace belay::langgraph {
namespace {

using server::Call;
using server::Reply;
using server::Route;

constexpr double kTtlMinutesMax = 60.0 * 24 * 366 * 10;

Task<Result<ThreadView>> named_thread(AgentServer& served, const Call& call) {
  ThreadId thread(call.path.at("threadId"));
  co_return co_await find_thread(served.world, call, std::move(thread));
}

Task<Result<Reply>> thread_reply(AgentServer& served, const Call& call, ThreadId thread) {
  BELAY_CO_TRY(ThreadView view, co_await find_thread(served.world, call, std::move(thread)));
  SearchPage whole;
  BELAY_CO_TRY(Value document,
               co_await document_with_state(served, call, std::move(view), std::move(whole)));
  co_return server::reply_with(std::move(document));
}

// Returns the minutes of "ttl": a number, or an object with `ttl` and `strategy`.
Result<std::optional<double>> ttl_in(const Value& body) {
  const Value& ttl = body["ttl"];
  if (ttl.is_null()) return std::optional<double>();
  const Value& strategy = ttl["strategy"];
  if (!strategy.is_null() && strategy != Value("delete")) {
    return error(ErrorCode::invalid, "The only \"strategy\" of a \"ttl\" is delete.");
  }
  auto minutes = ttl.as_object() ? ttl["ttl"].as_double() : ttl.as_double();
  if (minutes && *minutes > 0 && *minutes <= kTtlMinutesMax) return minutes;
  return error(ErrorCode::invalid, "\"ttl\" must be a number of minutes, at most 10 years.");
}

Instant after_minutes(Instant now, double minutes) {
  constexpr double kMicroseconds = 60e6;
  return now + std::chrono::microseconds(std::llround(minutes * kMicroseconds));
}

Result<Value> thread_metadata_in(const Value& body) {
  BELAY_TRY(Value metadata, object_member(body, "metadata"));
  BELAY_CHECK(check_thread_metadata(metadata));
  return metadata;
}

// Reads the body of a creation. The id is set if the body names one.
Result<ThreadRecord> new_record_in(const Value& body, Instant now) {
  ThreadRecord record;
  BELAY_TRY(record.metadata, thread_metadata_in(body));
  BELAY_TRY(record.config, object_member(body, "config"));
  BELAY_TRY(auto minutes, ttl_in(body));
  if (minutes) record.expires = after_minutes(now, *minutes);
  BELAY_TRY(auto id, text_member(body, "thread_id"));
  if (id) {
    auto uuid = uuid_from(*id);
    if (!uuid) return error(ErrorCode::invalid, "\"thread_id\" must be a UUID.");
    record.id = uuid->text();
  }
  record.created_at = record.updated_at = now;
  return record;
}

std::string graph_of_metadata(const Value& metadata) {
  const std::string* graph = metadata["graph_id"].as_string();
  return graph ? *graph : std::string();
}

bool has_updates(const Call& call) {
  const Value::Array* supersteps = call.body["supersteps"].as_array();
  return supersteps && !supersteps->empty();
}

// Two creations at the same time, and one that is sent again after a crash, have the same key:
// their updates are the same runs. Returns false if the client has given the key.
bool set_key_of_creation(Call& call, const ThreadRecord& record, std::size_t updates) {
  if (!call.request.header("Idempotency-Key").empty()) return false;
  // A thread that is created again after its deletion has another time. A later creation with more
  // updates does not continue this one: it finds an existing thread.
  replace_key(call, "create-" + record.id + "-" + to_text(record.created_at) + "-" +
                        std::to_string(updates));
  return true;
}

// Makes the updates on a thread. If the first one is refused, a new thread is erased: the same
// request can be sent again.
Task<Result<Done>> begin_with_updates(AgentServer& served, Call& call, CreatedThread created,
                                      std::vector<StateChange> updates, bool is_new) {
  ThreadId named = created.id;
  auto applied = co_await apply_updates(served, call, std::move(created), std::move(updates));
  if (applied.ok()) co_return Done{};
  // After the others, the run of the first one can exist.
  ErrorCode code = applied.error().code;
  bool is_refused = code != ErrorCode::unavailable && code != ErrorCode::uncertain;
  if (!is_new || !is_refused) co_return std::move(applied);
  auto view = co_await find_thread(served.world, call, std::move(named));
  bool is_first = view.ok() && view->record && !view->listed;
  if (!is_first) co_return std::move(applied);
  (void)co_await erase_thread_record(call, std::move(view->id), std::move(view->user),
                                     view->record_version);
  co_return std::move(applied);
}

Task<Result<Reply>> create_thread(AgentServer& served, Call call) {
  BELAY_CO_TRY(ThreadRecord record, new_record_in(call.body, served.world.parts.clock.now()));
  BELAY_CO_TRY(auto if_exists, text_member(call.body, "if_exists"));
  BELAY_CO_TRY(std::vector<StateChange> updates, superstep_updates_in(call.body));
  bool has_graph = !graph_of_metadata(record.metadata).empty();
  if (!updates.empty() && !has_graph) {
    co_return error(ErrorCode::invalid,
                    "\"supersteps\" need the graph of the thread: \"metadata.graph_id\".");
  }
  bool keeps_existing = if_exists == "do_nothing";
  if (if_exists && !keeps_existing && *if_exists != "raise") {
    co_return error(ErrorCode::invalid, "\"if_exists\" must be raise or do_nothing.");
  }
  if (record.id.empty()) record.id = random_uuid(served.world.parts.random).text();
  ThreadId thread(record.id);
  ThreadId named = thread;
  auto existing = co_await find_thread(served.world, call, std::move(named));
  bool is_absent = !existing.ok() && existing.error().code == ErrorCode::not_found;
  if (!existing.ok() && !is_absent) co_return std::move(existing).error();
  if (existing.ok() && !keeps_existing) {
    co_return error(ErrorCode::conflict, "Thread with ID " + thread.text + " already exists.");
  }
  CreatedThread created{thread, graph_of_metadata(record.metadata)};
  if (is_absent) {
    // `conflict`: a creation at the same time was first. This one is made again, and finds it.
    std::vector<RecordWrite> writes;
    BELAY_CO_CHECK(add_write(writes, record, call.who.user, 0));
    BELAY_CO_CHECK(co_await call.service.save_records(call.who, std::move(writes)));
  } else if (existing->record) {
    record = *existing->record;
  }
  created.has_own_key = set_key_of_creation(call, record, updates.size());
  bool has_work = is_absent ? !updates.empty() : has_updates_left(call, *existing, updates.size());
  if (has_work) {
    BELAY_CO_CHECK(co_await begin_with_updates(served, call, std::move(created), std::move(updates),
                                               is_absent));
  }
  co_return co_await thread_reply(served, call, std::move(thread));
}

Task<Result<Reply>> show_thread(AgentServer& served, Call call) {
  ThreadId thread(call.path.at("threadId"));
  co_return co_await thread_reply(served, call, std::move(thread));
}

Task<Result<Reply>> patch_thread(AgentServer& served, Call call) {
  ThreadSettings changes;
  BELAY_CO_TRY(changes.metadata, thread_metadata_in(call.body));
  BELAY_CO_TRY(auto minutes, ttl_in(call.body));
  if (minutes) changes.expires_at = after_minutes(served.world.parts.clock.now(), *minutes);
  BELAY_CO_TRY(ThreadView view, co_await named_thread(served, call));
  ThreadId thread = view.id;
  BELAY_CO_CHECK(co_await change_thread(served.world, call, std::move(view), std::move(changes)));
  if (call.request.header("Prefer").find("return=minimal") != std::string_view::npos) {
    Reply reply;
    reply.status = 204;
    co_return std::move(reply);
  }
  co_return co_await thread_reply(served, call, std::move(thread));
}

// Returns false if the record was changed since it was read: a run can have been started.
Task<Result<bool>> delete_once(const Call& call, const ThreadView& view) {
  if (view.listed) {
    ThreadId thread = view.id;
    auto deleted = co_await call.service.delete_thread(call.who, std::move(thread));
    // `not_found`: another request has deleted it since the read, and can be stopped before it
    // deletes the rest.
    bool is_deleted = deleted.ok() || deleted.error().code == ErrorCode::not_found;
    if (!is_deleted) co_return std::move(deleted).error();
  }
  // Also without a thread: a crash can have ended the same request after its deletion.
  ThreadId named = view.id;
  UserId owner = view.user;
  BELAY_CO_CHECK(co_await forget_runs(call.service, call.who, std::move(named), std::move(owner)));
  if (!view.record) co_return true;
  std::vector<RecordWrite> writes;
  writes.push_back(record_erasure(ThreadRecord::collection, view.user, view.record->id));
  writes.back().expected_version = view.record_version;
  auto erased = co_await call.service.save_records(call.who, std::move(writes));
  bool is_changed = !erased.ok() && erased.error().code == ErrorCode::conflict;
  if (is_changed) co_return false;
  if (!erased.ok()) co_return std::move(erased).error();
  co_return true;
}

Task<Result<Done>> delete_found_thread(AgentServer& served, const Call& call, ThreadView view) {
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    BELAY_CO_TRY(bool is_deleted, co_await delete_once(call, view));
    if (is_deleted) co_return Done{};
    ThreadId thread = view.id;
    auto now = co_await find_thread(served.world, call, std::move(thread));
    bool is_absent = !now.ok() && now.error().code == ErrorCode::not_found;
    if (is_absent) co_return Done{};
    if (!now.ok()) co_return std::move(now).error();
    // Deleted by another request, and created again.
    bool is_other = now->created_at() != view.created_at();
    if (is_other) co_return Done{};
    view = *std::move(now);
  }
  co_return changed_too_often(view.id);
}

Task<Result<Reply>> remove_thread(AgentServer& served, Call call) {
  auto view = co_await named_thread(served, call);
  if (!view.ok() && view.error().code == ErrorCode::not_found) {
    // As above.
    ThreadId thread(call.path.at("threadId"));
    UserId user = call.who.user;
    BELAY_CO_CHECK(
        co_await forget_runs(call.service, call.who, std::move(thread), std::move(user)));
  }
  if (!view.ok()) co_return std::move(view).error();
  BELAY_CO_CHECK(co_await delete_found_thread(served, call, *std::move(view)));
  Reply reply;
  reply.status = 204;
  co_return std::move(reply);
}

Task<Result<Reply>> prune_threads(AgentServer& served, Call call) {
  BELAY_CO_TRY(auto ids, texts_member(call.body, "thread_ids"));
  BELAY_CO_TRY(auto strategy, text_member(call.body, "strategy"));
  bool keeps_latest = strategy && *strategy == "keep_latest";
  if (strategy && !keeps_latest && *strategy != "delete") {
    co_return error(ErrorCode::invalid, "\"strategy\" must be delete or keep_latest.");
  }
  if (!ids || ids->size() > limits::list_rows_max) {
    co_return error(ErrorCode::invalid, "\"thread_ids\" must name at most " +
                                            std::to_string(limits::list_rows_max) + " threads.");
  }
  std::int64_t pruned = 0;
  for (std::string& id : *ids) {
    BELAY_CO_CHECK(check_name("thread_ids", id));
    ThreadId thread(std::move(id));
    auto view = co_await find_thread(served.world, call, std::move(thread));
    if (!view.ok() && view.error().code == ErrorCode::not_found) continue;
    if (!view.ok()) co_return std::move(view).error();
    if (keeps_latest) {
      BELAY_CO_CHECK(co_await delete_earlier_runs(call, *std::move(view)));
    } else {
      BELAY_CO_CHECK(co_await delete_found_thread(served, call, *std::move(view)));
    }
    ++pruned;
  }
  co_return server::reply_with(Value::object({{"pruned_count", pruned}}));
}

Value with_extracted(const Extract& wanted, const SearchPage& page, Value document) {
  if (wanted.empty()) return document;
  Value values = extracted(wanted, document);
  document = selected(page, std::move(document));
  document.as_object()->insert_or_assign("extracted", std::move(values));
  return document;
}

Task<Result<Reply>> search_threads(AgentServer& served, Call call) {
  BELAY_CO_TRY(SearchPage page,
               search_page_in(call.body, {"created_at", "updated_at", "state_updated_at", "status",
                                          "thread_id"}));
  BELAY_CO_TRY(Extract extract, extract_in(call.body));
  BELAY_CO_TRY(std::vector<ThreadView> threads, co_await matching_threads(served, call));
  sort_threads(threads, page);
  PageSlice slice = slice_of(page, threads.size());
  Value::Array documents;
  for (std::size_t i = slice.begin; i < slice.end; ++i) {
    SearchPage form = page;
    // A path can lead to a member that is not selected.
    if (!extract.empty()) form.select.clear();
    BELAY_CO_TRY(Value document, co_await document_with_state(served, call, std::move(threads[i]),
                                                              std::move(form)));
    documents.push_back(with_extracted(extract, page, std::move(document)));
  }
  co_return page_reply(page, threads.size(), std::move(documents));
}

Task<Result<Reply>> count_threads(AgentServer& served, Call call) {
  BELAY_CO_TRY(std::vector<ThreadView> threads, co_await matching_threads(served, call));
  co_return server::reply_with(Value(static_cast<std::uint64_t>(threads.size())));
}

Value thread_members() {
  Value text = Value::object({{"type", "string"}});
  Value object = Value::object({{"type", "object"}});
  return Value::object({{"thread_id", text},
                        {"metadata", std::move(object)},
                        {"if_exists", std::move(text)},
                        {"ttl", Value(Value::Object{})}});
}

Value thread_search_members() {
  Value object = Value::object({{"type", "object"}});
  return search_properties({{"metadata", object},
                            {"values", std::move(object)},
                            {"status", Value::object({{"type", "string"}})},
                            {"ids", Value::object({{"type", "array"}})}});
}

Route thread_route(const AgentServerPointer& served, std::string method, std::string path,
                   std::string id, std::string summary, Answer answer) {
  Route route =
      protocol_route(std::move(method), std::move(path), std::move(id), std::move(summary));
  if (route.method != "GET") route.permission = Permission::run;
  route.answers = {{200, "Done"}};
  route.handle = route.method == "PATCH" ? changing(served, answer) : answering(served, answer);
  return route;
}

}  // namespace

std::vector<Route> thread_routes(const AgentServerPointer& served) {
  const std::string one = "/threads/{threadId}";
  std::vector<Route> routes;
  auto add = [&](const char* method, const std::string& path, const char* id, const char* summary,
                 Answer answer) -> Route& {
    routes.push_back(thread_route(served, method, path, id, summary, answer));
    return routes.back();
  };
  Route& creation =
      add("POST", "/threads", "agentServerCreateThread", "Creation of a thread", create_thread);
  creation.handle = changing(served, create_thread);
  creation.begins_run_by = has_updates;
  Value members = thread_members();
  members.as_object()->emplace("supersteps", Value::object({{"type", "array"}}));
  accept_body(creation, std::move(members));
  Route& search = add("POST", "/threads/search", "agentServerSearchThreads",
                      "A page of the threads of the caller", search_threads);
  search.permission = Permission::read;
  Value search_members = thread_search_members();
  search_members.as_object()->emplace("extract", Value::object({{"type", "object"}}));
  accept_body(search, std::move(search_members));
  Route& count = add("POST", "/threads/count", "agentServerCountThreads",
                     "The number of threads of the caller", count_threads);
  count.permission = Permission::read;
  accept_body(count, thread_search_members());
  accept_body(add("POST", "/threads/prune", "agentServerPruneThreads",
                  "Deletion of threads, whose runs must have ended", prune_threads),
              Value::object({{"thread_ids", Value::object({{"type", "array"}})},
                             {"strategy", Value::object({{"type", "string"}})}}));
  add("GET", one, "agentServerGetThread", "A thread with the state of its current run",
      show_thread);
  accept_body(
      add("PATCH", one, "agentServerUpdateThread", "Change of metadata and expiry", patch_thread),
      thread_members());
  add("DELETE", one, "agentServerDeleteThread",
      "Deletion of a thread with its runs, which must have ended", remove_thread)
      .answers = {{204, "Deleted"}};
  Route& copy = add("POST", one + "/copy", "agentServerCopyThread",
                    "A new thread with a copy of the current run", copy_thread);
  copy.begins_run = true;
  copy.parameters.push_back(
      server::idempotency_key_parameter("The same request with the same key makes one copy."));
  accept_body(copy);
  return routes;
}

}  // namespace belay::langgraph
