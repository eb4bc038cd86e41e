#pragma once
// belay/detail/effect_calls.h - implements Context::keyed_effect() and Context::unkeyed_effect().

#include <exception>
#include <utility>

#include "belay/context.h"

namespace belay {

namespace detail {

// Measures a call of an effect's function, and reports it to the observer: before the call and
// after its end.
class ObservedCall {
 public:
  ObservedCall(const EffectObserver* observer, EffectStep& step)
      : observer_(observer), step_(step), exceptions_(std::uncaught_exceptions()) {
    step_.begin_call();
    if (observer_) (*observer_)(step_.begun());
  }
  ObservedCall(const ObservedCall&) = delete;
  ObservedCall& operator=(const ObservedCall&) = delete;
  // Reports `uncertain` if the function threw. A call stopped while it waited reports no end.
  ~ObservedCall() {
    if (observer_ && std::uncaught_exceptions() > exceptions_) (*observer_)(step_.uncertain());
  }
  template <typename T>
  void came_to(const Result<T>& result) {
    step_.end_call();
    const EffectObserver* observer = std::exchange(observer_, nullptr);
    if (!observer) return;
    if (result.ok()) {
      (*observer)(step_.outcome(effect_text(step_.name(), *result)));
    } else {
      bool is_unknown = result.error().code == ErrorCode::uncertain;
      (*observer)(is_unknown ? step_.uncertain() : step_.failed(result.error()));
    }
  }

 private:
  const EffectObserver* observer_;
  EffectStep& step_;
  int exceptions_;
};

}  // namespace detail

template <typename T, typename Function>
T Context::once_now(std::string name, Function action) {
  EffectStep step(*attempt_.journal, effect_row(std::move(name), EffectClass::keyed), {});
  if (step.next() == EffectStep::Next::give) return step.result<T>();
  detail::ObservedCall call(attempt_.effect_observer, step);
  Result<T> result = detail::as_result(action());
  call.came_to(result);
  T value = std::move(result).value();
  attempt_.journal->keep(step.outcome(detail::effect_text(step.name(), value)));
  return value;
}

template <typename T, typename Function>
Task<T> Context::once_task(std::string name, Function action) {
  EffectStep step(*attempt_.journal, effect_row(std::move(name), EffectClass::keyed), {});
  if (step.next() == EffectStep::Next::give) co_return step.result<T>();
  detail::ObservedCall call(attempt_.effect_observer, step);
  auto returned = co_await action();
  Result<T> result = detail::as_result(std::move(returned));
  call.came_to(result);
  T value = std::move(result).value();
  EffectRow row = step.outcome(detail::effect_text(step.name(), value));
  auto written = co_await attempt_.journal->write(std::move(row));
  std::move(written).value();
  co_return std::move(value);
}

// Determines the result of an effect without a call: recorded, skipped, or found by the probe or a
// decision. The outer optional is empty if the effect must be called, the inner if it was skipped.
template <typename T>
std::optional<std::optional<T>> Context::settle(EffectStep& step, const EffectOptions& options,
                                                const Probe<T>& probe) {
  using Next = EffectStep::Next;
  if (step.next() == Next::give) return std::optional<T>(step.result<T>());
  if (step.next() == Next::give_up) {
    attempt_.journal->keep(step.skipped());
    return std::optional<T>();
  }
  if (step.next() == Next::probe && probe) {
    Result<std::optional<T>> found = probe();
    if (found.ok() && *found) {
      attempt_.journal->keep(step.outcome(detail::effect_text(step.name(), **found)));
      return *std::move(found);
    }
    if (found.ok()) return std::nullopt;
  }
  if (step.next() != Next::probe && step.next() != Next::ask) return std::nullopt;
  InterruptResponse answer = ask_about(step.uncertain(), options.expires);
  if (!answer.approved) return std::nullopt;
  T value{};
  Decoder in;
  const Value& given = answer.payload["result"];
  if (given.is_null() || !codec::decode(given, value, in)) value = T{};
  attempt_.journal->keep(step.outcome(detail::effect_text(step.name(), value)));
  return std::optional<T>(std::move(value));
}

// The same after a call that returned `uncertain`. If the effect must be called again, the attempt
// fails with `unavailable`: the node's retry policy limits the number of calls.
template <typename T>
std::optional<T> Context::settle_call(EffectStep& step, const EffectOptions& options,
                                      const Probe<T>& probe, Error why) {
  step.call_was_uncertain(options.when_uncertain);
  if (auto settled = settle<T>(step, options, probe)) return *std::move(settled);
  why.code = ErrorCode::unavailable;
  detail::throw_failure(why);
}

template <typename T, typename Function>
std::optional<T> Context::effect_now(std::string name, EffectOptions options, Function action,
                                     Probe<T> probe) {
  EffectStep step(*attempt_.journal, effect_row(std::move(name), EffectClass::unkeyed),
                  options.when_uncertain);
  if (step.next() != EffectStep::Next::call) {
    if (auto settled = settle<T>(step, options, probe)) return *std::move(settled);
    journal_first(step.intent());
  }
  detail::ObservedCall call(attempt_.effect_observer, step);
  Result<T> result = detail::as_result(action());
  call.came_to(result);
  if (!result.ok() && result.error().code == ErrorCode::uncertain) {
    attempt_.journal->keep(step.uncertain());
    return settle_call<T>(step, options, probe, std::move(result).error());
  }
  if (!result.ok()) attempt_.journal->keep(step.failed(result.error()));
  T value = std::move(result).value();
  attempt_.journal->keep(step.outcome(detail::effect_text(step.name(), value)));
  return value;
}

template <typename T, typename Function>
Task<std::optional<T>> Context::effect_task(std::string name, EffectOptions options,
                                            Function action, Probe<T> probe) {
  EffectStep step(*attempt_.journal, effect_row(std::move(name), EffectClass::unkeyed),
                  options.when_uncertain);
  if (step.next() != EffectStep::Next::call) {
    auto settled = settle<T>(step, options, probe);
    if (settled) co_return *std::move(settled);
    EffectRow intent = step.intent();
    auto intended = co_await attempt_.journal->write(std::move(intent));
    std::move(intended).value();
  }
  detail::ObservedCall call(attempt_.effect_observer, step);
  auto returned = co_await action();
  Result<T> result = detail::as_result(std::move(returned));
  call.came_to(result);
  if (!result.ok()) {
    bool is_unknown = result.error().code == ErrorCode::uncertain;
    EffectRow row = is_unknown ? step.uncertain() : step.failed(result.error());
    auto written = co_await attempt_.journal->write(std::move(row));
    std::move(written).value();
    if (is_unknown) co_return settle_call<T>(step, options, probe, std::move(result).error());
  }
  T value = std::move(result).value();
  EffectRow row = step.outcome(detail::effect_text(step.name(), value));
  auto written = co_await attempt_.journal->write(std::move(row));
  std::move(written).value();
  co_return std::optional<T>(std::move(value));
}

}  // namespace belay
