#include "agent/deadline.h"

#include "base/executor_timer.h"

namespace belay::agents {
namespace {

ToolOutcome outcome_of_exception(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Failure& failure) {
    return {failure.error()};
  } catch (const std::exception& exception) {
    return {error(ErrorCode::invalid, std::string("The tool threw: ") + exception.what())};
  } catch (...) {
    // A request for a decision or for a row of the journal: see context.h.
    return {std::string(), thrown};
  }
}

Task<ToolOutcome> guarded(Task<Result<std::string>> function) {
  std::exception_ptr thrown;
  try {
    auto text = co_await function;
    ToolOutcome outcome;
    outcome.text = std::move(text);
    co_return outcome;
  } catch (...) {
    thrown = std::current_exception();
  }
  co_return outcome_of_exception(thrown);
}

}  // namespace

Task<ToolOutcome> within(std::chrono::milliseconds limit, Task<Result<std::string>> function,
                         Error late) {
  if (limit <= limit.zero()) co_return co_await guarded(std::move(function));
  Executor& executor = co_await this_executor();
  Completion<ToolOutcome> first;
  Spawned working = spawn<ToolOutcome>(executor, guarded(std::move(function)),
                                       [first](ToolOutcome outcome) { first.complete(outcome); });
  ExecutorTimer timer(executor, limit, [first, late] {
    ToolOutcome outcome;
    outcome.text = late;
    first.complete(std::move(outcome));
  });
  co_return co_await first;
}

}  // namespace belay::agents
