// A2aEndpoint: messages of clients, which start runs and answer approvals.

#include <algorithm>

#include "a2a/a2a_answer.h"
#include "a2a/a2a_endpoint.h"
#include "a2a/a2a_task.h"
#include "conversation/interrupt_id.h"
#include "conversation/question_id.h"

namespace belay::a2a {
namespace {

using conversation::ChatEntry;
using server::Call;
using server::Reply;

// The poll interval for a task that sleeps.
constexpr std::chrono::milliseconds kNap{500};

// Names a message among those of its sender.
std::string key_of(std::string_view agent, std::string_view task, const std::string& message) {
  std::string named = std::string(agent) + '\n' + std::string(task) + '\n' + message;
  return "a2a-" + to_hex(sha256(named));
}

Result<Value> input_of(const Value& agent, const conversation::Conversations& conversations,
                       const SentMessage& message, const std::string& name) {
  if (message.data) {
    if (message.data->as_object()) return *message.data;
    return error(ErrorCode::invalid, "Data that starts a task must be an object.");
  }
  ChatEntry entry;
  entry.id = message.id;
  entry.author = conversation::Author::person;
  entry.text = message.text;
  std::vector<ChatEntry> entries{std::move(entry)};
  return conversations.input_of(name, agent, entries);
}

// The value of a reply: data, in which the approval can be named, or a text.
Value reply_value(const SentMessage& message) {
  if (!message.data) return Value(message.text);
  Value reply = *message.data;
  if (Value::Object* members = reply.as_object()) members->erase("interrupt");
  return reply;
}

// Returns the approval that the message answers: the named one, or the only one.
std::variant<InterruptId, Failure> chosen_approval(const RunView& view,
                                                   const SentMessage& message) {
  Failure refused{Fault::unsupported, "The task does not wait for input."};
  if (is_terminal(view.row)) refused.text = "The task has ended: it accepts no messages.";
  if (waits_at_breakpoint(view.row)) refused.text = kBreakpointText;
  if (view.approvals.empty()) return refused;
  if (message.interrupt.empty() && view.approvals.size() == 1) {
    return view.approvals.front().interrupt;
  }
  std::string all;
  for (const ApprovalRow& row : view.approvals) {
    if (row.interrupt.text() == message.interrupt) return row.interrupt;
    all += (all.empty() ? "" : ", ") + row.interrupt.text();
  }
  std::string text = "The task waits for several decisions. Name one as \"interrupt\": " + all;
  if (!message.interrupt.empty()) text = "This approval is not open. Open: " + all;
  return Failure{Fault::invalid_params, text + "."};
}

bool is_at_rest(const RunRow& run) { return is_terminal(run) || requires_input(run); }

// The failure of a start in a context. The caller does not see one of another user.
Task<Failure> failure_of_start(const Call& call, ThreadId context, Error failed) {
  Failure refused = failure_of(failed);
  if (context.empty() || failed.code != ErrorCode::conflict) co_return std::move(refused);
  bool is_hidden = co_await server::is_hidden_thread(call, std::move(context));
  if (is_hidden) refused.text = "This contextId cannot be used.";
  co_return std::move(refused);
}

}  // namespace

Task<bool> finds_task(const Call& call) {
  const std::string* message = call.body["params"]["message"]["messageId"].as_string();
  const std::string* context = call.body["params"]["message"]["contextId"].as_string();
  server::StartNames names;
  names.agent = call.path.at("agent");
  names.user = call.who.user;
  if (context) names.thread = ThreadId(*context);
  if (message) names.key = key_of(names.agent, "", *message);
  return server::finds_run_of(call, std::move(names));
}

Task<Reply> A2aEndpoint::send(Call& call, const A2aRequest& request, const Value& agent) {
  if (call.who.permission < Permission::run) {
    co_return fault_reply(request.id, lacks(Permission::run));
  }
  SentMessage message;
  if (auto failure = read_sent(request.params, message)) {
    co_return fault_reply(request.id, *failure);
  }
  if (auto failure = check_config(message)) co_return fault_reply(request.id, *failure);
  bool streams = request.method == "SendStreamingMessage";
  message.returns_immediately = message.returns_immediately || streams;
  TaskForm form{options_.conversations, message.history_length};
  Outcome<RunView> outcome = Failure();
  if (message.task.empty()) {
    outcome = co_await start(call, request, agent, std::move(message));
  } else {
    outcome = co_await reply_to_approval(call, request, std::move(message));
  }
  if (auto* failure = std::get_if<Failure>(&outcome)) co_return fault_reply(request.id, *failure);
  RunView view = std::get<RunView>(std::move(outcome));
  if (streams) {
    co_return co_await stream_of(call, request.id, std::move(view), form, std::nullopt, true);
  }
  co_return result_reply(request.id, Value::object({{"task", task_of(view, form)}}));
}

// Returns the reason if the push notification config of a message is not acceptable.
std::optional<Failure> A2aEndpoint::check_config(const SentMessage& message) const {
  if (message.push.is_null()) return std::nullopt;
  if (!delivery_) return no_notifications();
  A2aPush push;
  std::string task;
  if (auto failure = read_push(message.push, push)) return failure;
  if (auto failure = read_text(message.push, "taskId", task)) return failure;
  if (task.empty() || task == message.task) return std::nullopt;
  return Failure{Fault::invalid_params, "The config names another task."};
}

// Adds the config of a message.
Task<std::optional<Failure>> A2aEndpoint::add_sent_config(const Call& call, RunId run,
                                                          Value config) {
  if (config.is_null()) co_return std::nullopt;
  A2aPush push;
  if (auto failure = read_push(config, push)) co_return failure;
  co_return co_await add_config(call, run, std::move(push));
}

Task<A2aEndpoint::Outcome<RunView>> A2aEndpoint::start(Call& call, const A2aRequest& request,
                                                       const Value& agent, SentMessage message) {
  StartRun wanted;
  wanted.agent = request.agent;
  auto input = input_of(agent, options_.conversations, message, request.agent);
  if (!input.ok()) co_return failure_of(input.error());
  wanted.input = *std::move(input);
  wanted.run.configuration = conversation::with_question_id("", message.id);
  wanted.user = call.who.user;
  // A task of a busy context waits for the earlier ones.
  wanted.if_busy = BusyThread::enqueue;
  if (!message.context.empty()) {
    auto named = check_name("contextId", message.context);
    if (!named.ok()) co_return failure_of(named.error());
    wanted.thread = ThreadId(message.context);
  }
  // The only header that the start of a run reads here: other ones are those of other protocols.
  std::string key = key_of(request.agent, "", message.id);
  call.request.headers.assign(1, http::Header{"Idempotency-Key", std::move(key)});
  server::Patience patience;
  if (!message.returns_immediately) patience.limit = options_.answer_within;
  Instant until = world_.parts.clock.now() + patience.limit;
  // The config must exist before the wait: this server can be stopped during it.
  if (!message.push.is_null()) patience.limit = std::chrono::milliseconds(0);
  ThreadId context = wanted.thread;
  auto view = co_await server::begun_run(world_, call, std::move(wanted), patience);
  if (!view.ok()) {
    Error failed = std::move(view).error();
    co_return co_await failure_of_start(call, std::move(context), std::move(failed));
  }
  auto refused = co_await add_sent_config(call, view->row.run, std::move(message.push));
  if (refused) co_return *std::move(refused);
  view = co_await rested(call, *std::move(view), until);
  if (!view.ok()) co_return failure_of(view.error());
  co_return *std::move(view);
}

// A run that sleeps is paused for others, and its task is not.
Task<Result<RunView>> A2aEndpoint::rested(Call& call, RunView view, Instant until) {
  while (!is_at_rest(view.row)) {
    Instant now = world_.parts.clock.now();
    if (now >= until) break;
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - now);
    co_await sleep_for(std::clamp(left, std::chrono::milliseconds(1), kNap));
    ThreadId thread = view.row.thread;
    RunId run = view.row.run;
    BELAY_CO_TRY(view,
                 co_await call.service.status(call.who, std::move(thread), std::nullopt, run));
  }
  co_return std::move(view);
}

