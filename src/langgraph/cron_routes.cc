// Routes of crons: creation, search, change and deletion.

#include <algorithm>

#include "langgraph/assistants.h"
#include "langgraph/cron_body.h"
#include "langgraph/cron_records.h"
#include "langgraph/errors.h"
#include "langgraph/search.h"
#include "langgraph/threads.h"

namespace belay::langgraph {
namespace {

using server::Call;
using server::Reply;
using server::Route;

// The assistant of a cron, which a change of the configuration needs; one without a configuration
// if it was deleted.
Task<Result<Assistant>> assistant_of_cron(AgentServer& served, const Call& call,
                                          const CronRecord& record) {
  std::string id = record.assistant_id;
  auto found = co_await find_assistant(served.world, call, std::move(id));
  bool is_deleted = !found.ok() && found.error().code == ErrorCode::not_found;
  if (!is_deleted) co_return std::move(found);
  if (changes_configuration(call.body)) {
    co_return error(ErrorCode::conflict,
                    "The assistant of the cron was deleted: \"config\" and \"context\" cannot be "
                    "changed. Create another cron.");
  }
  Assistant remaining;
  remaining.id = record.assistant_id;
  remaining.graph_id = record.graph_id;
  co_return std::move(remaining);
}

Result<Done> check_deletion(const CronRecord& record) {
  if (!record.deletes_threads || record.thread_id.empty()) return Done{};
  return error(ErrorCode::invalid,
               "\"on_run_completed\" must be keep for the crons of a thread: each run needs it.");
}

// Creates a cron; of the thread unless that is empty.
Task<Result<Reply>> create_cron_of(AgentServer& served, const Call& call, ThreadId thread) {
  CronRecord record;
  BELAY_CO_TRY(auto named, text_member(call.body, "assistant_id"));
  if (!named || named->empty()) co_return error(ErrorCode::invalid, "\"assistant_id\" is missing.");
  BELAY_CO_TRY(record.metadata, object_member(call.body, "metadata"));
  BELAY_CO_TRY(Assistant assistant, co_await find_assistant(served.world, call, *std::move(named)));
  std::string graph = assistant.graph_id;
  BELAY_CO_TRY(Value agent, co_await agent_named(call, std::move(graph)));
  record.payload = cron_payload(call.body);
  UserId user = call.who.user;
  if (!thread.empty()) {
    BELAY_CO_TRY(ThreadView view, co_await find_thread(served.world, call, std::move(thread)));
    bool is_of_other_graph = view.listed && view.listed->thread.graph != assistant.graph_id;
    if (is_of_other_graph) {
      co_return error(ErrorCode::invalid, "Thread " + view.id.text + " belongs to the graph \"" +
                                              view.listed->thread.graph + "\".");
    }
    user = view.user;  // an administrator can add a cron to the thread of another user
    record.thread_id = view.id.text;
  }
  CronRequest wanted{assistant, agent, call.body, record.payload, user, &call.request.headers};
  BELAY_CO_TRY(ScheduleChange change, schedule_change_in(served, wanted));
  BELAY_CO_TRY(auto deletes, deletes_threads_in(call.body));
  record.deletes_threads = deletes.value_or(false);
  if (!change.expression) co_return error(ErrorCode::invalid, "\"schedule\" is missing.");
  if (!change.overlap) change.overlap = name_of(Overlap::allow);  // enqueue
  if (!record.thread_id.empty()) change.thread = record.thread_id;
  BELAY_CO_TRY(record.id, new_cron_id(served, call));
  record.assistant_id = assistant.id;
  record.graph_id = assistant.graph_id;
  record.created_at = record.updated_at = served.world.parts.clock.now();
  bool enabled = !change.paused.value_or(false);
  BELAY_CO_CHECK(check_deletion(record));
  BELAY_CO_TRY(Cron cron, co_await add_cron(served, call, std::move(user), std::move(record),
                                            std::move(change), enabled));
  co_return server::reply_with(cron_document(cron));
}

Task<Result<Reply>> create_cron(AgentServer& served, Call call) {
  ThreadId none;
  co_return co_await create_cron_of(served, call, std::move(none));
}

Task<Result<Reply>> create_cron_on_thread(AgentServer& served, Call call) {
  ThreadId thread(call.path.at("threadId"));
  co_return co_await create_cron_of(served, call, std::move(thread));
}

Task<Result<Reply>> update_cron(AgentServer& served, Call call) {
  std::string id = call.path.at("cronId");
  UserId user = call.who.user;
  BELAY_CO_TRY(Cron cron, co_await find_cron(call, std::move(user), std::move(id)));
  BELAY_CO_TRY(Value metadata, object_member(call.body, "metadata"));
  BELAY_CO_TRY(auto assistant, text_member(call.body, "assistant_id"));
  bool is_other = assistant && *assistant != cron.record.assistant_id;
  if (is_other) {
    co_return error(ErrorCode::invalid,
                    "The \"assistant_id\" of a cron cannot be changed. Create another cron.");
  }
  std::string graph = cron.record.graph_id;
  BELAY_CO_TRY(Value agent, co_await agent_named(call, std::move(graph)));
  const std::vector<http::Header> headers = configured_headers(cron, call.body);
  Value payload = changed_payload(std::move(cron.record.payload), call.body);
  BELAY_CO_TRY(Assistant of, co_await assistant_of_cron(served, call, cron.record));
  const UserId owner(cron.view.schedule.user);
  const std::vector<http::Header>* kept = changes_configuration(call.body) ? &headers : nullptr;
  CronRequest wanted{of, agent, call.body, payload, owner, kept, cron.view.schedule.zone};
  BELAY_CO_TRY(ScheduleChange change, schedule_change_in(served, wanted));
  BELAY_CO_TRY(auto deletes, deletes_threads_in(call.body));
  if (deletes) cron.record.deletes_threads = *deletes;
  cron.record.payload = std::move(payload);
  BELAY_CO_CHECK(check_deletion(cron.record));
  Value::Object& members = *cron.record.metadata.as_object();
  for (auto& [name, value] : *metadata.as_object()) members.insert_or_assign(name, value);
  cron.record.updated_at = served.world.parts.clock.now();
  BELAY_CO_TRY(Cron changed,
               co_await change_cron(served, call, std::move(cron), std::move(change)));
  co_return server::reply_with(cron_document(changed));
}

Task<Result<Reply>> remove_cron(AgentServer& served, Call call) {
  std::string id = call.path.at("cronId");
  UserId user = call.who.user;
  BELAY_CO_CHECK(co_await delete_cron(served, call, std::move(user), std::move(id)));
  Reply reply;
  reply.status = 204;
  co_return std::move(reply);
}

struct CronFilter {
  std::string assistant_id, thread_id;  // empty: any
  std::optional<bool> enabled;
  Value metadata;
};

Result<CronFilter> cron_filter_in(const Value& body) {
  CronFilter filter;
  BELAY_TRY(auto assistant, text_member(body, "assistant_id"));
  BELAY_TRY(auto thread, text_member(body, "thread_id"));
  BELAY_TRY(filter.enabled, bool_member(body, "enabled"));
  BELAY_TRY(filter.metadata, object_member(body, "metadata"));
  filter.assistant_id = std::move(assistant).value_or("");
  filter.thread_id = std::move(thread).value_or("");
  return filter;
}

bool fits_filter(const Cron& cron, const CronFilter& filter) {
  const CronRecord& record = cron.record;
  bool is_of_assistant = filter.assistant_id.empty() ||
                         record.assistant_id == filter.assistant_id ||
                         record.graph_id == filter.assistant_id;
  bool is_of_thread = filter.thread_id.empty() || record.thread_id == filter.thread_id;
  bool is_enabled = !filter.enabled || *filter.enabled != cron.view.schedule.paused;
  return is_of_assistant && is_of_thread && is_enabled &&
         contains_value(record.metadata, filter.metadata);
}

Task<Result<std::vector<Cron>>> matching_crons(const Call& call) {
  BELAY_CO_TRY(CronFilter filter, cron_filter_in(call.body));
  BELAY_CO_TRY(std::vector<Cron> crons, co_await all_crons(call));
  std::erase_if(crons, [&filter](const Cron& each) { return !fits_filter(each, filter); });
  co_return std::move(crons);
}

// The text by which a search sorts; ids make the order of equal ones definite.
std::pair<std::string, std::string> cron_sort_key(const Value& document, std::string_view by) {
  const std::string* text = document[by].as_string();
  return {text ? *text : std::string(), *document["cron_id"].as_string()};
}

Task<Result<Reply>> search_crons(AgentServer&, Call call) {
  BELAY_CO_TRY(SearchPage page,
               search_page_in(call.body, {"created_at", "updated_at", "next_run_date", "end_time",
                                          "assistant_id", "thread_id", "cron_id"}));
  BELAY_CO_TRY(std::vector<Cron> crons, co_await matching_crons(call));
  Value::Array all;
  for (const Cron& each : crons) all.push_back(cron_document(each));
  std::sort(all.begin(), all.end(), [&page](const Value& a, const Value& b) {
    auto one = cron_sort_key(a, page.sort_by), other = cron_sort_key(b, page.sort_by);
    return page.is_descending ? other < one : one < other;
  });
  PageSlice slice = slice_of(page, all.size());
  Value::Array documents;
  for (std::size_t i = slice.begin; i < slice.end; ++i) {
    documents.push_back(selected(page, std::move(all[i])));
  }
  co_return page_reply(page, all.size(), std::move(documents));
}

Task<Result<Reply>> count_crons(AgentServer&, Call call) {
  BELAY_CO_TRY(std::vector<Cron> crons, co_await matching_crons(call));
  co_return server::reply_with(Value(static_cast<std::uint64_t>(crons.size())));
}

Value cron_members() {
  Value text = Value::object({{"type", "string"}});
  Value object = Value::object({{"type", "object"}});
  return Value::object({{"assistant_id", text},
                        {"schedule", text},
                        {"timezone", text},
                        {"enabled", Value::object({{"type", "boolean"}})},
                        {"on_run_completed", text},
                        {"end_time", text},
                        {"webhook", text},
                        {"multitask_strategy", std::move(text)},
                        {"interrupt_before", Value(Value::Object{})},
                        {"interrupt_after", Value(Value::Object{})},
                        {"input", object},
                        {"config", object},
                        {"context", object},
                        {"metadata", std::move(object)}});
}

Value cron_filter_members() {
  Value text = Value::object({{"type", "string"}});
  return search_properties({{"assistant_id", text},
                            {"thread_id", std::move(text)},
                            {"enabled", Value::object({{"type", "boolean"}})},
                            {"metadata", Value::object({{"type", "object"}})}});
}

}  // namespace

std::vector<Route> cron_routes(const AgentServerPointer& served) {
  const std::string all = "/runs/crons";
  std::vector<Route> routes;
  auto add = [&](const char* method, const std::string& path, const char* id, const char* summary,
                 Answer answer) -> Route& {
    Route route = protocol_route(method, path, id, summary);
    route.permission = Permission::run;
    route.answers = {{200, "Done"}};
    bool is_change =
        route.method == "PATCH" || answer == create_cron || answer == create_cron_on_thread;
    route.handle = is_change ? changing(served, answer) : answering(served, answer);
    routes.push_back(std::move(route));
    return routes.back();
  };
  accept_body(
      add("POST", all, "agentServerCreateCron",
          "Runs of an assistant at the ticks of a schedule, each in a new thread", create_cron),
      cron_members());
  accept_body(add("POST", "/threads/{threadId}" + all, "agentServerCreateThreadCron",
                  "Runs of a thread at the ticks of a schedule", create_cron_on_thread),
              cron_members());
  for (Route& route : routes) {
    route.parameters.push_back(
        server::idempotency_key_parameter("The same request with the same key makes one cron."));
  }
  Route& search = add("POST", all + "/search", "agentServerSearchCrons",
                      "A page of the crons of the caller", search_crons);
  search.permission = Permission::read;
  accept_body(search, cron_filter_members());
  Route& count = add("POST", all + "/count", "agentServerCountCrons",
                     "The number of crons of the caller", count_crons);
  count.permission = Permission::read;
  accept_body(count, cron_filter_members());
  accept_body(add("PATCH", all + "/{cronId}", "agentServerUpdateCron",
                  "Change of a cron; omitted members remain unchanged", update_cron),
              cron_members());
  add("DELETE", all + "/{cronId}", "agentServerDeleteCron", "Deletion of a cron; its runs continue",
      remove_cron)
      .answers = {{204, "Deleted"}};
  return routes;
}

}  // namespace belay::langgraph
