#pragma once
// graph/call_guarded.h - calls functions that a graph defines (conditions, branches, reducers,
// mappings) and converts their exceptions to errors.

#include <stdexcept>
#include <string>
#include <utility>

#include "belay/result.h"

namespace belay {

// Converts the message of a failure that was not created by error() to one valid line of text, as
// error() does: the message is stored as JSON and displayed on one line.
inline Error with_sentence(Error failure) {
  failure.message = error(failure.code, std::move(failure.message)).message;
  return failure;
}

// Returns the Result<T> of `function`, or an error if it throws: the error of a Failure, `invalid`
// for any other exception. `what` names the function in the error.
template <typename T, typename Function>
Result<T> call_guarded(const std::string& what, Function function) {
  try {
    return function();
  } catch (const Failure& failure) {
    return with_sentence(failure.error());
  } catch (const std::exception& exception) {
    return error(ErrorCode::invalid, what + " threw: " + exception.what());
  } catch (...) {
    return error(ErrorCode::invalid, what + " threw.");
  }
}

}  // namespace belay
