#include "agents/research/analysis/specialist_graph.h"

#include <algorithm>

#include "agents/research/analysis/analysis_folders.h"
#include "agents/research/analysis/records.h"
#include "agents/research/analysis/results_json.h"
#include "agents/research/analysis/specialist_checkpoints.h"
#include "agents/research/prose/filing_prose.h"

namespace belay::research {
namespace {

using Parts = std::shared_ptr<const ResearchParts>;

constexpr const char* kWhole = "all_subtasks";  // of a specialist without checkpoints
constexpr const char* kFirstSubtask = "financial.10k_parsing";
constexpr std::chrono::minutes kSubtaskTimeout{10};

const char* destination_name(Destination destination) {
  switch (destination) {
    case Destination::rows:
      return "rows";
    case Destination::cache:
      return "cache";
    case Destination::graph:
      return "graph";
  }
  return "";
}

// Returns the first planned subtask that is not completed; empty if all are.
std::string next_subtask(const SpecialistRun& state) {
  for (const std::string& name : state.planned) {
    if (!contains(state.completed, name)) return name;
  }
  return {};
}

std::string next_node(const SpecialistRun& state) {
  if (!state.failure.empty() || !state.waitsFor.empty() || state.isPaused) return std::string(end);
  std::string next = next_subtask(state);
  if (next.empty()) return std::string(end);
  return state.request.checkpoints ? next : kWhole;
}

// Returns a deliverable of a selected specialist that the subtask needs and that does not exist.
std::string missing_need(const Subtask& subtask, const SpecialistRun& state) {
  std::vector<std::string> needs = subtask.needs;
  needs.emplace_back(kFirstSubtask);
  for (const std::string& need : needs) {
    std::string specialist = need.substr(0, need.find('.'));
    std::string name = need.substr(specialist.size() + 1);
    bool is_itself = specialist == state.specialist;
    if (is_itself || !is_selected(state.request, specialist)) continue;
    auto done = state.completedByAll.find(specialist);
    if (done == state.completedByAll.end() || !contains(done->second, name)) return need;
  }
  return {};
}

struct SubtaskWork {
  Deliverable made;
  Results results;
  std::optional<ProseSource> prose = {};  // of a subtask that has a text
};

// Calculates a subtask; blocks while files are read.
Result<SubtaskWork> work_on(const ResearchParts& parts, const Subtask& subtask,
                            const SpecialistRun& state) {
  if (parts.before_subtask) BELAY_CHECK(parts.before_subtask(state.specialist, subtask.name));
  BELAY_TRY(std::shared_ptr<const Subject> subject,
            parts.subjects->subject(state.request, state.facts));
  SubtaskInput input{subject->company(), subject->text()};
  SubtaskWork work;
  work.results = subtask.calculate(input);
  Deliverable& made = work.made;
  made.specialist = state.specialist;
  made.subtask = subtask.name;
  made.deliverable = subtask.deliverable;
  made.destination = destination_name(subtask.destination);
  made.results = stored_results(work.results);
  if (auto item = prose_item(state.specialist, subtask.name)) {
    work.prose = prose_source(subject->text().text, *item);
  }
  return work;
}

void save_findings(const SubtaskWork& work, const std::string& ticker, Context& context) {
  for (const Finding& each : work.results.findings) {
    FindingRow row{work.made.analysis, ticker,      work.made.specialist,
                   work.made.subtask,  each.code,   severity_name(each.severity),
                   each.period_end,    each.metric, each.quote,
                   each.item};
    if (each.offset) row.offset = static_cast<std::int64_t>(*each.offset);
    row.createdAt = context.now();
    context.save(row);
  }
}

// Saves the deliverable and its findings, and adds the subtask to the state.
void save(SubtaskWork work, SpecialistRun& state, Context& context) {
  work.made.analysis = context.thread().text;
  work.made.createdAt = context.now();
  save_findings(work, state.request.ticker, context);
  context.save(work.made);
  note_completed(work.made, work.results, state);
}

// The read is recorded: a replay pauses as the run did.
Task<Result<bool>> is_paused(Context& context) {
  std::string analysis = context.thread().text;
  BELAY_CO_TRY(std::optional<PauseRequest> request,
               co_await context.records().get<PauseRequest>(std::move(analysis)));
  bool has_pause = request.has_value();
  co_return context.keyed_effect("pause", [has_pause] { return has_pause; });
}

// Adds the text of a subtask that has one.
Task<Result<Done>> add_prose(SubtaskWork& work, bool is_last_attempt, Context& context) {
  if (!work.prose) co_return Done{};
  ProseSource source = *std::move(work.prose);
  BELAY_CO_TRY(ProseResult prose,
               co_await write_prose(std::move(source), context, is_last_attempt));
  work.made.prose = prose.text();
  work.made.proseBy = prose.by;
  work.made.quotes = prose.quotes();
  co_return Done{};
}

Task<Result<SubtaskWork>> calculate(Parts parts, const Subtask& subtask, const SpecialistRun& state,
                                    Context& context) {
  SpecialistRun run = state;
  BELAY_CO_TRY(AnalysisRow row, co_await read_analysis_row(context.thread().text, context));
  BELAY_CO_TRY(run.request, with_folders(*parts, state.request, row));
  std::function<Result<SubtaskWork>()> work = [parts, &subtask, run] {
    return work_on(*parts, subtask, run);
  };
  BELAY_CO_TRY(SubtaskWork done, co_await context.run_blocking(std::move(work)));
  bool is_last = !state.request.checkpoints || context.attempt() >= kSubtaskAttempts;
  BELAY_CO_CHECK(co_await add_prose(done, is_last, context));
  co_return std::move(done);
}

// Errors of the engine are those of the node.
bool is_of_engine(ErrorCode code) {
  return code == ErrorCode::cancelled || code == ErrorCode::conflict || code == ErrorCode::corrupt;
}

// An error that might be temporary is that of the node, which is executed again. Any other one ends
// the specialist, with a checkpoint that has the reason.
Task<Result<Update<SpecialistRun>>> fail_with(Parts parts, const Specialist& specialist,
                                              const Subtask& subtask, SpecialistRun state,
                                              Error why, Context& context) {
  if (is_of_engine(why.code)) co_return why;
  if (why.code == ErrorCode::unavailable && context.attempt() < kSubtaskAttempts) co_return why;
  BELAY_CO_CHECK(co_await save_checkpoint(parts, specialist, state, &why, context));
  std::string failure = subtask.name + ": " + why.message;
  co_return changed_by_subtask(std::move(state)).set(&SpecialistRun::failure, failure);
}

Task<Result<Update<SpecialistRun>>> execute_subtask(Parts parts, const Specialist& specialist,
                                                    const Subtask& subtask,
                                                    const SpecialistRun& state, Context& context) {
  std::string need = missing_need(subtask, state);
  if (!need.empty()) co_return set(&SpecialistRun::waitsFor, need);
  BELAY_CO_TRY(bool has_pause, co_await is_paused(context));
  if (has_pause) co_return set(&SpecialistRun::isPaused, true);
  SpecialistRun next = state;
  Result<SubtaskWork> work = co_await calculate(parts, subtask, state, context);
  if (!work.ok()) {
    const Error& why = work.error();
    co_return co_await fail_with(parts, specialist, subtask, std::move(next), why, context);
  }
  save(*std::move(work), next, context);
  BELAY_CO_CHECK(co_await save_checkpoint(parts, specialist, next, nullptr, context));
  co_return changed_by_subtask(std::move(next));
}

// All planned subtasks in one commit, without checkpoints: after a crash, they are executed again.
Task<Result<Update<SpecialistRun>>> execute_all(Parts parts, const Specialist& specialist,
                                                const SpecialistRun& state, Context& context) {
  SpecialistRun next = state;
  for (const Subtask& subtask : specialist.subtasks) {
    bool is_planned = contains(state.planned, subtask.name);
    if (!is_planned || contains(state.completed, subtask.name)) continue;
    std::string need = missing_need(subtask, state);
    if (!need.empty()) {
      co_return changed_by_subtask(std::move(next)).set(&SpecialistRun::waitsFor, need);
    }
    Result<SubtaskWork> work = co_await calculate(parts, subtask, state, context);
    if (!work.ok()) {
      std::string failure = subtask.name + ": " + work.error().message;
      co_return changed_by_subtask(std::move(next)).set(&SpecialistRun::failure, failure);
    }
    save(*std::move(work), next, context);
  }
  co_return changed_by_subtask(std::move(next));
}

// The first node: continues where the specialist ended before.
Task<Result<Update<SpecialistRun>>> begin_specialist(Parts parts, const Specialist& specialist,
                                                     const SpecialistRun& state, Context& context) {
  SpecialistRun now = state;
  auto restored = co_await restore_specialist(parts, specialist, std::move(now), context);
  if (restored.ok()) co_return changed_by_subtask(*std::move(restored));
  if (restored.error().code != ErrorCode::invalid) co_return std::move(restored).error();
  co_return set(&SpecialistRun::failure, restored.error().message);
}

}  // namespace

Result<Graph<SpecialistRun>> specialist_graph(const Specialist& specialist, Parts parts) {
  GraphBuilder<SpecialistRun> graph{"research_" + specialist.name};
  std::vector<std::string_view> targets;
  // The specialists live as long as the program.
  const Specialist* whole = &specialist;
  for (const Subtask& subtask : specialist.subtasks) {
    const Subtask* work = &subtask;
    graph
        .node(subtask.name,
              [parts, whole, work](const SpecialistRun& state, Context& context) {
                return execute_subtask(parts, *whole, *work, state, context);
              })
        .retry({.attempts = kSubtaskAttempts})
        .timeout(kSubtaskTimeout);
    targets.push_back(subtask.name);
  }
  graph
      .node(kWhole,
            [parts, whole](const SpecialistRun& state, Context& context) {
              return execute_all(parts, *whole, state, context);
            })
      .timeout(kSubtaskTimeout);
  graph.edge(kWhole, end);
  targets.push_back(end);
  for (const Subtask& subtask : specialist.subtasks) graph.branch(subtask.name, next_node, targets);
  targets.push_back(kWhole);
  graph
      .node("begin",
            [parts, whole](const SpecialistRun& state, Context& context) {
              return begin_specialist(parts, *whole, state, context);
            })
      .retry({.attempts = kSubtaskAttempts});
  graph.edge(start, "begin").branch("begin", next_node, targets);
  return std::move(graph).build();
}

}  // namespace belay::research
