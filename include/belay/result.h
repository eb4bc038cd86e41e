#pragma once
// belay/result.h - how every Belay function that can fail says so.
//
// A Result<T> holds a T or an Error, never both and never neither. An Error is data: it is written
// into a checkpoint, read back after a crash and shown to a person, so it carries a code that a
// program can branch on and a sentence that a person can act on.
//
// Inside a node, `value()` keeps straight code straight: it throws Failure, which carries the Error
// unchanged to the node boundary, where it becomes data again. Nothing else in Belay throws across
// a public function.

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace belay {

// What the caller may do about a failure. Stored by name: append, never rename.
enum class ErrorCode {
  not_found,    // the thing asked for does not exist
  conflict,     // someone else wrote first, or decided otherwise: reload, then decide again
  invalid,      // the input is wrong: the same call can never succeed
  unavailable,  // the other side may answer later: safe to repeat
  uncertain,    // it may or may not have happened: ask before repeating
  exhausted,    // a declared limit is spent: attempts, time, steps, money
  cancelled,    // the run was asked to stop
  corrupt,      // stored bytes fail their check: needs a person
  forbidden,    // the caller lacks the permission or role that this needs
};

std::string_view name_of(ErrorCode code);
std::optional<ErrorCode> error_code_named(std::string_view name);

struct Error {
  ErrorCode code = ErrorCode::invalid;
  std::string message;  // one sentence: what happened, to what, what to do next; no newline
  // Only with `unavailable`: how long the other side asked us to wait. A retry waits at least this.
  std::optional<std::chrono::milliseconds> retry_after = std::nullopt;
  friend bool operator==(const Error&, const Error&) = default;
};

// Builds an Error; reads better than an aggregate, and is safe inside a co_await expression.
Error error(ErrorCode code, std::string message);

// What value() throws; the node boundary turns it back into its Error.
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

// A broken invariant of Belay itself, never reachable from input: ends the process, in every build.
#define BELAY_ASSERT(condition) \
  ((condition) ? void(0) : ::belay::detail::assertion_failed(#condition, __FILE__, __LINE__))

// The value of a Result that has nothing to say but that it worked.
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

  // The value; throws Failure with the Error when there is none. For nodes.
  T& value() & { return ok() ? **this : fail(); }
  const T& value() const& { return ok() ? **this : const_cast<Result*>(this)->fail(); }
  // On a temporary, returns the value itself instead of a reference, so that it lives as long as a
  // loop over it or over one of its members: for (const Row& row : find().value().rows).
  T value() && { return std::move(value()); }

  T value_or(T other) && { return ok() ? std::move(**this) : std::move(other); }

 private:
  [[noreturn]] T& fail() { detail::throw_failure(error()); }

  std::variant<T, Error> held_;
};

}  // namespace belay

// BELAY_TRY(auto x, f()): x is f()'s value, or this function returns f()'s error.
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
