#pragma once
// graph/guarded.h - where the engine calls a graph's own functions (conditions, branches, reducers,
// mappings), and what they throw becomes data.

#include <stdexcept>
#include <string>

#include "belay/result.h"

namespace belay {

// What `function`, which returns a Result<T>, comes to. `what` names it in the error.
template <typename T, typename Function>
Result<T> guarded(const std::string& what, Function function) {
  try {
    return function();
  } catch (const Failure& failure) {
    Error said = failure.error();
    said.message = error(said.code, std::move(said.message)).message;
    return said;
  } catch (const std::exception& exception) {
    return error(ErrorCode::invalid, what + " threw: " + exception.what());
  } catch (...) {
    return error(ErrorCode::invalid, what + " threw.");
  }
}

}  // namespace belay
