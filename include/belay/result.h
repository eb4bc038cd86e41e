#pragma once
// belay/result.h - errors as data, and the Result of every function that can fail.
//
// A Result<T> holds either a T or an Error. An Error is stored in a checkpoint, read back after a
// crash and displayed to users; therefore it has a code for programs and a message with a remedy.
//
// Inside a node, use `value()`: it throws Failure, which passes the Error unchanged to the node's
// caller in the engine, where it becomes data again. Functions for nodes (Context, Update) throw
// too; no other public function of Belay does.

#include <chrono>
#include <concepts>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "belay/detail/refused.h"

namespace belay {

// The kind of a failure, which determines how the caller can react. Stored by name: append, never
// rename.
enum class ErrorCode {
  not_found,    // the requested object does not exist
  conflict,     // another writer or decider was first: reload, then decide again
  invalid,      // the input is wrong: the same call can never succeed
  unavailable,  // the other side might respond later: safe to retry
  uncertain,    // the operation might have happened: find out before repeating it
  exhausted,    // a declared limit is reached: attempts, time, supersteps, cost
  cancelled,    // the run was cancelled
  corrupt,      // stored bytes fail their check: requires an intervention
  forbidden,    // a permission, a role or a policy (http.h) does not permit the call
};

std::string_view name_of(ErrorCode code);
std::optional<ErrorCode> error_code_named(std::string_view name);

struct Error {
  ErrorCode code = ErrorCode::invalid;
  std::string message;  // one line: the fact with the affected object, then the remedy
  // Only with `unavailable`: the delay that the other side requested. A retry waits at least this.
  std::optional<std::chrono::milliseconds> retry_after = std::nullopt;
  friend bool operator==(const Error&, const Error&) = default;
};

// Builds an Error. Unlike an aggregate, it is safe inside a co_await expression (see task.h).
Error error(ErrorCode code, std::string message);

// The exception of value(). The engine converts it back into its Error.
class Failure : public std::exception {
 public:
  explicit Failure(Error error) : error_(std::move(error)) {}
  const Error& error() const { return error_; }
  const char* what() const noexcept override { return error_.message.c_str(); }

 private:
  Error error_;
};

namespace detail {
[[noreturn]] void throw_failure(const Error& error);
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);
}  // namespace detail

// Checks an invariant of Belay itself, which no input can break: ends the process, in every build.
#define BELAY_ASSERT(condition) \
  ((condition) ? void(0) : ::belay::detail::assertion_failed(#condition, __FILE__, __LINE__))

// The value of a Result without a value.
struct Done {
  friend bool operator==(const Done&, const Done&) = default;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  using Type = T;

  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return held_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok().
  T& operator*() & { return BELAY_ASSERT(ok()), *std::get_if<0>(&held_); }
  const T& operator*() const& { return BELAY_ASSERT(ok()), *std::get_if<0>(&held_); }
  T&& operator*() && { return BELAY_ASSERT(ok()), std::move(*std::get_if<0>(&held_)); }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }

  // REQUIRES: !ok().
  const Error& error() const& { return BELAY_ASSERT(!ok()), *std::get_if<1>(&held_); }
  Error&& error() && { return BELAY_ASSERT(!ok()), std::move(*std::get_if<1>(&held_)); }

  // Returns the value, or throws Failure with the Error. For nodes.
  T& value() & { return ok() ? **this : fail(); }
  const T& value() const& { return ok() ? **this : const_cast<Result*>(this)->fail(); }
  // On a temporary, returns the value itself instead of a reference, so that it lives as long as a
  // loop over it or over one of its members: for (const Row& row : find().value().rows).
  T value() && { return std::move(value()); }

  T value_or(T other) && { return ok() ? std::move(**this) : std::move(other); }

  // Not a conversion: it explains the compile error of a program that uses a Result as its value.
  // Because of it, both alternatives of ?: must be Results; not for Done.
  template <std::same_as<T> Value>
    requires(!std::same_as<Value, Done>)
  BELAY_REFUSED(BELAY_NOT_ITS_VALUE)
  operator Value() const {
    std::abort();
  }

 private:
  [[noreturn]] T& fail() { detail::throw_failure(error()); }

  std::variant<T, Error> held_;
};

namespace detail {
template <typename T>
inline constexpr bool is_result = false;
template <typename T>
inline constexpr bool is_result<Result<T>> = true;
template <typename T>
concept SomeResult = is_result<std::remove_cvref_t<T>>;
}  // namespace detail

}  // namespace belay

// BELAY_TRY(auto x, f()): sets x to f()'s value, or returns f()'s error from this function.
// BELAY_CO_TRY does the same inside a coroutine. They are the only control-flow macros.
#define BELAY_TRY_(result, variable, expression, leave) \
  auto result = (expression);                           \
  if (!result.ok()) leave std::move(result).error();    \
  variable = *std::move(result)
#define BELAY_NAME_2(a, b) a##b
#define BELAY_NAME(a, b) BELAY_NAME_2(a, b)
#define BELAY_TRY(variable, expression) \
  BELAY_TRY_(BELAY_NAME(belay_try_, __LINE__), variable, expression, return)
#define BELAY_CO_TRY(variable, expression) \
  BELAY_TRY_(BELAY_NAME(belay_try_, __LINE__), variable, expression, co_return)
#define BELAY_CHECK(expression) \
  if (auto belay_check = (expression); !belay_check.ok()) return std::move(belay_check).error()
#define BELAY_CO_CHECK(expression) \
  if (auto belay_check = (expression); !belay_check.ok()) co_return std::move(belay_check).error()
