#include "tests/support/wellbeing_fixture.h"

#include <algorithm>
#include <utility>

#include "belay/check.h"

namespace belay::wellbeing::testing {

std::string audit_text(int risk, std::string_view summary) {
  return to_json(Value::object(
      {{"summary", summary}, {"riskLevel", risk}, {"keyInsights", Value::Array{"Slept badly."}}}));
}

Value schedule_value() {
  Value::Array activities;
  const std::pair<const char*, const char*> day[] = {{"07:30", "Breakfast by the window"},
                                                     {"10:00", "A walk in the park"},
                                                     {"13:00", "Lunch without a screen"},
                                                     {"21:30", "Lights out early"}};
  for (const auto& [time, activity] : day) {
    activities.push_back(Value::object(
        {{"time", time}, {"activity", activity}, {"expectedBenefit", "A calmer day"}}));
  }
  return Value::object({{"activities", std::move(activities)}});
}

std::string schedule_text() { return to_json(schedule_value()); }

void HaltingStore::halt_after(std::size_t commits, Loses what) {
  left_ = commits;
  what_ = what;
}

void HaltingStore::heal() {
  left_.reset();
  halted_ = false;
}

Task<Result<CommitOutcome>> HaltingStore::commit(Commit commit) {
  const bool halts = left_ && *left_ == 0;
  if (!halts || what_ == Loses::the_answer) {
    auto outcome = co_await inner_.commit(std::move(commit));
    ++commits_;
    if (left_ && !halts) --*left_;
    if (!halts) co_return std::move(outcome);
  }
  halted_ = true;
  if (when_halted) when_halted();
  Completion<Done> never;
  co_await never;
  co_return CommitOutcome::fenced;
}

WellbeingOptions WellbeingFixture::english() {
  WellbeingOptions options;
  options.language = "en";
  return options;
}

WellbeingFixture::WellbeingFixture(WellbeingOptions wanted, Model* other_model)
    : clock(*instant_from("2024-01-15T20:00:00Z")),
      random(7),
      loop(clock),
      memory(open_memory_store(clock, random)),
      store(*memory),
      options(std::move(wanted)),
      other_model_(other_model) {
  store.when_halted = [this] { loop.stop(); };
  reopen();
}

void WellbeingFixture::reopen() {
  context_records.reset();
  runtime.reset();
  Model& asked = other_model_ != nullptr ? *other_model_ : model;
  RuntimeParts parts{store, loop, clock, random, asked};
  parts.run_defaults = defaults;
  parts.observer = [this](const ProgressEvent& event) { told.push_back(event); };
  runtime = Runtime::open(std::move(parts)).value();
  add_wellbeing_agents(*runtime, options).value();
}

AgentParts WellbeingFixture::parts() { return AgentParts{*runtime, store}; }

Result<GraphExecutionResult<Audit>> WellbeingFixture::audit(std::string date, GraphConfig config) {
  auto agent = auditor();
  return wait(agent.execute({std::move(date), ""}, std::move(config)));
}

Result<GraphExecutionResult<Audit>> WellbeingFixture::decide_audit(std::string thread,
                                                                   bool approved) {
  auto agent = auditor();
  ResumeInput input;
  input.approved = approved;
  return wait(agent.resume(std::move(thread), std::move(input)));
}

Result<GraphExecutionResult<RoutineState>> WellbeingFixture::plan(std::string date,
                                                                  GraphConfig config) {
  auto agent = generator();
  return wait(agent.execute({std::move(date), ""}, std::move(config)));
}

Result<GraphExecutionResult<RoutineState>> WellbeingFixture::decide_plan(std::string thread,
                                                                         bool approved) {
  auto agent = generator();
  ResumeInput input;
  input.approved = approved;
  return wait(agent.resume(std::move(thread), std::move(input)));
}

void WellbeingFixture::add_note(std::string date, std::string content, std::string id) {
  Note note;
  note.id = id.empty() ? "note-" + std::to_string(++notes_) : std::move(id);
  note.date = std::move(date);
  note.content = std::move(content);
  note.createdAt = clock.now();
  save(note);
}

std::vector<RunRow> WellbeingFixture::runs(const std::string& thread) {
  RunFilter filter;
  filter.tenant = default_tenant();
  filter.thread = ThreadId(thread);
  std::function<Result<std::vector<RunRow>>(Snapshot&)> reader = [filter](Snapshot& view) {
    return view.runs(filter);
  };
  return wait(belay::read(store, std::move(reader))).value();
}

std::vector<CheckpointRow> WellbeingFixture::history(const std::string& thread) {
  CheckpointFilter filter;
  filter.tenant = default_tenant();
  filter.run = runs(thread).front().run;
  std::function<Result<std::vector<CheckpointRow>>(Snapshot&)> reader = [filter](Snapshot& view) {
    return view.checkpoints(filter);
  };
  auto rows = wait(belay::read(store, std::move(reader))).value();
  std::reverse(rows.begin(), rows.end());
  return rows;
}

std::vector<std::string> WellbeingFixture::nodes(const std::string& thread) {
  std::vector<std::string> names;
  for (const CheckpointRow& row : history(thread)) {
    if (row.kind == CommitKind::node) names.push_back(row.node);
  }
  return names;
}

std::string WellbeingFixture::violations() {
  CheckScope scope;
  scope.graphs = wellbeing_graphs(options).value();
  const CheckReport report = wait(check_store(store, std::move(scope))).value();
  std::string found;
  for (const Violation& each : report.violations) {
    found += each.rule + " " + each.subject + ": " + each.message + "\n";
  }
  return found;
}

std::unique_ptr<Context> WellbeingFixture::context(std::string_view node, RunOptions run) {
  context_records = runtime->records(default_tenant(), UserId("local"));
  Context::Attempt attempt;
  attempt.tenant = default_tenant();
  attempt.user = UserId("local");
  attempt.thread = ThreadId("thread-of-the-test");
  attempt.node = node;
  attempt.now = clock.now();
  attempt.options = run;
  attempt.model = &model;
  attempt.records = context_records.get();
  return std::make_unique<Context>(std::move(attempt));
}

}  // namespace belay::wellbeing::testing