Task<A2aEndpoint::Outcome<RunView>> A2aEndpoint::reply_to_approval(Call& call,
                                                                   const A2aRequest& request,
                                                                   SentMessage message) {
  std::string task = message.task;
  std::string agent = request.agent;
  auto found = co_await run_of(call, std::move(task), std::move(agent));
  if (auto* failure = std::get_if<Failure>(&found)) co_return std::move(*failure);
  RunRow run = std::get<RunRow>(std::move(found));
  if (!message.context.empty() && message.context != run.thread.text) {
    co_return Failure{Fault::invalid_params, "The contextId is not that of the task."};
  }
  if (call.who.permission < Permission::decide) co_return lacks(Permission::decide);
  if (message.data) {
    if (auto failure = read_text(*message.data, "interrupt", message.interrupt)) {
      co_return *std::move(failure);
    }
    auto named = conversation::interrupt_id_from(message.interrupt);
    if (named) message.interrupt = named->text();
  }
  RunRow bound = run;
  SentMessage sent = message;
  auto interrupt = co_await bound_approval(call, std::move(bound), std::move(sent));
  if (auto* failure = std::get_if<Failure>(&interrupt)) co_return std::move(*failure);
  InterruptId chosen = std::get<InterruptId>(interrupt);
  Value config = std::move(message.push);
  auto refused = co_await add_sent_config(call, run.run, std::move(config));
  if (refused) co_return *std::move(refused);
  co_return co_await decide(call, run, chosen, std::move(message));
}

