#pragma once
// belay/context.h - a node's access to ids, time, randomness, the model, records and effects.
//
// The engine keeps the Context alive until the node has ended. Threading: use it on the node's
// executor only, not from the blocking pool.
//
// Classes of effects, by the guarantee after a crash:
//
// transactional  Rows in Belay's own store: state, records, outbox messages. They are part of the
//                node's commit: exactly once. Context::save(), publish().
// keyed          The receiver deduplicates by a key. At least once, always with the same key; not
//                called again once the result is recorded. Context::keyed_effect().
// unkeyed        A mail over SMTP, an API without such keys. The intent is committed first. If a
//                crash leaves the outcome unknown, the effect is `uncertain`, and its policy
//                decides: never repeated, never dropped silently. Context::unkeyed_effect().
//
// Each effect has a name, which distinguishes the effects of one node. The idempotency key is
// "run/task/name": all attempts of a task share it, and no other task has it. An attempt must use
// each name only once: in a loop, give each effect its own name, such as "charge/" + order.id. A
// second use in the same attempt throws Failure (`invalid`).

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "belay/approval.h"
#include "belay/detail/effect_step.h"
#include "belay/detail/node_effects.h"
#include "belay/http.h"
#include "belay/limits.h"
#include "belay/model.h"
#include "belay/record.h"

namespace belay {

class Ledger;

// The decision on an interrupt that a node has requested.
struct InterruptResponse {
  bool approved = false;
  Value payload;           // as shown, or as edited by the decision
  std::string decided_by;  // empty: the interrupt expired
  std::string comment;
  std::string choice = {};  // "approve", "reject", or one of the choices; empty: expired
};

// An interrupt that a node requests while it runs.
struct InterruptRequest {
  std::string name;  // distinguishes several interrupts of one node
  std::string text;
  Value payload;  // shown to the decider; a decision applies to this payload only
  std::chrono::milliseconds expires{std::chrono::hours(24)};
  std::optional<ExpiryMessage> on_expiry = std::nullopt;
  std::vector<ApprovalChoice> choices = {};  // instead of "approve" and "reject"
};

// Observes each call of an effect: receives the intent immediately before and the outcome
// immediately after it, before anything is recorded. If the function threw, the outcome is
// `uncertain`, and the observer must not throw. A stopped call has no outcome. For tests.
using EffectObserver = std::function<void(const EffectRow&)>;

// Returns the form of a model request that is recorded in addition to its hash and its reply:
// `whole`, which is the request as JSON, or a replacement; null records only hash and reply. With
// recorded_messages, `whole` has only the later messages, and their offset. The request itself and
// its hash do not change. Called on the executor's thread; must not throw.
using PromptRedactor = std::function<Value(const ModelRequest& request, Value whole)>;

// Thrown by Context::interrupt(): ends the node, which runs again after the decision. Not an error,
// and not derived from std::exception, so that ordinary handlers do not catch it.
struct Interrupted {
  InterruptRequest question;
};

class Context : private detail::UnnamedLambdas {
 public:
  // The data of one attempt of one task. Filled in by the driver.
  struct Attempt {
    TenantId tenant;
    UserId user;
    ThreadId thread;
    RunId run;
    TaskId task;
    std::string_view node;
    int attempt = 1;
    std::optional<Error> previous_error;
    Instant now{};
    std::uint64_t seed = 0;
    RunOptions options;
    std::vector<std::pair<std::string, InterruptResponse>>
        answers;                               // by question name and payload hash
    std::shared_ptr<const std::string> input;  // JSON text of the send's input; null: no send
    std::vector<ApprovalDecision> decisions;
    Model* model = nullptr;
    HttpAccess* http = nullptr;
    Records* records = nullptr;
    // Null: nothing is recorded, in a test that calls a node directly.
    Journal* journal = nullptr;
    Ledger* ledger = nullptr;  // null: costs are not counted
    // The model's replies come from the journal only, and `model` may be null: see model().
    bool replays = false;
    const EffectObserver* effect_observer = nullptr;
    const PromptRedactor* redact_prompt = nullptr;  // null: requests are recorded unredacted
  };

