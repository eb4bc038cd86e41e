// A2aEndpoint: reads and cancels tasks, and opens their streams.

#include "a2a/a2a_endpoint.h"

#include <algorithm>
#include <iterator>

#include "a2a/agent_card.h"
#include "a2a/task_stream.h"
#include "server/heartbeat.h"

namespace belay::a2a {
namespace {

using server::Call;
using server::Reply;

constexpr int kNotFound = 404;
constexpr std::size_t kTagDigits = 32;
// Thousands of clients might wait for paused tasks: poll less often.
constexpr std::chrono::milliseconds kIdlePoll{5'000};

bool is_host(std::string_view text) {
  auto is_allowed = [](char c) {
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') ||
           std::string_view(".-:[]").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_allowed);
}

Result<std::optional<EventId>> last_event_of(const Call& call) {
  std::string_view text = call.request.header("Last-Event-ID");
  if (text.empty()) return std::optional<EventId>();
  auto id = event_id_from(text);
  if (!id) return error(ErrorCode::invalid, "Last-Event-ID is not the id of an event: \"12-3\".");
  return id;
}

// A card, or 304 for a client that has it. Cards contain nothing about persons: the client can keep
// them for a short time.
Reply card_reply(const Call& call, Value card) {
  std::string tag = "\"" + to_hex(sha256(to_json(card))).substr(0, kTagDigits) + "\"";
  Reply reply = server::reply_with(std::move(card));
  reply.headers.push_back({"Cache-Control", "private, max-age=60"});
  server::set_tag(call, std::move(tag), reply);
  return reply;
}

}  // namespace

A2aEndpoint::A2aEndpoint(server::ApiContext& world, A2aOptions options)
    : world_(world), options_(std::move(options)) {
  if (!options_.http) return;
  delivery_ = std::make_unique<PushDelivery>(world_, options_.conversations, options_.http);
}

void A2aEndpoint::start_delivery() {
  if (delivery_) delivery_->start();
}

Task<Reply> A2aEndpoint::answer(Call call, A2aRequest request) {
  auto agents = co_await call.service.agents(call.who);
  if (!agents.ok()) co_return fault_reply(request.id, failure_of(agents.error()));
  const Value* agent = find_agent(**agents, request.agent);
  if (!agent) {
    Failure unknown{Fault::invalid_params, "Unknown agent.", kNotFound};
    co_return fault_reply(request.id, unknown);
  }
  // Each principal has its tenant: a request cannot choose another one.
  const Value& tenant = request.params["tenant"];
  bool is_own = tenant.is_null() || tenant == Value("") || tenant == Value(call.who.tenant.text);
  if (!is_own) {
    Failure unknown{Fault::invalid_params, "Unknown tenant."};
    co_return fault_reply(request.id, unknown);
  }
  const std::string& method = request.method;
  if (method == "SendMessage" || method == "SendStreamingMessage") {
    co_return co_await send(call, request, *agent);
  }
  if (method == "GetTask") co_return co_await get(call, request);
  if (method == "ListTasks") co_return co_await list(call, request);
  if (method == "CancelTask") co_return co_await cancel(call, request);
  if (method == "SubscribeToTask") co_return co_await subscribe(call, request);
  if (method.find("TaskPushNotificationConfig") != method.npos) {
    co_return co_await push_config(call, request);
  }
  Failure refused{Fault::unknown_method, "Unknown method."};
  if (method == "GetExtendedAgentCard") {
    refused = {Fault::unsupported, "This server has no extended cards."};
  }
  co_return fault_reply(request.id, refused);
}

Task<Result<Reply>> A2aEndpoint::card(Call call, std::string agent) {
  CardParts parts;
  std::string_view host = call.request.header("Host");
  std::string scheme = options_.has_tls ? "https://" : "http://";
  parts.base_url = scheme + (is_host(host) ? std::string(host) : "localhost");
  if (!options_.public_url.empty()) parts.base_url = options_.public_url;
  parts.version = world_.options.version;
  parts.has_keys = !world_.options.keys.empty();
  parts.sends_notifications = delivery_ != nullptr;
  parts.default_agent = options_.default_agent;
  BELAY_CO_TRY(AgentDocuments agents, co_await call.service.agents(call.who));
  if (agent.empty()) co_return card_reply(call, server_card(*agents, parts));
  const Value* found = find_agent(*agents, agent);
  if (!found) co_return error(ErrorCode::not_found, "Unknown agent \"" + agent + "\".");
  co_return card_reply(call, agent_card(*found, parts));
}

// Returns the run of a task of this agent. One of another user is answered like one that does not
// exist.
Task<A2aEndpoint::Outcome<RunRow>> A2aEndpoint::run_of(Call& call, std::string task,
                                                       std::string agent) {
  auto id = uuid_from(task);
  if (!id) co_return unknown_task();
  auto row = co_await call.service.run(call.who, RunId(*id));
  if (!row.ok()) co_return failure_of(row.error());
  if (row->graph != agent) co_return unknown_task();
  co_return *std::move(row);
}

Task<A2aEndpoint::Outcome<RunView>> A2aEndpoint::view_of(Call& call, const A2aRequest& request) {
  std::string id;
  if (auto failure = required_text(request.params, "id", id)) co_return *std::move(failure);
  std::string agent = request.agent;
  auto found = co_await run_of(call, std::move(id), std::move(agent));
  if (auto* failure = std::get_if<Failure>(&found)) co_return std::move(*failure);
  const RunRow& row = std::get<RunRow>(found);
  ThreadId thread = row.thread;
  auto view = co_await call.service.status(call.who, std::move(thread), std::nullopt, row.run);
  if (!view.ok()) co_return failure_of(view.error());
  co_return *std::move(view);
}

Task<Reply> A2aEndpoint::get(Call& call, const A2aRequest& request) {
  TaskForm form{options_.conversations};
  if (auto failure = read_history_length(request.params, form.history_length)) {
    co_return fault_reply(request.id, *failure);
  }
  auto found = co_await view_of(call, request);
  if (auto* failure = std::get_if<Failure>(&found)) co_return fault_reply(request.id, *failure);
  co_return result_reply(request.id, task_of(std::get<RunView>(found), form));
}

// Returns the runs of the agent that have the context and the status.
Task<Result<std::vector<RunRow>>> A2aEndpoint::listed_runs(Call& call, const TaskQuery& query) {
  RunPage page;
  page.limit = limits::list_rows_max;
  page.statuses = query.statuses;
  if (!query.context.empty()) page.thread = ThreadId(query.context);
  std::vector<RunRow> found;
  std::size_t count = 0;
  while (true) {
    RunPage wanted = page;
    BELAY_CO_TRY(std::vector<RunRow> rows, co_await call.service.runs(call.who, std::move(wanted)));
    count += rows.size();
    if (count > options_.listed_max) {
      co_return error(ErrorCode::invalid, "The list covers more than " +
                                              std::to_string(options_.listed_max) +
                                              " runs. Name a contextId or a status.");
    }
    bool is_last = rows.size() < page.limit;
    if (!is_last) page.before = rows.back().run;
    std::erase_if(rows, [&query](const RunRow& row) { return row.graph != query.agent; });
    std::move(rows.begin(), rows.end(), std::back_inserter(found));
    if (is_last) co_return std::move(found);
  }
}

Task<Reply> A2aEndpoint::list(Call& call, const A2aRequest& request) {
  TaskQuery query;
  if (auto failure = read_query(request.params, query)) co_return fault_reply(request.id, *failure);
  query.agent = request.agent;
  Result<std::vector<RunRow>> rows = std::vector<RunRow>();
  if (query.can_match) rows = co_await listed_runs(call, query);
  // A context of another user has no tasks for this one.
  bool is_absent = !rows.ok() && rows.error().code == ErrorCode::not_found;
  if (is_absent) rows = std::vector<RunRow>();
  if (!rows.ok()) co_return fault_reply(request.id, failure_of(rows.error()));
  TaskPage selected = select_tasks(*std::move(rows), query);
  TaskForm form{options_.conversations, query.history_length, query.has_artifacts};
  Value::Array tasks;
  for (const RunRow& row : selected.rows) {
    ThreadId thread = row.thread;
    auto view = co_await call.service.status(call.who, std::move(thread), std::nullopt, row.run);
    if (view.ok()) tasks.push_back(task_of(*view, form));
    // The run can have been deleted meanwhile.
    bool has_failed = !view.ok() && view.error().code != ErrorCode::not_found;
    if (has_failed) co_return fault_reply(request.id, failure_of(view.error()));
  }
  co_return result_reply(request.id, Value::object({{"tasks", std::move(tasks)},
                                                    {"nextPageToken", selected.next},
                                                    {"pageSize", query.page_size},
                                                    {"totalSize", selected.count}}));
}

Task<Reply> A2aEndpoint::cancel(Call& call, const A2aRequest& request) {
  if (call.who.permission < Permission::run) {
    co_return fault_reply(request.id, lacks(Permission::run));
  }
  auto found = co_await view_of(call, request);
  if (auto* failure = std::get_if<Failure>(&found)) co_return fault_reply(request.id, *failure);
  const RunRow& row = std::get<RunView>(found).row;
  Failure ended{Fault::not_cancelable, "The task has ended."};
  if (is_final(row.status)) co_return fault_reply(request.id, ended);
  ThreadId thread = row.thread;
  std::string by = call.who.user.text;
  std::string on_behalf_of;
  auto view = co_await call.service.cancel(call.who, std::move(thread), std::move(by),
                                           std::move(on_behalf_of), row.run);
  // The run can have ended meanwhile.
  bool has_ended = !view.ok() && view.error().code == ErrorCode::conflict;
  if (has_ended) co_return fault_reply(request.id, ended);
  if (!view.ok()) co_return fault_reply(request.id, failure_of(view.error()));
  TaskForm form{options_.conversations};
  co_return result_reply(request.id, task_of(*view, form));
}

Task<Reply> A2aEndpoint::subscribe(Call& call, const A2aRequest& request) {
  auto after = last_event_of(call);
  if (!after.ok()) co_return fault_reply(request.id, failure_of(after.error()));
  auto found = co_await view_of(call, request);
  if (auto* failure = std::get_if<Failure>(&found)) co_return fault_reply(request.id, *failure);
  RunView view = std::get<RunView>(std::move(found));
  // The rest of a stream that was interrupted is available after the end, too.
  if (!*after && is_terminal(view.row)) {
    Failure ended{Fault::unsupported, "The task has ended: GetTask returns its result."};
    co_return fault_reply(request.id, ended);
  }
  TaskForm form{options_.conversations};
  co_return co_await stream_of(call, request.id, std::move(view), form, *after, false);
}

// Returns the responses after an event, or from the current state on.
Task<Reply> A2aEndpoint::stream_of(Call& call, const Value& id, RunView view, const TaskForm& form,
                                   std::optional<EventId> after, bool ends_with_pause) {
  std::optional<Value> task;
  if (!after) task = task_of(view, form);
  bool has_ended = is_terminal(view.row) || (ends_with_pause && requires_input(view.row));
  std::unique_ptr<EventReader> reader;
  if (after || !has_ended) {
    EventOptions options;
    options.after = after ? *after : after_commit(view.row.seq);
    options.poll_max = kIdlePoll;
    auto opened =
        co_await streamed_events(call.service, call.who, view.row, std::move(options), !after);
    if (!opened.ok()) co_return fault_reply(id, failure_of(opened.error()));
    reader = *std::move(opened);
  }
  StreamedTask streamed{call.service, options_.conversations, call.who, id,
                        view.row,     ends_with_pause};
  auto events =
      std::make_unique<TaskStream>(std::move(streamed), std::move(task), std::move(reader));
  Reply reply;
  reply.headers = server::event_stream_headers();
  reply.stream = std::make_unique<server::HeartbeatStream>(world_.parts.executor, std::move(events),
                                                           world_.options.heartbeat);
  co_return std::move(reply);
}

}  // namespace belay::a2a
