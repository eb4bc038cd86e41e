#include "agents/research/analysis/specialist_checkpoints.h"

#include <algorithm>

#include "agents/research/checkpoints/working_memory.h"

namespace belay::research {
namespace {

std::vector<std::string> names_of_subtasks(const Specialist& specialist) {
  std::vector<std::string> names;
  for (const Subtask& subtask : specialist.subtasks) names.push_back(subtask.name);
  return names;
}

Value configuration(const SpecialistRun& state) {
  Value::Object constants;
  for (const auto& [name, value] : state.request.constants) constants.emplace(name, value);
  const std::vector<std::string>& peers = state.request.peers;
  return Value::object({{"asOf", state.facts.asOf},
                        {"currency", state.facts.currency},
                        {"peers", Value::Array(peers.begin(), peers.end())},
                        {"constants", std::move(constants)}});
}

// The refusal of a migration is a result, and any other error that of the effect.
Task<Result<CheckpointRead>> read_checkpoint(std::shared_ptr<const ResearchParts> parts,
                                             std::string agent_type, Context& context) {
  auto rows = checkpoint_rows(context);
  AgentCheckpointer checkpointer(*rows, *parts->versions, parts->checkpoint_cache.get(),
                                 parts->checkpoints);
  std::string analysis = context.thread().text;
  RestoreResult restored =
      co_await checkpointer.restore(std::move(analysis), std::move(agent_type));
  CheckpointRead read;
  if (!restored.ok() && restored.error().code == ErrorCode::invalid) {
    read.refusal = restored.error().message;
    co_return std::move(read);
  }
  if (!restored.ok()) co_return std::move(restored).error();
  if (*restored) {
    BELAY_CO_TRY(read.checkpoint, checkpoint_value((*restored)->checkpoint));
  }
  co_return std::move(read);
}

// Completed subtasks are the first ones: a specialist ends with the first that fails.
Result<Done> check_completed(const Specialist& specialist, const AgentCheckpoint& checkpoint) {
  const std::vector<std::string>& completed = checkpoint.completed_subtasks;
  std::vector<std::string> names = names_of_subtasks(specialist);
  bool is_beginning = completed.size() <= names.size() &&
                      std::equal(completed.begin(), completed.end(), names.begin());
  if (is_beginning) return Done{};
  return error(ErrorCode::invalid,
               "The checkpoint of specialist \"" + specialist.name +
                   "\" has completed subtasks that are not the first ones of this version. Add a "
                   "migration, or start a new analysis.");
}

}  // namespace

AgentCheckpoint specialist_checkpoint(const Specialist& specialist, const SpecialistRun& state,
                                      const std::string& analysis) {
  AgentCheckpoint checkpoint;
  checkpoint.analysis_id = analysis;
  checkpoint.agent_type = specialist.name;
  checkpoint.stock_ticker = state.request.ticker;
  set_progress(checkpoint, names_of_subtasks(specialist), state.completed.size());
  checkpoint.working_memory = state.workingMemory;
  checkpoint.interim_results = state.interimResults;
  checkpoint.agent_config = configuration(state);
  checkpoint.retry_count = state.retries;
  return checkpoint;
}

void note_completed(const Deliverable& made, const Results& results, SpecialistRun& state) {
  auto missing = std::count_if(results.figures.begin(), results.figures.end(),
                               [](const Figure& each) { return !each.quantity.is_available(); });
  Value::Array codes;
  for (const Finding& finding : results.findings) {
    codes.push_back(Value::object({{"code", finding.code},
                                   {"periodEnd", finding.period_end},
                                   {"severity", severity_name(finding.severity)}}));
  }
  WorkingMemory memory;
  // A memory that cannot be restored is dropped: it is a cache.
  if (!memory.restore(state.workingMemory).ok()) state.workingMemory = Value();
  Value summary = Value::object(
      {{"figures", results.figures.size()}, {"notAvailable", static_cast<std::int64_t>(missing)}});
  if (memory.put(made.subtask, std::move(summary)).ok()) state.workingMemory = memory.dump();
  if (!state.interimResults.as_object()) state.interimResults = Value::Object();
  if (!codes.empty()) {
    state.interimResults.as_object()->insert_or_assign(made.subtask, Value(std::move(codes)));
  }
  state.completed.push_back(made.subtask);
}

Task<Result<Done>> save_checkpoint(std::shared_ptr<const ResearchParts> parts,
                                   const Specialist& specialist, SpecialistRun& state,
                                   const Error* failure, Context& context) {
  if (!state.request.checkpoints) co_return Done{};
  AgentCheckpoint checkpoint = specialist_checkpoint(specialist, state, context.thread().text);
  if (failure) {
    set_failure(checkpoint, *failure);
    state.retries = checkpoint.retry_count;
  }
  // The checkpoints of this phase are not visible yet: the state has the time of the last one.
  checkpoint.checkpoint_time = state.checkpointTime;
  Instant after = state.checkpointTime + Instant::duration(1);
  state.checkpointTime = std::max(context.now(), after);
  auto rows = checkpoint_rows(context);
  AgentCheckpointer checkpointer(*rows, *parts->versions, parts->checkpoint_cache.get(),
                                 parts->checkpoints);
  Instant time = state.checkpointTime;
  BELAY_CO_CHECK(co_await checkpointer.save(std::move(checkpoint), time));
  co_return Done{};
}

Task<Result<SpecialistRun>> restore_specialist(std::shared_ptr<const ResearchParts> parts,
                                               const Specialist& specialist, SpecialistRun state,
                                               Context& context) {
  if (!state.request.checkpoints || !state.isResumed) co_return std::move(state);
  std::function<Task<Result<CheckpointRead>>()> read = [parts, name = specialist.name, &context] {
    return read_checkpoint(parts, name, context);
  };
  CheckpointRead found = co_await context.keyed_effect("checkpoint", read);
  if (!found.refusal.empty()) co_return error(ErrorCode::invalid, found.refusal);
  if (found.checkpoint.is_null()) co_return std::move(state);
  BELAY_CO_TRY(AgentCheckpoint checkpoint, checkpoint_from(found.checkpoint));
  BELAY_CO_CHECK(check_completed(specialist, checkpoint));
  state.completed = std::move(checkpoint.completed_subtasks);
  state.workingMemory = std::move(checkpoint.working_memory);
  state.interimResults = std::move(checkpoint.interim_results);
  state.retries = checkpoint.retry_count;
  state.checkpointTime = checkpoint.checkpoint_time;
  co_return std::move(state);
}

Update<SpecialistRun> changed_by_subtask(SpecialistRun state) {
  return set(&SpecialistRun::completed, std::move(state.completed))
      .set(&SpecialistRun::workingMemory, std::move(state.workingMemory))
      .set(&SpecialistRun::interimResults, std::move(state.interimResults))
      .set(&SpecialistRun::retries, state.retries)
      .set(&SpecialistRun::checkpointTime, state.checkpointTime);
}

}  // namespace belay::research
