#pragma once
// graph/call_guarded.h - where the engine calls a graph's own functions (conditions, branches,
// reducers, mappings), and what they throw becomes data.

#include <stdexcept>
#include <string>
#include <utility>

#include "belay/result.h"

namespace belay {

// A failure that somebody else has put together, with a message as those of error() are: it is
// stored as JSON and shown on one line.
inline Error with_sentence(Error failure) {
  failure.message = error(failure.code, std::move(failure.message)).message;
  return failure;
}

// What `function`, which returns a Result<T>, comes to. `what` names it in the error.
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