  explicit Context(Attempt attempt);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const TenantId& tenant() const { return attempt_.tenant; }
  const UserId& user() const { return attempt_.user; }
  const ThreadId& thread() const { return attempt_.thread; }
  const RunId& run() const { return attempt_.run; }
  const TaskId& task() const { return attempt_.task; }  // the same for all attempts of the task
  std::string_view node() const { return attempt_.node; }
  int attempt() const { return attempt_.attempt; }  // 1 for the task's first attempt
  // The error of the previous attempt; null for the first attempt.
  const Error* previous_error() const {
    return attempt_.previous_error ? &*attempt_.previous_error : nullptr;
  }
  const RunOptions& options() const { return attempt_.options; }
  // The object that the start of the run, or of the run that it was forked from, gave its nodes
  // (RunOptions::configuration); without one, an empty object.
  const Value& configuration() const { return configuration_; }
  bool is_replay() const { return attempt_.replays; }  // see Runtime::replay()
  // Returns the input of the send that scheduled this task. Throws Failure (`invalid`) if the task
  // has no input, or one that does not fit Input.
  template <typename Input>
  Input input() const {
    if (!attempt_.input) detail::throw_failure(no_input());
    auto value = parse_json(*attempt_.input).value();
    return decode_json<Input>(value).value();
  }
  bool has_input() const { return attempt_.input != nullptr; }
  // The decision on the approval that leads to this task, or on the approval of this name, if
  // several lead to it; null: none. The same in each attempt, replay and fork.
  const ApprovalDecision* decision(std::string_view approval = {}) const;

  Instant now() const { return attempt_.now; }  // the start time of this attempt
  // Pseudo-random bits, seeded for this attempt: not for secrets.
  std::uint64_t random_bits();

  // The run's model. Each reply is recorded in the journal with the node's commit; a call of this
  // attempt that is recorded with the same request returns the recorded reply. In a run with a
  // budget, the maximum cost of a call is reserved first, in its own commit. In a replay, a call
  // that is not recorded fails with `not_found`, one with another request with `conflict`.
  Model& model() { return recorded_ ? *recorded_ : *attempt_.model; }
  // For HTTP requests, within effects only: in a replay they fail with `not_found` (http.h).
  HttpAccess& http();
  // Marks the model's replies to this attempt as unusable although the node succeeds: caches of
  // replies do not return them again. The replies of an attempt that fails are always refused.
  void refuse_answers() { effects_.answers->refuse(); }
  // The records of the run's user, as committed; without those that this node saves.
  Records& records() { return *attempt_.records; }

  // Saves `record` in this node's commit: exactly once; never if the node fails. Throws Failure
  // (`invalid`) if the record cannot be saved.
  template <Record R>
  void save(const R& record) {
    effects_.records.push_back(record_write(record, user()).value());
  }
  // The same if the stored record has this version (Versioned), 0: if there is no such record.
  // Otherwise nothing of the node's commit is written, and the node is executed again. After
  // limits::record_conflicts_max such conflicts in a row, the run fails with `conflict`.
  template <Record R>
  void save(const R& record, std::uint64_t expected_version) {
    RecordWrite write = record_write(record, user()).value();
    write.expected_version = expected_version;
    effects_.records.push_back(std::move(write));
  }

  // Sets the outcome of a run that completes after this node, such as "saved".
  void outcome(std::string outcome) { effects_.outcome = std::move(outcome); }
  // Adds a durable event to this node's commit; if the attempt fails, to the next commit.
  void emit(std::string name, Value body);

  // Appends a delta to the text that this attempt streams. If the node is a coroutine, readers of
  // the run's events in this process receive it immediately. The node's commit contains the whole
  // text as a durable event; the text of an attempt that fails is dropped. A delta can begin and
  // end within a character. Throws Failure (`invalid`) for text that is not UTF-8, or if the whole
  // text exceeds limits::value_bytes_max.
  void stream(std::string_view piece);
  // The attempt's text so far, without an incomplete character at its end.
  std::string_view streamed() const { return std::string_view(effects_.text).substr(0, whole_); }

  // Overloads that are compile errors.
  using UnnamedLambdas::keyed_effect, UnnamedLambdas::unkeyed_effect, UnnamedLambdas::run_blocking;

  // A keyed effect: returns the recorded result, or calls `action` and records its result. Names
  // that begin with "model/" or "cost/" are reserved. `action` returns T or Result<T>; an Error is
  // thrown as a Failure and is not recorded. If `action` returns a Task, so does this function, and
  // the result is durable before the node continues; otherwise the node's commit records it. Name a
  // lambda that returns a Task: auto send = [...] {...}; co_await context.keyed_effect(name, send);
  template <typename Function>
  auto keyed_effect(std::string name, Function&& action) {
    using T = detail::effect_value_t<Function>;
    if constexpr (detail::returns_task<Function>) {
      return once_task<T>(std::move(name), std::forward<Function>(action));
    } else {
      return once_now<T>(std::move(name), std::forward<Function>(action));
    }
  }

