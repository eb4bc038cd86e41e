#pragma once
// belay/detail/effect_step.h - how an effect is recorded and what its record makes of it: the
// machinery of Context::once() and Context::effect().

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "belay/rows.h"
#include "belay/task.h"
#include "belay/value.h"

namespace belay {

// What to do about an effect of class C when nobody knows whether it happened.
enum class WhenUncertain {
  ask,    // a person: approved means that it happened (the payload, edited, is its result),
          // rejected that it did not and is to be repeated
  retry,  // repeat it: it may then happen twice
  skip,   // take it for done, without a result
  probe,  // ask the other side with the effect's probe; ask a person where that can't tell
};

// Asks the other side whether an effect has happened: its result, nullopt if it has not, or an
// Error where that can't be told.
template <typename T>
using Probe = std::function<Result<std::optional<T>>()>;

struct EffectOptions {
  WhenUncertain when_uncertain = WhenUncertain::ask;
  // How long a person may take to say; then the node fails with `uncertain`.
  std::chrono::milliseconds expires{std::chrono::hours(24)};
};

// Where effects are recorded, for one task. Implemented by the driver.
class Journal {
 public:
  virtual ~Journal() = default;
  // What is recorded of the task's effect of this name; null for nothing.
  virtual const EffectRow* find(std::string_view name) const = 0;
  // Records it: durable once the task returns `ok`, and after every earlier commit of the run. An
  // error of code `cancelled` when the run is no longer ours: the effect must not be begun.
  virtual Task<Result<Done>> write(EffectRow row) = 0;
  // Records it with the node's own commit.
  virtual void keep(EffectRow row) = 0;
  // Whether this very attempt has just recorded the intent and may begin the effect. Once.
  virtual bool may_begin(std::string_view name) = 0;
};

// Thrown where a plain function has to wait until something is recorded: the node ends here and
// runs again at once, as the same attempt. Not an error, like Interrupted.
struct JournalFirst {
  EffectRow row;
};

// What one effect comes to, by its record.
class EffectStep {
 public:
  enum class Next {
    give,     // there is a result: take it
    give_up,  // skipped: go on without a result
    call,     // call it; no record of an intent is needed, or it is there
    intend,   // record the intent, then call it
    ask,      // ask a person
    probe,
  };

  EffectStep(Journal& journal, EffectRow fresh, WhenUncertain policy);
  Next next() const { return next_; }
  const std::string& name() const { return row_.name; }
  // The row to record an intent, an outcome, or that it is uncertain. What is recorded after an
  // intent counts it.
  EffectRow intent();
  EffectRow begun() const;  // as the call begins: for who looks on
  EffectRow outcome(std::string_view json) const;
  EffectRow failed(const Error& why) const;
  EffectRow uncertain() const;
  // Its call has ended without anybody knowing what it did: what its policy says to that.
  void call_was_uncertain(WhenUncertain policy);
  EffectRow skipped() const;

  // The recorded result. Throws Failure for one that does not fit T.
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
  EffectRow row_;
  Next next_ = Next::call;
};

namespace detail {
template <typename T>
inline constexpr bool is_result = false;
template <typename T>
inline constexpr bool is_result<Result<T>> = true;
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
// What an effect's function comes to: T of T, Result<T>, Task<T> and Task<Result<T>>.
template <typename Function>
using effect_value_t = typename effect_value<std::invoke_result_t<Function>>::type;

template <typename T>
Result<T> as_result(T value) {
  return value;
}
template <typename T>
Result<T> as_result(Result<T> value) {
  return value;
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