// Returns the approval that the message has answered, or answers now.
Task<A2aEndpoint::Outcome<InterruptId>> A2aEndpoint::bound_approval(Call& call, RunRow run,
                                                                    SentMessage message) {
  std::string key = key_of(run.graph, run.run.text(), message.id);
  std::unique_ptr<Records> records = records_of(call.service, call.who, call.who.user);
  // A second round reads the record that an equal message has written at the same time.
  for (int round = 0; round < 2; ++round) {
    std::string wanted = key;
    auto answered = co_await records->get<A2aAnswer>(std::move(wanted));
    if (!answered.ok()) co_return failure_of(answered.error());
    std::optional<Uuid> known;
    if (*answered) known = uuid_from((*answered)->interrupt);
    if (known) co_return InterruptId(*known);
    ThreadId thread = run.thread;
    auto view = co_await call.service.status(call.who, std::move(thread), std::nullopt, run.run);
    if (!view.ok()) co_return failure_of(view.error());
    auto chosen = chosen_approval(*view, message);
    if (auto* failure = std::get_if<Failure>(&chosen)) co_return std::move(*failure);
    InterruptId interrupt = std::get<InterruptId>(chosen);
    // A message that decides nothing binds nothing: its sender can correct it.
    auto asked = std::find_if(view->approvals.begin(), view->approvals.end(),
                              [&](const ApprovalRow& row) { return row.interrupt == interrupt; });
    auto reply = conversation::decision_of_reply(reply_value(message), *asked);
    if (!reply.ok()) co_return failure_of(reply.error());
    A2aAnswer answer;
    answer.id = key;
    answer.task = run.run.text();
    answer.interrupt = interrupt.text();
    answer.created_at = world_.parts.clock.now();
    auto write = record_write(answer, call.who.user);
    if (!write.ok()) co_return failure_of(write.error());
    write->expected_version = 0;
    std::vector<RecordWrite> writes;
    writes.push_back(*std::move(write));
    auto saved = co_await call.service.save_records(call.who, std::move(writes));
    if (saved.ok()) co_return interrupt;
    if (saved.error().code != ErrorCode::conflict) co_return failure_of(saved.error());
  }
  co_return Failure{Fault::internal, "The store is too busy to record the answer."};
}

Task<A2aEndpoint::Outcome<RunView>> A2aEndpoint::decide(Call& call, const RunRow& run,
                                                        InterruptId interrupt,
                                                        SentMessage message) {
  Whose any;
  std::string id = interrupt.text();
  auto asked = co_await call.service.approval(call.who, std::move(id), std::move(any));
  if (!asked.ok()) co_return failure_of(asked.error());
  auto reply = conversation::decision_of_reply(reply_value(message), *asked);
  if (!reply.ok()) co_return failure_of(reply.error());
  Decision decision = *std::move(reply);
  decision.decided_by = call.who.user.text;
  server::Patience patience;
  if (!message.returns_immediately) patience.limit = options_.answer_within;
  Instant until = world_.parts.clock.now() + patience.limit;
  auto answer = co_await server::decided(world_, call.service, call.who, interrupt,
                                         std::move(decision), patience);
  if (!answer.ok()) co_return failure_of(answer.error());
  if (!is_made(*answer)) co_return Failure{Fault::unsupported, refusal_text(*answer) + "."};
  ThreadId thread = run.thread;
  auto view = co_await call.service.status(call.who, std::move(thread), std::nullopt, run.run);
  if (view.ok()) view = co_await rested(call, *std::move(view), until);
  if (!view.ok()) co_return failure_of(view.error());
  co_return *std::move(view);
}

}  // namespace belay::a2a