  // An unkeyed effect (see the top); `action` as for keyed_effect(). An Error of code `uncertain`
  // means that the outcome is unknown: the policy applies immediately, as after a crash, and if it
  // repeats the effect, this attempt fails with `unavailable`. An exception leaves the outcome
  // unknown too; the policy applies in the next attempt. Any other Error means that the effect did
  // not happen. Returns the result, or nullopt if the policy skipped the effect. `probe` asks the
  // external system: see Probe.
  template <typename Function, typename Asking = std::nullptr_t>
  auto unkeyed_effect(std::string name, EffectOptions options, Function&& action,
                      Asking&& probe = nullptr) {
    using T = detail::effect_value_t<Function>;
    Probe<T> ask(std::forward<Asking>(probe));
    if constexpr (detail::returns_task<Function>) {
      return effect_task<T>(std::move(name), options, std::forward<Function>(action), ask);
    } else {
      return effect_now<T>(std::move(name), options, std::forward<Function>(action), ask);
    }
  }

  // For a tool with a cost, in a run with a budget; without a budget, all three calls do nothing.
  // reserve() books `most` on the budget before the call, durably, or fails with `exhausted`;
  // settle() books the real cost after the call. A reservation that is never settled counts in
  // full, and its name cannot be reserved again in that attempt, because settle() finds it by name.
  // Call reserve() within the function of a keyed_effect(): a recorded result is not paid again.
  Task<Result<Done>> reserve(std::string name, Cost most);
  void settle(std::string_view name, Cost spent);
  // Books a cost in one call, for a plain function or after the fact. Recorded with the node's
  // commit: a crash before it loses the booking.
  Result<Done> spend(std::string name, Cost spent);
  // "run/task", or "run/task/name": the text by which a receiver deduplicates.
  std::string idempotency_key(std::string_view name = {}) const;

  // Adds a message to the outbox in this node's commit. It is delivered to the topic's receiver
  // after the commit, at least once and always with the same id; never if the node fails.
  void publish(std::string topic, Value body);

  // Requests a decision within a node and returns it. Without a decision, ends the node, which runs
  // again after it: the code before this call must be safe to execute twice. Prefer an approval
  // node. The decision applies to this name and payload; another payload is a new question.
  InterruptResponse interrupt(InterruptRequest question);

  // Runs a function that returns T or Result<T> with on_blocking_pool(): a Task<Result<T>>.
  template <typename Function>
  auto run_blocking(Function&& work) {
    return detail::call_on_blocking_pool(std::forward<Function>(work));
  }

  // For the driver; `heard` is called after each delta.
  void when_streamed(std::function<void()> heard) { heard_ = std::move(heard); }
  NodeEffects take_effects() { return std::move(effects_); }  // for the driver, after the node

 private:
  Error no_input() const;
  EffectRow effect_row(std::string name, EffectClass effect_class);
  EffectRow cost_row(const std::string& name);
  Task<Result<Done>> reserve_cost(std::string name, Cost most);
  Result<Done> check_cost(const std::string& name, const Cost& cost) const;
  // Requests a decision whether an uncertain effect happened, and returns it.
  InterruptResponse ask_about(const EffectRow& row, std::chrono::milliseconds expires);
  // Ends the node, which runs again after the row is recorded.
  [[noreturn]] static void journal_first(EffectRow row);

  template <typename T, typename Function>
  T once_now(std::string name, Function action);
  template <typename T, typename Function>
  Task<T> once_task(std::string name, Function action);
  template <typename T>
  std::optional<std::optional<T>> settle(EffectStep& step, const EffectOptions& options,
                                         const Probe<T>& probe);
  template <typename T>
  std::optional<T> settle_call(EffectStep& step, const EffectOptions& options,
                               const Probe<T>& probe, Error why);
  template <typename T, typename Function>
  std::optional<T> effect_now(std::string name, EffectOptions options, Function action,
                              Probe<T> probe);
  template <typename T, typename Function>
  Task<std::optional<T>> effect_task(std::string name, EffectOptions options, Function action,
                                     Probe<T> probe);

  Attempt attempt_;
  Value configuration_ = Value::Object();
  NodeEffects effects_;
  std::unique_ptr<Model> recorded_;          // around attempt_.model; null without a journal
  std::unique_ptr<HttpAccess> absent_http_;  // without attempt_.http
  struct Costs;
  std::unique_ptr<Costs> costs_;
  std::set<std::string, std::less<>> effects_used_;  // by name, in this attempt
  std::function<void()> heard_;
  std::size_t whole_ = 0;  // bytes of the text that are complete characters
};

}  // namespace belay

#include "belay/detail/effect_calls.h"
