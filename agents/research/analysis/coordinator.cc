#include "agents/research/analysis/coordinator.h"

#include <algorithm>
#include <array>

#include "agents/research/analysis/analysis_folders.h"
#include "agents/research/analysis/analysis_parts.h"
#include "agents/research/analysis/findings_delivery.h"
#include "agents/research/analysis/records.h"
#include "agents/research/checkpoints/retention.h"

namespace belay::research {
namespace {

using Parts = std::shared_ptr<const ResearchParts>;

constexpr const char* kPaused = "resume";  // as SpecialistProgress::waitsFor
constexpr const char* kScoring = "scoring";
constexpr const char* kFinalSubtask = "capital_allocation_scoring";
constexpr std::chrono::hours kDecisionTime{30 * 24};
constexpr std::chrono::minutes kDeliveryTimeout{10};

const std::vector<std::string>& completed_by(const Analysis& state, const std::string& name) {
  static const std::vector<std::string> none;
  auto found = state.specialists.find(name);
  return found == state.specialists.end() ? none : found->second.completed;
}

bool is_done(const Analysis& state, const AnalysisPart& part) {
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

SpecialistRun begin_part(const Analysis& state, const std::string& specialist,
                         std::vector<std::string> planned) {
  SpecialistRun run;
  run.specialist = specialist;
  run.request = state.request;
  run.facts = state.facts;
  for (const auto& [name, progress] : state.specialists) {
    run.completedByAll[name] = progress.completed;
  }
  run.planned = std::move(planned);
  run.completed = completed_by(state, specialist);
  run.isResumed = state.specialists.contains(specialist);
  return run;
}

Update<Analysis> end_part(const SpecialistRun& run) {
  SpecialistProgress progress{run.completed, run.failure, run.waitsFor};
  if (run.isPaused) progress.waitsFor = kPaused;
  return merge(&Analysis::specialists, run.specialist, std::move(progress));
}

// `row`: as listed before the start, or empty.
void save_row(AnalysisRow row, const Analysis& state, const AnalysisFacts& facts,
              Context& context) {
  row.id = context.thread().text;
  row.ticker = state.request.ticker;
  row.asOf = facts.asOf;
  row.batch = state.request.batch;
  row.createdAt = context.now();
  context.save(row);
}

ProgressQuestion new_question(const Analysis& state, const Context& context) {
  ProgressQuestion question;
  question.analysis = context.thread().text;
  question.ticker = state.request.ticker;
  return question;
}

Task<Result<Update<Analysis>>> begin(Parts parts, const Analysis& state, Context& context) {
  AnalysisRequest given = state.request;
  given.checkpoints = given.checkpoints && parts->checkpoints.enabled;
  BELAY_CO_TRY(AnalysisRow row, co_await read_analysis_row(context.thread().text, context));
  BELAY_CO_TRY(AnalysisRequest order, with_folders(*parts, given, row));
  std::function<Result<AnalysisFacts>()> work = [parts, order]() -> Result<AnalysisFacts> {
    BELAY_TRY(std::shared_ptr<const Subject> subject, parts->subjects->load(order));
    return subject->facts();
  };
  BELAY_CO_TRY(AnalysisFacts facts, co_await context.run_blocking(std::move(work)));
  save_row(std::move(row), state, facts, context);
  auto update = set(&Analysis::facts, std::move(facts)).set(&Analysis::request, std::move(given));
  co_return std::move(update)
      .set(&Analysis::id, context.thread().text)
      .set(&Analysis::question, new_question(state, context));
}

// A fork is another analysis: it executes all subtasks itself, with records of its thread.
bool is_fork(const Analysis& state, const Context& context) {
  return state.id != context.thread().text;
}

Task<Result<Update<Analysis>>> begin_fork(const Analysis& state, Context& context) {
  BELAY_CO_TRY(AnalysisRow row, co_await read_analysis_row(state.id, context));
  save_row(std::move(row), state, state.facts, context);
  co_return set(&Analysis::id, context.thread().text)
      .set(&Analysis::question, new_question(state, context))
      .set(&Analysis::specialists, {})
      .set(&Analysis::attempted, {})
      .set(&Analysis::isApproved, false)
      .go_to("again");
}

// Selects the unfinished parts of the first phase that has any, each once.
Update<Analysis> next_parts(const Analysis& state) {
  if (has_pause(state)) return go_to<Analysis>("review");
  std::vector<std::string> next;
  int phase = 0;
  for (const AnalysisPart& part : parts_of_analysis()) {
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
  question.only.clear();
  return set(&Analysis::question, std::move(question)).go_to(node);
}

Task<Result<Update<Analysis>>> plan(const Analysis& state, Context& context) {
  if (is_fork(state, context)) co_return co_await begin_fork(state, context);
  co_return next_parts(state);
}

Update<Analysis> next_question(const Analysis& state) {
  if (has_pause(state)) return ask(state, "paused", "continue");
  if (!obstacles(state).empty()) return ask(state, "failures", "continue");
  bool is_complete = !is_selected(state.request, "strategy") || is_scored(state);
  if (is_complete) return go_to<Analysis>("deliver");
  if (state.isApproved) return go_to<Analysis>(kScoring);
  return ask(state, "gate", "gate");
}

Task<Result<Update<Analysis>>> review(const Analysis& state, Context& context) {
  if (is_fork(state, context)) co_return co_await begin_fork(state, context);
  co_return next_question(state);
}

// Returns whether the decision excludes a specialist that has failed.
bool is_excluded(const Analysis& state, const std::string& specialist) {
  const std::vector<std::string>& only = state.question.only;
  if (only.empty() || contains(only, specialist)) return false;
  auto found = state.specialists.find(specialist);
  return found != state.specialists.end() && !found->second.failure.empty();
}

// After an approval: the parts that are not finished may work again, except excluded ones.
Update<Analysis> again(const Analysis& state, Context&) {
  std::vector<std::string> attempted;
  for (const AnalysisPart& part : parts_of_analysis()) {
    if (is_excluded(state, part.specialist)) attempted.push_back(part.node);
  }
  auto update = set(&Analysis::attempted, std::move(attempted));
  for (const auto& [name, progress] : state.specialists) {
    if (is_excluded(state, name)) continue;
    update = std::move(update).merge(&Analysis::specialists, name,
                                     SpecialistProgress{progress.completed, "", ""});
  }
  return update;
}

std::string continue_text(const Analysis& state) {
  std::string text = "The analysis of " + state.request.ticker;
  if (state.question.reason == "paused") return text + " is paused. Continue?";
  std::size_t count = state.question.failures.size();
  return text + " has " + std::to_string(count) + (count == 1 ? " specialist" : " specialists") +
         " that did not finish. Execute their remaining subtasks?";
}

Value question_value(const ProgressQuestion& question) {
  return parse_json(encode_json(question).value()).value();
}

// The specialists that a decision selects; others than those that wait have no effect.
std::vector<std::string> selected_in(const Value& payload) {
  std::vector<std::string> names;
  const Value::Array* only = payload["only"].as_array();
  if (!only) return names;
  for (const Value& each : *only) {
    if (const std::string* name = each.as_string()) names.push_back(*name);
  }
  return names;
}

// Asks whether to continue. Not an approval node: a run without approvals waits here, too, since
// without a person it would repeat a failure that persists.
Update<Analysis> ask_to_continue(const Analysis& state, Context& context) {
  InterruptRequest request;
  request.name = "continue";
  request.text = continue_text(state);
  request.payload = question_value(state.question);
  request.expires = kDecisionTime;
  InterruptResponse response = context.interrupt(std::move(request));
  if (!response.approved) return go_to<Analysis>("deliver");
  ProgressQuestion question = state.question;
  // The rest of the question stays as shown.
  question.only = selected_in(response.payload);
  return set(&Analysis::question, std::move(question)).go_to("again");
}

std::string outcome_of(const Analysis& state) {
  if (!obstacles(state).empty()) return "incomplete";
  bool is_rejected = is_selected(state.request, "strategy") && !is_scored(state);
  return is_rejected ? "scoring_rejected" : "complete";
}

// Removes the checkpoints of a complete analysis, a part of them in each execution of the node, and
// keeps those of one that is incomplete. Also removes a page of the due checkpoints of the
// owner's other analyses: schedules belong to one user, and a program might have none. Returns true
// at the end.
Task<Result<bool>> clean_checkpoints(Parts parts, bool is_complete, Context& context) {
  if (context.is_replay()) co_return true;  // it changes nothing but rows
  auto rows = checkpoint_rows(context);
  CheckpointRetention retention(*rows, parts->checkpoint_cache.get(), parts->checkpoints);
  std::string analysis = context.thread().text;
  Instant now = context.now();
  if (!is_complete) {
    BELAY_CO_CHECK(co_await retention.failed(std::move(analysis), now));
    co_return true;
  }
  BELAY_CO_TRY(Removal removal, co_await retention.succeeded(std::move(analysis), now));
  if (removal.is_unfinished) co_return false;
  std::string first_page;
  BELAY_CO_CHECK(co_await retention.sweep_page(std::move(first_page), now));
  co_return true;
}

Task<Result<Update<Analysis>>> finish(Parts parts, const Analysis& state, Context& context) {
  std::string outcome = outcome_of(state);
  bool is_complete = outcome != "incomplete";
  context.outcome(outcome);
  bool is_clean = true;
  if (state.request.checkpoints) {
    BELAY_CO_TRY(is_clean, co_await clean_checkpoints(parts, is_complete, context));
  }
  co_return set(&Analysis::isEnded, is_clean);
}

std::string gate_text(const Analysis& state) {
  return "All other subtasks of the analysis of " + state.request.ticker +
         " are complete. Calculate the final score of its capital allocation?";
}

Result<Done> add_parts(GraphBuilder<Analysis>& graph, const Parts& shared) {
  for (const AnalysisPart& part : parts_of_analysis()) {
    BELAY_TRY(Graph<SpecialistRun> inner,
              specialist_graph(*find_specialist(part.specialist), shared));
    graph.subgraph(
        part.node, inner,
        [part](const Analysis& state) { return begin_part(state, part.specialist, part.subtasks); },
        end_part);
    graph.edge(part.node, "plan");
  }
  BELAY_TRY(Graph<SpecialistRun> scoring, specialist_graph(*find_specialist("strategy"), shared));
  graph.subgraph(
      kScoring, scoring,
      [](const Analysis& state) { return begin_part(state, "strategy", {kFinalSubtask}); },
      [](const SpecialistRun& run) { return end_part(run).set(&Analysis::isApproved, true); });
  graph.edge(kScoring, "review");
  return Done{};
}

std::vector<std::string_view> targets_of_plan() {
  std::vector<std::string_view> targets = {"review", "again"};
  for (const AnalysisPart& part : parts_of_analysis()) targets.push_back(part.node);
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
  graph.check_input([](const Analysis& state) { return check_input(state.request); });
  graph.node("begin", [parts](const Analysis& state, Context& context) {
    return begin(parts, state, context);
  });
  graph.node("plan", plan).destinations(targets_of_plan());
  BELAY_CHECK(add_parts(graph, parts));
  graph.node("review", review).destinations({"continue", "gate", kScoring, "deliver", "again"});
  graph
      .approval("gate", &Analysis::question,
                {.question = "Calculate the final score?", .expires = kDecisionTime})
      .question(gate_text)
      .approved(kScoring)
      .rejected("deliver");
  graph.node("continue", ask_to_continue).destinations({"again", "deliver"});
  graph.node("again", again);
  graph
      .node("deliver",
            [parts](const Analysis& state, Context& context) {
              return deliver_findings(parts, state, context);
            })
      .retry({.attempts = kSubtaskAttempts})
      .timeout(kDeliveryTimeout);
  graph.node("finish", [parts](const Analysis& state, Context& context) {
    return finish(parts, state, context);
  });
  graph.edge(start, "begin").edge("begin", "plan").edge("plan", "review");
  graph.edge("continue", "again")
      .edge("again", "plan")
      .edge("review", "deliver")
      .edge("deliver", "finish");
  auto after_finish = [](const Analysis& state) -> std::string_view {
    return state.isEnded ? end : "finish";
  };
  graph.branch("finish", after_finish, {end, "finish"});
  graph.accept_older_versions();
  return std::move(graph).build();
}

}  // namespace belay::research
