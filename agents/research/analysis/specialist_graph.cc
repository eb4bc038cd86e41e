#include "agents/research/analysis/specialist_graph.h"

#include <algorithm>

#include "agents/research/analysis/records.h"
#include "agents/research/analysis/results_json.h"
#include "agents/research/specialists/extractive_summary.h"

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

// The text next to the numbers of a subtask. Without a model, it consists of quotes.
void add_extract(const SubtaskInput& input, const Subtask& subtask, Deliverable& made) {
  std::string item;
  if (subtask.name == "business_description") item = "1";
  if (subtask.name == "item_1a_extraction") item = "1A";
  if (item.empty()) return;
  ExtractiveSummary summary = extractive_summary(input.text.text, item);
  made.prose = summary.note;
  for (const Quote& quote : summary.sentences) made.prose += "\n\n" + quote.text;
  made.proseBy = "extract";
}

// Calculates a subtask; blocks while files are read.
Result<Deliverable> deliverable_of(const ResearchParts& parts, const Subtask& subtask,
                                   const SpecialistRun& state) {
  if (parts.before_subtask) BELAY_CHECK(parts.before_subtask(state.specialist, subtask.name));
  BELAY_TRY(std::shared_ptr<const Subject> subject,
            parts.subjects->subject(state.request, state.facts));
  SubtaskInput input{subject->company(), subject->text()};
  Deliverable made;
  made.analysis = state.analysis;
  made.specialist = state.specialist;
  made.subtask = subtask.name;
  made.deliverable = subtask.deliverable;
  made.destination = destination_name(subtask.destination);
  made.results = stored_results(subtask.calculate(input));
  add_extract(input, subtask, made);
  return made;
}

void save_findings(const Deliverable& made, const std::string& ticker, Context& context) {
  for (const Finding& each : findings_in(made.results)) {
    FindingRow row{made.analysis,   ticker,      made.specialist,
                   made.subtask,    each.code,   severity_name(each.severity),
                   each.period_end, each.metric, each.quote,
                   each.item};
    if (each.offset) row.offset = static_cast<std::int64_t>(*each.offset);
    row.createdAt = context.now();
    context.save(row);
  }
}

void save(Deliverable made, const SpecialistRun& state, Context& context) {
  made.createdAt = context.now();
  save_findings(made, state.request.ticker, context);
  context.save(made);
}

// Retries an error that might be temporary; otherwise it is that of the specialist.
Result<Update<SpecialistRun>> failed_with(Error why, const std::string& subtask, Context& context) {
  if (why.code == ErrorCode::unavailable && context.attempt() < kSubtaskAttempts) return why;
  return set(&SpecialistRun::failure, subtask + ": " + why.message);
}

Task<Result<bool>> is_paused(const SpecialistRun& state, Context& context) {
  std::string analysis = state.analysis;
  BELAY_CO_TRY(std::optional<PauseRequest> request,
               co_await context.records().get<PauseRequest>(std::move(analysis)));
  co_return request.has_value();
}

Task<Result<Deliverable>> calculate(Parts parts, const Subtask& subtask, const SpecialistRun& state,
                                    Context& context) {
  std::function<Result<Deliverable>()> work = [parts, &subtask, run = state] {
    return deliverable_of(*parts, subtask, run);
  };
  co_return co_await context.run_blocking(std::move(work));
}

Task<Result<Update<SpecialistRun>>> execute_subtask(Parts parts, const Subtask& subtask,
                                                    const SpecialistRun& state, Context& context) {
  std::string need = missing_need(subtask, state);
  if (!need.empty()) co_return set(&SpecialistRun::waitsFor, need);
  BELAY_CO_TRY(bool has_pause, co_await is_paused(state, context));
  if (has_pause) co_return set(&SpecialistRun::isPaused, true);
  Result<Deliverable> made = co_await calculate(parts, subtask, state, context);
  if (!made.ok()) co_return failed_with(std::move(made).error(), subtask.name, context);
  save(*std::move(made), state, context);
  co_return append(&SpecialistRun::completed, subtask.name);
}

// All planned subtasks in one commit: after a crash, they are executed again.
Task<Result<Update<SpecialistRun>>> execute_all(Parts parts, const Specialist& specialist,
                                                const SpecialistRun& state, Context& context) {
  Update<SpecialistRun> update = unchanged<SpecialistRun>();
  for (const Subtask& subtask : specialist.subtasks) {
    bool is_planned = contains(state.planned, subtask.name);
    if (!is_planned || contains(state.completed, subtask.name)) continue;
    std::string need = missing_need(subtask, state);
    if (!need.empty()) co_return std::move(update).set(&SpecialistRun::waitsFor, need);
    Result<Deliverable> made = co_await calculate(parts, subtask, state, context);
    if (!made.ok()) {
      std::string failure = subtask.name + ": " + made.error().message;
      co_return std::move(update).set(&SpecialistRun::failure, failure);
    }
    save(*std::move(made), state, context);
    update = std::move(update).append(&SpecialistRun::completed, subtask.name);
  }
  co_return std::move(update);
}

}  // namespace

Result<Graph<SpecialistRun>> specialist_graph(const Specialist& specialist, Parts parts) {
  GraphBuilder<SpecialistRun> graph{"research_" + specialist.name};
  std::vector<std::string_view> targets;
  for (const Subtask& subtask : specialist.subtasks) {
    // The specialists live as long as the program.
    const Subtask* work = &subtask;
    graph
        .node(subtask.name,
              [parts, work](const SpecialistRun& state, Context& context) {
                return execute_subtask(parts, *work, state, context);
              })
        .retry({.attempts = kSubtaskAttempts})
        .timeout(kSubtaskTimeout);
    targets.push_back(subtask.name);
  }
  const Specialist* whole = &specialist;
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
  graph.node("begin", [](const SpecialistRun&, Context&) { return unchanged<SpecialistRun>(); });
  graph.edge(start, "begin").branch("begin", next_node, targets);
  return std::move(graph).build();
}

}  // namespace belay::research
