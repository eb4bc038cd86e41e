#include "driver/node_boundary.h"

#include <stdexcept>

#include "graph/call_guarded.h"

namespace belay {
namespace {

Error threw(const GraphDefinition::Node& node, ErrorCode code, const std::string& what) {
  return error(code, "The node \"" + node.name + "\" threw: " + what);
}

// Converts an exception of a node to its outcome.
NodeOutcome outcome_of_exception(const GraphDefinition::Node& node, std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (Interrupted& interrupted) {
    return std::move(interrupted.question);
  } catch (JournalFirst& journal) {
    return std::move(journal.row);
  } catch (const Failure& failure) {
    return failure.error();
  } catch (const std::logic_error& bug) {
    return threw(node, ErrorCode::invalid, bug.what());
  } catch (const std::exception& exception) {
    return threw(node, ErrorCode::unavailable, exception.what());
  } catch (...) {
    return threw(node, ErrorCode::unavailable, "an exception of an unknown type");
  }
}

// Converts an exception of a receiver: the delivery is retried as after a returned error.
Error error_of_exception(const std::string& what, std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Failure& failure) {
    return with_sentence(failure.error());
  } catch (const std::exception& exception) {
    return error(ErrorCode::unavailable, what + " threw: " + exception.what());
  } catch (...) {
    return error(ErrorCode::unavailable, what + " threw.");
  }
}

NodeOutcome outcome_of(NodeResult result) {
  if (!result.ok()) return std::move(result).error();
  return *std::move(result);
}

}  // namespace

Context::Attempt attempt_of(const engine::Run& run, const engine::Run& frame,
                            const engine::StartNode& action) {
  const engine::NodeTask& task = frame.tasks[action.attempt.position];
  Context::Attempt attempt;
  attempt.tenant = run.row.tenant;
  attempt.user = run.row.user;
  attempt.thread = run.row.thread;
  attempt.run = run.row.run;
  attempt.task = action.attempt.task;
  attempt.node = action.node->name;
  attempt.attempt = action.attempt.attempt;
  attempt.previous_error = task.previous_error;
  attempt.now = engine::began_at(run, frame, task);
  attempt.seed = engine::seed_of(action.attempt);
  attempt.options = run.options;
  attempt.answers = task.answers;
  attempt.input = task.input;
  attempt.decisions = task.decisions;
  return attempt;
}

NodeOutcome run_plain_node(const GraphDefinition::Node& node, const void* state, Context& context) {
  try {
    return outcome_of(node.run_plain(state, context));
  } catch (...) {
    return outcome_of_exception(node, std::current_exception());
  }
}

Error timed_out(const GraphDefinition::Node& node) {
  return error(ErrorCode::unavailable, "The node \"" + node.name + "\" took longer than its " +
                                           std::to_string(node.timeout->count()) + " ms.");
}

NodeOutcome within_timeout(const GraphDefinition::Node& node, Instant::duration taken,
                           NodeOutcome outcome) {
  bool is_kept =
      std::holds_alternative<Error>(outcome) || std::holds_alternative<EffectRow>(outcome);
  if (is_kept || !node.timeout || taken <= *node.timeout) return outcome;
  return timed_out(node);
}

Task<NodeOutcome> run_task_node(const GraphDefinition::Node& node,
                                std::shared_ptr<const void> state, Context& context) {
  std::exception_ptr thrown;
  try {
    auto task = node.run_task(state.get(), context);
    auto result = co_await task;
    co_return outcome_of(std::move(result));
  } catch (...) {
    thrown = std::current_exception();
  }
  co_return outcome_of_exception(node, thrown);
}

Task<Result<Done>> run_receiver(const Receiver& receiver, OutboxMessage message, std::string what) {
  std::exception_ptr thrown;
  try {
    auto task = receiver(std::move(message));
    auto result = co_await task;
    co_return result;
  } catch (...) {
    thrown = std::current_exception();
  }
  co_return error_of_exception(what, thrown);
}

}  // namespace belay
