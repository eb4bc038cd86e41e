#include "langgraph/state_update.h"

#include "base/run_of_key.h"
#include "conversation/question_id.h"
#include "langgraph/assistants.h"
#include "langgraph/runs.h"
#include "langgraph/sent_before.h"
#include "langgraph/state.h"
#include "langgraph/thread_changes.h"

namespace belay::langgraph {
namespace {

using server::Call;

constexpr std::size_t kUpdatesMax = 100;  // of one creation of a thread

std::string checkpoint_of_update(const Value& body) {
  for (const Value* place : {&body, &body["checkpoint"], &body["config"]["configurable"]}) {
    const std::string* id = (*place)["checkpoint_id"].as_string();
    if (id && !id->empty()) return *id;
  }
  return std::string();
}

// Starts the run of the change, which does not execute a node. Returns its row; nullopt: the thread
// was changed or deleted since it was read, and nothing was started.
Task<Result<std::optional<RunRow>>> change_state_once(AgentServer& served, Call& call,
                                                      StartRun wanted, const ThreadView& view) {
  wanted.thread = view.id;
  wanted.user = view.user;
  wanted.thread_exists = view.has_run();
  BELAY_CO_TRY(wanted.records, mark_of_first_run(view));
  server::Patience patience;
  auto started = co_await server::begun_run(served.world, call, std::move(wanted), patience);
  bool may_be_outdated = !started.ok() && started.error().code == ErrorCode::conflict;
  if (may_be_outdated) {
    BELAY_CO_TRY(bool is_repeated, co_await is_outdated(served.world, call, view));
    if (is_repeated) co_return std::optional<RunRow>();
  }
  if (!started.ok()) co_return std::move(started).error();
  co_return std::optional(std::move(started->row));
}

// The same, repeated on the thread as it is then.
Task<Result<RunRow>> change_state(AgentServer& served, Call& call, std::string graph,
                                  ThreadView view, StateChange change,
                                  std::optional<RunCommit> from = std::nullopt) {
  StartRun wanted;
  wanted.agent = graph;
  std::string named = graph;
  BELAY_CO_TRY(Value agent, co_await agent_named(call, std::move(named)));
  wanted.edit = edit_of(change);
  wanted.edit->held = true;
  wanted.edit->from = std::move(from);
  RequestRandom ids(call, served.world.parts.random);
  BELAY_CO_TRY(AgentInput given,
               agent_input(served.options.conversations, agent, std::move(change.values), ids));
  wanted.input = std::move(given.value);
  wanted.run.configuration = conversation::with_question_id("", given.question_id);
  std::optional<RunRow> row;
  for (int attempt = 0; !row; ++attempt) {
    if (attempt == kAttemptsMax) co_return changed_too_often(view.id);
    ThreadId thread = view.id;
    if (attempt > 0) {
      BELAY_CO_TRY(view, co_await find_thread(served.world, call, std::move(thread)));
    }
    StartRun once = wanted;
    BELAY_CO_TRY(row, co_await change_state_once(served, call, std::move(once), view));
  }
  std::string assistant = system_assistant_id(graph);
  BELAY_CO_CHECK(co_await note_run_on_thread(served.world, call, std::move(view.id),
                                             std::move(graph), std::move(assistant)));
  co_return *std::move(row);
}

std::string key_of_update(const std::string& key, std::size_t index) {
  return key + "-" + std::to_string(index);
}

RunId run_of_update(const Call& call, const std::string& key, std::size_t index) {
  return run_of_key(call.who.tenant, call.who.user, key_of_update(key, index));
}

}  // namespace

Task<Result<server::Reply>> update_state(AgentServer& served, server::Call call) {
  ThreadId named(call.path.at("threadId"));
  BELAY_CO_TRY(ThreadView thread, co_await find_thread(served.world, call, std::move(named)));
  if (thread.has_run() && thread_status(*thread.listed->run) == ThreadStatus::busy) {
    co_return error(ErrorCode::conflict, "Thread is busy: wait for its run, or cancel it.");
  }
  Value metadata = thread.metadata();
  const std::string* graph_id = std::as_const(metadata)["graph_id"].as_string();
  if (!graph_id || graph_id->empty()) {
    co_return error_reply(400, "invalid", "Thread " + thread.id.text + " has no graph.");
  }
  std::string graph = *graph_id;
  BELAY_CO_TRY(StateChange change, update_in(call.body));
  std::string checkpoint = checkpoint_of_update(std::as_const(call.body));
  BELAY_CO_TRY(std::optional<RunCommit> from,
               co_await commit_of_checkpoint(call, &thread, std::move(checkpoint), false));
  ThreadView read = thread;
  BELAY_CO_TRY(RunRow run, co_await change_state(served, call, std::move(graph), std::move(read),
                                                 std::move(change), std::move(from)));
  ThreadId changed = thread.id;
  BELAY_CO_TRY(auto newest, co_await find_checkpoint(call, std::move(changed), std::nullopt));
  Value reference =
      Value::object({{"thread_id", thread.id.text},
                     {"checkpoint_id", (newest ? newest->commit.id : run.checkpoint).text()},
                     {"checkpoint_ns", ""},
                     {"checkpoint_map", Value()}});
  co_return server::reply_with(
      Value::object({{"checkpoint", reference}, {"configurable", std::move(reference)}}));
}

Result<std::vector<StateChange>> superstep_updates_in(const Value& body) {
  std::vector<StateChange> changes;
  const Value& member = body["supersteps"];
  const Value::Array* supersteps = member.as_array();
  if (!supersteps && !member.is_null()) {
    return error(ErrorCode::invalid, "\"supersteps\" must be a list of objects with \"updates\".");
  }
  for (const Value& each : supersteps ? *supersteps : Value::Array()) {
    const Value::Array* updates = each["updates"].as_array();
    if (!updates || updates->size() != 1) {
      return error(ErrorCode::invalid,
                   "Each of \"supersteps\" must have a list \"updates\" of one update: several "
                   "updates of one superstep are not supported.");
    }
    const Value& update = updates->front();
    BELAY_TRY(StateChange change, update_in(update));
    BELAY_TRY(auto command, change_in(update["command"]));
    if (command) {
      if (change.values.is_null()) change.values = std::move(command->values);
      change.go_to = std::move(command->go_to);
    }
    changes.push_back(std::move(change));
  }
  if (changes.size() <= kUpdatesMax) return changes;
  return error(ErrorCode::invalid,
               "\"supersteps\" can have at most " + std::to_string(kUpdatesMax) + " members.");
}

bool has_updates_left(const Call& call, const ThreadView& thread, std::size_t count) {
  if (!thread.has_run()) return count > 0 && !thread.listed;
  const std::string key(call.request.header("Idempotency-Key"));
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (thread.listed->run->run == run_of_update(call, key, i)) return true;
  }
  return false;
}

Task<Result<Done>> apply_updates(AgentServer& served, Call& call, CreatedThread thread,
                                 std::vector<StateChange> updates) {
  const std::string key(call.request.header("Idempotency-Key"));
  for (std::size_t i = 0; i < updates.size(); ++i) {
    replace_key(call, key_of_update(key, i));
    ThreadId named = thread.id;
    BELAY_CO_TRY(ThreadView view, co_await find_thread(served.world, call, std::move(named)));
    std::string graph = thread.graph;
    auto changed = co_await change_state(served, call, std::move(graph), std::move(view),
                                         std::move(updates[i]));
    if (changed.ok()) continue;
    bool may_be_known = thread.has_own_key && changed.error().code == ErrorCode::invalid;
    if (!may_be_known) co_return std::move(changed).error();
    // Race: another creation of the thread has started with other updates.
    auto other = co_await call.service.run(call.who, run_of_update(call, key, i));
    if (other.ok()) co_return Done{};
    co_return std::move(changed).error();
  }
  co_return Done{};
}

}  // namespace belay::langgraph
