#include "agents/research/analysis/coordinator.h"

#include <algorithm>
#include <array>

#include "agents/research/analysis/records.h"

namespace belay::research {
namespace {

using Parts = std::shared_ptr<const ResearchParts>;

constexpr const char* kPaused = "resume";  // as SpecialistProgress::waitsFor
constexpr const char* kScoring = "scoring";
constexpr const char* kFinalSubtask = "capital_allocation_scoring";
constexpr std::chrono::hours kDecisionTime{30 * 24};

// A part of the analysis, as one node: subtasks of a specialist.
struct Part {
  std::string node;
  std::string specialist;
  int phase = 0;
  std::vector<std::string> subtasks;
};

std::vector<std::string> subtasks_of(const Specialist& specialist) {
  std::vector<std::string> names;
  for (const Subtask& subtask : specialist.subtasks) {
    if (!subtask.needs_approval) names.push_back(subtask.name);
  }
  return names;
}

// Returns 1 for a specialist that needs no other one; otherwise the phase after those that it
// needs. Needs form no cycle.
int phase_of(const Specialist& specialist) {
  int phase = 1;
  for (const Subtask& subtask : specialist.subtasks) {
    if (subtask.needs_approval) continue;  // the final scoring, after all phases
    for (const std::string& need : subtask.needs) {
      const Specialist* needed = find_specialist(need.substr(0, need.find('.')));
      if (needed != &specialist) phase = std::max(phase, phase_of(*needed) + 1);
    }
  }
  return phase;
}

// The statements first; then the specialists, by their phases.
std::vector<Part> all_parts() {
  std::vector<Part> parts = {{"statements", "financial", 0, {"10k_parsing"}}};
  for (const Specialist& each : specialists()) {
    parts.push_back({each.name, each.name, phase_of(each), subtasks_of(each)});
  }
  return parts;
}

const std::vector<Part>& parts_of_analysis() {
  static const std::vector<Part> parts = all_parts();
  return parts;
}

const std::vector<std::string>& completed_by(const Analysis& state, const std::string& name) {
  static const std::vector<std::string> none;
  auto found = state.specialists.find(name);
  return found == state.specialists.end() ? none : found->second.completed;
}

bool is_done(const Analysis& state, const Part& part) {
  const std::vector<std::string>& completed = completed_by(state, part.specialist);
  return std::all_of(part.subtasks.begin(), part.subtasks.end(),
                     [&](const std::string& name) { return contains(completed, name); });
}

bool is_scored(const Analysis& state) {
  return contains(completed_by(state, "strategy"), kFinalSubtask);
}

// Returns the specialists whose last run failed, waits, or was paused, with the reason.
std::map<std::string, std::string> obstacles(const Analysis& state) {
  std::map<std::string, std::string> found;
  for (const auto& [name, progress] : state.specialists) {
    if (!progress.failure.empty()) found[name] = progress.failure;
    if (progress.waitsFor == kPaused) found[name] = "paused";
    if (!progress.waitsFor.empty() && progress.waitsFor != kPaused) {
      found[name] = "waits for " + progress.waitsFor;
    }
  }
  return found;
}

bool has_pause(const Analysis& state) {
  return std::any_of(state.specialists.begin(), state.specialists.end(),
                     [](const auto& each) { return each.second.waitsFor == kPaused; });
}

SpecialistRun begin_part(const Analysis& state, const std::string& analysis,
                         const std::string& specialist, std::vector<std::string> planned) {
  SpecialistRun run;
  run.analysis = analysis;
  run.specialist = specialist;
  run.request = state.request;
  run.facts = state.facts;
  for (const auto& [name, progress] : state.specialists) {
    run.completedByAll[name] = progress.completed;
  }
  run.planned = std::move(planned);
  run.completed = completed_by(state, specialist);
  return run;
}

Update<Analysis> end_part(const SpecialistRun& run) {
  SpecialistProgress progress{run.completed, run.failure, run.waitsFor};
  if (run.isPaused) progress.waitsFor = kPaused;
  return merge(&Analysis::specialists, run.specialist, std::move(progress));
}

Task<Result<Update<Analysis>>> begin(Parts parts, const Analysis& state, Context& context) {
  AnalysisRequest order = state.request;
  if (order.data.empty() && !parts->data.empty()) order.data = {parts->data};
  std::function<Result<AnalysisFacts>()> work = [parts, order]() -> Result<AnalysisFacts> {
    BELAY_TRY(std::shared_ptr<const Subject> subject, parts->subjects->load(order));
    return subject->facts();
  };
  BELAY_CO_TRY(AnalysisFacts facts, co_await context.run_blocking(std::move(work)));
  context.save(AnalysisRow{context.thread().text, state.request.ticker, facts.asOf, context.now()});
  auto update = set(&Analysis::facts, std::move(facts)).set(&Analysis::request, std::move(order));
  co_return std::move(update).set(
      &Analysis::question,
      ProgressQuestion{context.thread().text, state.request.ticker, "", {}, {}});
}

// Selects the unfinished parts of the first phase that has any, each once.
Update<Analysis> plan(const Analysis& state, Context&) {
  if (has_pause(state)) return go_to<Analysis>("review");
  std::vector<std::string> next;
  int phase = 0;
  for (const Part& part : parts_of_analysis()) {
    bool is_open = is_selected(state.request, part.specialist) && !is_done(state, part) &&
                   !contains(state.attempted, part.node);
    if (!is_open || (!next.empty() && part.phase > phase)) continue;
    if (part.phase < phase) next.clear();
    phase = part.phase;
    next.push_back(part.node);
  }
  if (next.empty()) return go_to<Analysis>("review");
  auto update = append(&Analysis::attempted, next);
  for (const std::string& node : next) update = std::move(update).go_to(node);
  return update;
}

Update<Analysis> ask(const Analysis& state, std::string reason, std::string_view node) {
  ProgressQuestion question = state.question;
  question.reason = std::move(reason);
  question.progress = progress_of(state);
  question.failures = obstacles(state);
  return set(&Analysis::question, std::move(question)).go_to(node);
}

Update<Analysis> review(const Analysis& state, Context&) {
  if (has_pause(state)) return ask(state, "paused", "continue");
  if (!obstacles(state).empty()) return ask(state, "failures", "continue");
  if (!is_selected(state.request, "strategy") || is_scored(state)) return go_to<Analysis>("finish");
  if (state.isApproved) return go_to<Analysis>(kScoring);
  return ask(state, "gate", "gate");
}

// After an approval: the parts that are not finished may work again.
Update<Analysis> again(const Analysis& state, Context&) {
  auto update = set(&Analysis::attempted, {});
  for (const auto& [name, progress] : state.specialists) {
    update = std::move(update).merge(&Analysis::specialists, name,
                                     SpecialistProgress{progress.completed, "", ""});
  }
  return update;
}

Update<Analysis> finish(const Analysis& state, Context& context) {
  bool is_complete = obstacles(state).empty();
  bool is_rejected = is_complete && is_selected(state.request, "strategy") && !is_scored(state);
  context.outcome(is_rejected ? "scoring_rejected" : is_complete ? "complete" : "incomplete");
  return set(&Analysis::isEnded, true);
}

std::string gate_text(const Analysis& state) {
  return "All other subtasks of the analysis of " + state.request.ticker +
         " are complete. Calculate the final score of its capital allocation?";
}

std::string continue_text(const Analysis& state) {
  std::string text = "The analysis of " + state.request.ticker;
  if (state.question.reason == "paused") return text + " is paused. Continue?";
  std::size_t count = state.question.failures.size();
  return text + " has " + std::to_string(count) + (count == 1 ? " specialist" : " specialists") +
         " that did not finish. Execute their remaining subtasks?";
}

Result<Done> add_parts(GraphBuilder<Analysis>& graph, const Parts& shared) {
  for (const Part& part : parts_of_analysis()) {
    BELAY_TRY(Graph<SpecialistRun> inner,
              specialist_graph(*find_specialist(part.specialist), shared));
    graph.subgraph(
        part.node, inner,
        [part](const Analysis& state) {
          return begin_part(state, state.question.analysis, part.specialist, part.subtasks);
        },
        end_part);
    graph.edge(part.node, "plan");
  }
  BELAY_TRY(Graph<SpecialistRun> scoring, specialist_graph(*find_specialist("strategy"), shared));
  graph.subgraph(
      kScoring, scoring,
      [](const Analysis& state) {
        return begin_part(state, state.question.analysis, "strategy", {kFinalSubtask});
      },
      [](const SpecialistRun& run) { return end_part(run).set(&Analysis::isApproved, true); });
  graph.edge(kScoring, "review");
  return Done{};
}

std::vector<std::string_view> targets_of_plan() {
  std::vector<std::string_view> targets = {"review"};
  for (const Part& part : parts_of_analysis()) targets.push_back(part.node);
  return targets;
}

}  // namespace

std::map<std::string, std::string> progress_of(const Analysis& state) {
  std::map<std::string, std::string> progress;
  for (const Specialist& each : specialists()) {
    if (!is_selected(state.request, each.name)) continue;
    progress[each.name] = std::to_string(completed_by(state, each.name).size()) + " of " +
                          std::to_string(each.subtasks.size());
  }
  return progress;
}

Result<Graph<Analysis>> analysis_graph(Parts parts) {
  GraphBuilder<Analysis> graph{kAnalysisGraph};
  graph.describe("Analyzes a company from its filings: thirteen specialists, 53 subtasks.");
  graph.one_run_per_thread();
  graph.node("begin", [parts](const Analysis& state, Context& context) {
    return begin(parts, state, context);
  });
  graph.node("plan", plan).destinations(targets_of_plan());
  BELAY_CHECK(add_parts(graph, parts));
  graph.node("review", review).destinations({"continue", "gate", kScoring, "finish"});
  graph
      .approval("gate", &Analysis::question,
                {.question = "Calculate the final score?", .expires = kDecisionTime})
      .question(gate_text)
      .when([](const Analysis& state) { return !state.request.yes; })
      .approved(kScoring)
      .rejected("finish");
  graph
      .approval("continue", &Analysis::question,
                {.question = "Continue the analysis?", .expires = kDecisionTime})
      .question(continue_text)
      .approved("again")
      .rejected("finish");
  graph.node("again", again);
  graph.node("finish", finish);
  graph.edge(start, "begin").edge("begin", "plan").edge("plan", "review");
  graph.edge("again", "plan").edge("review", "finish").edge("finish", end);
  graph.accept_older_versions();
  return std::move(graph).build();
}

}  // namespace belay::research
