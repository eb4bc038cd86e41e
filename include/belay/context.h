#pragma once
// belay/context.h - what a node may ask of the world while it runs.
//
// Everything ambient comes through the Context: ids, time, randomness, model, records. The engine
// keeps it alive until the node has ended. Threading: use it on the node's own executor only, not
// from the blocking pool.
//
// Effects on the outside world, by what a crash may do to them:
//
// A, transactional: rows in Belay's own store - state, records, messages of the outbox. They are
//    part of the node's commit: exactly once. Context::save(), publish().
// B, keyed: the other side knows a repetition by our key. At least once, always with the same key.
//    Context::once(): the result is recorded, and a node that runs again gets it without a call.
// C, unkeyed: a mail over SMTP, an API without such keys. The intent is committed first; when a
//    crash leaves the outcome unknown, the effect is `uncertain` and its policy decides.
//    Context::effect(): never repeated silently, never dropped silently.
//
// An effect is named; the name tells several effects of one node apart. Its key is
// "run/task/name": the same over all attempts of one visit of a node, another for another visit.
// An attempt must use each name once: a loop gives each of its effects a name, "charge/" +
// order.id. A name that is used again in the same attempt throws Failure (`invalid`).

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "belay/detail/effect_step.h"
#include "belay/detail/node_effects.h"
#include "belay/limits.h"
#include "belay/model.h"
#include "belay/record.h"

namespace belay {

class Ledger;

// A person's answer to an interrupt.
struct InterruptResponse {
  bool approved = false;
  Value payload;  // as shown, or as edited by the person
  std::string decided_by;
  std::string comment;
};

// A question that a node asks in its middle.
struct InterruptRequest {
  std::string name;  // tells several questions of one node apart
  std::string text;
  Value payload;  // what is shown; an answer counts only for this very payload
  std::chrono::milliseconds expires{std::chrono::hours(24)};
};

// Observes each call of an effect: receives the intent immediately before the call and the outcome
// immediately after it, before anything is recorded. The outcome is `uncertain` also if the
// function threw; the observer must not throw in that case. A call that is stopped while it waits
// has no outcome. For tests and measurements.
using EffectObserver = std::function<void(const EffectRow&)>;

// What of a request to the model goes on record beside its hash and the answer: `whole`, which is
// the request as JSON, or what is to be kept in its place; null keeps nothing of it. Changes
// nothing of what the model is asked, nor of what a later attempt or a replay takes for the same
// request: that is told by the hash. Called on the executor's thread; must not throw.
using PromptRedactor = std::function<Value(const ModelRequest& request, Value whole)>;

// Thrown by Context::interrupt(): the node ends here and runs again once there is an answer. Not an
// error, and not derived from std::exception, so that ordinary handlers let it pass.
struct Interrupted {
  InterruptRequest question;
};

class Context {
 public:
  // What one attempt of one task sees. Filled in by the driver.
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
    std::shared_ptr<const std::string> input;  // JSON text of what was sent, if any
    Model* model = nullptr;
    Records* records = nullptr;
    // Null where nothing is recorded: a test that calls a node by itself.
    Journal* journal = nullptr;
    Ledger* ledger = nullptr;  // null: nothing is counted
    // The model's answers come from the journal alone, and `model` may be null: see model().
    bool replays = false;
    const EffectObserver* effect_observer = nullptr;
    const PromptRedactor* redact_prompt = nullptr;  // null: requests are recorded whole
  };

  explicit Context(Attempt attempt);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const TenantId& tenant() const { return attempt_.tenant; }
  const UserId& user() const { return attempt_.user; }
  const ThreadId& thread() const { return attempt_.thread; }
  const RunId& run() const { return attempt_.run; }
  // One visit of one node; the same over all attempts of that visit.
  const TaskId& task() const { return attempt_.task; }
  std::string_view node() const { return attempt_.node; }
  // 1 for the first attempt of this visit.
  int attempt() const { return attempt_.attempt; }
  // Why the attempt before this one failed; null for the first.
  const Error* previous_error() const {
    return attempt_.previous_error ? &*attempt_.previous_error : nullptr;
  }
  const RunOptions& options() const { return attempt_.options; }

  // What a Send gave this visit, as the type that it was sent as. Throws Failure (`invalid`) for a
  // visit without an input, or with one of another type.
  template <typename Input>
  Input input() const {
    if (!attempt_.input) detail::throw_failure(no_input());
    auto value = parse_json(*attempt_.input).value();
    return decode_json<Input>(value).value();
  }
  bool has_input() const { return attempt_.input != nullptr; }

  // When this attempt began.
  Instant now() const { return attempt_.now; }
  // Pseudo-random bits, seeded for this attempt: not for secrets.
  std::uint64_t random_bits();

  // The run's model. Each answer is recorded in the journal with the node's commit; a call that
  // this attempt has on record already, with the same request, is answered from there. On a budget
  // the most that a call can cost is reserved before it, in a commit of its own. When a run is
  // replayed, a call without a record is `not_found`, one with another request `conflict`.
  Model& model() { return recorded_ ? *recorded_ : *attempt_.model; }
  // Marks the model's replies to this attempt as unusable although the node ends well: caches of
  // replies do not return them again. The replies of an attempt that fails are always refused.
  void refuse_answers() { effects_.answers->refuse(); }
  // The run's user's records, as committed; what this node saves is not among them yet.
  Records& records() { return *attempt_.records; }

  // Saves `record` in this node's commit: exactly once, or not at all if the node fails. A record
  // that can't be saved throws Failure (`invalid`).
  template <Record R>
  void save(const R& record) {
    effects_.records.push_back(record_write(record, user()).value());
  }

