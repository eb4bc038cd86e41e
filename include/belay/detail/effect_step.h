#pragma once
// belay/detail/effect_step.h - determines the next action for an effect from its recorded row, for
// Context::keyed_effect() and Context::unkeyed_effect().

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "belay/rows.h"
#include "belay/task.h"
#include "belay/value.h"

namespace belay {

// The policy for an unkeyed effect whose outcome is unknown.
enum class WhenUncertain {
  ask,    // requests a decision: approved means that it happened (the edited payload has its
          // result), rejected that it did not happen and must be repeated
  retry,  // repeats the effect: it might happen twice
  skip,   // continues without a result, as if it had happened
  probe,  // calls the effect's probe; requests a decision if that returns an Error or is missing
};

// Asks the external system whether an effect has happened. Returns its result, nullopt if it has
// not happened, or an Error if that is unknown.
template <typename T>
using Probe = std::function<Result<std::optional<T>>()>;

struct EffectOptions {
  WhenUncertain when_uncertain = WhenUncertain::ask;
  // Time for a decision; after it the node fails with `uncertain`.
  std::chrono::milliseconds expires{std::chrono::hours(24)};
};

// Records effects, for one task. Implemented by the driver.
class Journal {
 public:
  virtual ~Journal() = default;
  // Returns the recorded row of the task's effect of this name, or null.
  virtual const EffectRow* find(std::string_view name) const = 0;
  // Records the row in its own commit, after every earlier commit of the run; durable when it
  // returns `ok`. `cancelled` if this process no longer owns the run: the effect must not start.
  virtual Task<Result<Done>> write(EffectRow row) = 0;
  // Records the row with the node's commit.
  virtual void keep(EffectRow row) = 0;
  // True if this attempt has just recorded the intent and can start the effect. Only once.
  virtual bool may_begin(std::string_view name) = 0;
  // Only for durations that are displayed: an attempt must not depend on it. nullopt in a replay,
  // which calls nothing.
  virtual std::optional<Instant> present() const { return std::nullopt; }
};

namespace detail {
// Returns -1 if one of the times is unknown.
std::int64_t milliseconds_since(std::optional<Instant> begun, const Journal& journal);
}  // namespace detail

// Thrown if a row must be durable before a plain function can continue: the node ends here and runs
// again immediately, as the same attempt. Not an error, like Interrupted.
struct JournalFirst {
  EffectRow row;
};

// The next action for one effect, determined from its recorded row.
class EffectStep {
 public:
  enum class Next {
    give,     // return the recorded result
    give_up,  // skipped: return no result
    call,     // call the function; an intent is not needed or is recorded
    intend,   // record the intent, then call the function
    ask,      // request a decision
    probe,    // call the probe
  };

  EffectStep(Journal& journal, EffectRow fresh, WhenUncertain policy);
  Next next() const { return next_; }
  const std::string& name() const { return row_.name; }
  // Measures the call of the function: the rows after it have its duration.
  void begin_call() { begun_at_ = journal_.present(); }
  void end_call();
  // Each returns the row to record. intent() increments `attempt`, also for the rows after it.
  EffectRow intent();
  EffectRow begun() const;  // the row at the start of the call, for the observer
  EffectRow outcome(std::string_view json) const;
  EffectRow failed(const Error& why) const;
  EffectRow uncertain() const;
  // Applies the policy after a call whose outcome is unknown.
  void call_was_uncertain(WhenUncertain policy);
  EffectRow skipped() const;

  // Returns the recorded result. Throws Failure if it does not fit T.
  template <typename T>
  T result() const {
    auto text = json_in_envelope(row_.envelope);
    auto value = parse_json(std::move(text).value()).value();
    T result{};
    Decoder in;
    if (!codec::decode(value, result, in)) {
      detail::throw_failure(error(
          ErrorCode::invalid,
          "The recorded result of the effect \"" + row_.name + "\" does not fit: " + in.problem));
    }
    return result;
  }

 private:
  Journal& journal_;
  EffectRow row_;
  std::optional<Instant> begun_at_;
  Next next_ = Next::call;
};

namespace detail {
template <typename T>
struct effect_value {
  using type = T;
};
template <typename T>
struct effect_value<Result<T>> {
  using type = T;
};
template <typename T>
struct effect_value<Task<T>> : effect_value<T> {};
// The value type of an effect's function: T for T, Result<T>, Task<T> and Task<Result<T>>.
template <typename Function>
using effect_value_t = typename effect_value<std::invoke_result_t<Function>>::type;

template <typename Function>
inline constexpr bool returns_task =
    requires(std::invoke_result_t<Function> returned) { returned.operator co_await(); };

// Whether a function may be passed as `Argument&&` in a co_await expression (see task.h): a name,
// or a temporary that GCC 12 can destroy twice without harm, such as a lambda that captures by
// reference. Only a lambda with captures has no default constructor.
template <typename Argument>
inline constexpr bool survives_co_await =
    std::is_lvalue_reference_v<Argument> || std::is_trivially_destructible_v<Argument> ||
    std::is_default_constructible_v<Argument>;
// Overloads of Context's functions for arguments that do not survive.
#define BELAY_UNNAMED_LAMBDA                                                                 \
  "Name this lambda first and pass it without std::move: auto call = [...] {...}; co_await " \
  "context.keyed_effect(name, call); GCC 12 destroys a lambda that is created inside a "     \
  "co_await expression twice. A capture that cannot be copied is captured by reference."
class UnnamedLambdas {
 protected:
  template <typename Function>
    requires(returns_task<Function> && !survives_co_await<Function>)
  BELAY_REFUSED(BELAY_UNNAMED_LAMBDA)
  Task<effect_value_t<Function>> keyed_effect(std::string, Function&&) {
    std::abort();
  }
  template <typename Function, typename Asking = std::nullptr_t>
    requires(returns_task<Function> && !(survives_co_await<Function> && survives_co_await<Asking>))
  BELAY_REFUSED(BELAY_UNNAMED_LAMBDA)
  Task<std::optional<effect_value_t<Function>>> unkeyed_effect(std::string, EffectOptions,
                                                               Function&&, Asking&& = nullptr) {
    std::abort();
  }
  template <typename Function>
    requires(!survives_co_await<Function>)
  BELAY_REFUSED(BELAY_UNNAMED_LAMBDA)
  Task<Result<effect_value_t<Function>>> run_blocking(Function&&) {
    std::abort();
  }
};

template <typename T>
Result<T> as_result(T value) {
  return value;
}
template <typename T>
Result<T> as_result(Result<T> value) {
  return value;
}
template <typename Function>
auto call_on_blocking_pool(Function work) {
  auto call = [work = std::move(work)]() mutable { return as_result(work()); };
  return on_blocking_pool<effect_value_t<Function>>(std::move(call));
}

template <typename T>
std::string effect_text(const std::string& name, const T& value) {
  Encoder out;
  codec::encode(value, out);
  if (out.problem.empty()) return std::move(out.text);
  throw_failure(error(ErrorCode::invalid, "The result of the effect \"" + name +
                                              "\" can't be recorded: " + out.problem));
}
}  // namespace detail

}  // namespace belay