  // How the run is said to have ended, should it end after this node: "saved", "nothing_to_do".
  void outcome(std::string outcome) { effects_.outcome = std::move(outcome); }
  // A durable event of the program's own, written in this node's commit. Also of an attempt that
  // fails: with the next commit then.
  void emit(std::string name, Value body);

  // A piece of a text that people see while it comes: readers of the run's events in this process
  // get it at once, where the node is a coroutine. In the node's commit the whole text becomes a
  // durable event; that of an attempt that fails is dropped. Pieces may be cut anywhere, also in
  // the middle of a character. Throws Failure (`invalid`) for what is no UTF-8, or a text that
  // outgrows limits::value_bytes_max.
  void stream(std::string_view piece);
  // The attempt's text so far, without a character that is not whole yet.
  std::string_view streamed() const { return std::string_view(effects_.text).substr(0, whole_); }

  // An effect of class B: calls `action` unless its result is recorded, and gives the result. Names
  // that begin with "model/" or "cost/" are taken. `action` returns T or Result<T>; an Error is
  // thrown as a Failure and recorded nowhere. Where it returns a Task, this does too, and the
  // result is durable before it goes on; otherwise it is recorded with the node's commit.
  template <typename Function>
  auto keyed_effect(std::string name, Function action) {
    using Returned = std::invoke_result_t<Function>;
    if constexpr (requires(Returned returned) { returned.operator co_await(); }) {
      return once_task<detail::effect_value_t<Function>>(std::move(name), std::move(action));
    } else {
      return once_now<detail::effect_value_t<Function>>(std::move(name), std::move(action));
    }
  }

  // An effect of class C (see the top). `action` is as for once(). An Error of code `uncertain`
  // says that nobody knows its outcome, and its policy decides at once, as after a crash; where
  // that is to do it again, this attempt fails as `unavailable`. An exception leaves it unknown
  // too, for the next attempt. Any other Error says that it did not happen. Gives its result, or
  // nothing when the policy was to skip it. `probe` asks the other side: a result if it has
  // happened, nullopt if it has not.
  template <typename Function>
  auto unkeyed_effect(std::string name, EffectOptions options, Function action,
                      Probe<detail::effect_value_t<Function>> probe = nullptr) {
    using T = detail::effect_value_t<Function>;
    using Returned = std::invoke_result_t<Function>;
    if constexpr (requires(Returned returned) { returned.operator co_await(); }) {
      return effect_task<T>(std::move(name), options, std::move(action), std::move(probe));
    } else {
      return effect_now<T>(std::move(name), options, std::move(action), std::move(probe));
    }
  }

  // For a tool with a cost, in a run with a budget; without a budget, all three calls do nothing.
  // reserve() books `most` on the budget before the call, durably, or fails with `exhausted`;
  // settle() books the real cost after the call. A reservation that is never settled counts in
  // full, and its name cannot be reserved again in that attempt, because settle() finds it by name.
  // Within once(), an effect whose result is recorded is not paid again:
  //     auto search = [&]() -> Task<Result<Hits>> {
  //       auto reserved = co_await context.reserve("search", most);
  //       ...
  Task<Result<Done>> reserve(std::string name, Cost most);
  void settle(std::string_view name, Cost spent);
  // The same at once, for what has been spent already or a plain function spends: recorded with
  // the node's commit, so a crash before that forgets it.
  Result<Done> spend(std::string name, Cost spent);

  // "run/task", or "run/task/name": what the other side deduplicates by.
  std::string idempotency_key(std::string_view name = {}) const;

  // A message for the world outside, in this node's commit: handed to the topic's receiver at least
  // once after it, with an id to tell a repetition by, or never if the node fails.
  void publish(std::string topic, Value body);

  // Asks a person in the middle of a node and returns the answer. Without one yet it ends the node
  // here; the whole node runs again when the answer has come, so do nothing before it that must
  // not happen twice. An approval node asks without that price: prefer it. The answer counts for
  // the same question name and the same payload; with another payload the question is asked anew.
  InterruptResponse interrupt(InterruptRequest question);

  // Runs a function that blocks on the executor's bounded pool; see on_blocking_pool().
  template <typename T>
  Task<Result<T>> run_blocking(std::function<Result<T>()> work) {
    return on_blocking_pool<T>(std::move(work));
  }

  // For the driver: `heard` is called whenever there is more of its text.
  void when_streamed(std::function<void()> heard) { heard_ = std::move(heard); }
  // For the driver, once the node has ended.
  NodeEffects take_effects() { return std::move(effects_); }

 private:
  Error no_input() const;
  EffectRow effect_row(std::string name, EffectClass effect_class);
  EffectRow cost_row(const std::string& name);
  Task<Result<Done>> reserve_cost(std::string name, Cost most);
  Result<Done> check_cost(const std::string& name, const Cost& cost) const;
  // Asks a person what became of an effect: the answer, or an interrupt.
  InterruptResponse ask_about(const EffectRow& row, std::chrono::milliseconds expires);
  // The node runs again once the row is recorded.
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
  NodeEffects effects_;
  std::unique_ptr<Model> recorded_;  // around attempt_.model; null without a journal
  struct Costs;
  std::unique_ptr<Costs> costs_;
  std::set<std::string, std::less<>> effects_used_;  // by name, in this attempt
  std::function<void()> heard_;
  std::size_t whole_ = 0;  // bytes of the text that are whole characters
};

}  // namespace belay

#include "belay/detail/effect_calls.h"
