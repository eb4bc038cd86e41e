// Long on purpose: one function for each scenario.

#include "tests/support/run_scenarios.h"

namespace belay::check {
namespace {

using namespace std::chrono_literals;

Update<Plan> analyze(const Plan&, Context& context) {
  context.emit("analyzed", Value("as asked"));
  Advice advice;
  advice.recommendations.push_back("Rest.");
  return set(&Plan::analysisResult, std::move(advice));
}

Task<Update<Plan>> write(const Plan& plan, Context& context) {
  auto draft = (co_await context.model().complete("Plan " + plan.topic)).value();
  co_return set(&Plan::draft, std::move(draft)).add(&Plan::rounds, 1);
}

bool is_bad(const Plan& plan) { return plan.draft.find("bad") != std::string::npos; }

Update<Plan> validate(const Plan& plan, Context&) {
  auto update = set(&Plan::validationAttempts, plan.validationAttempts + 1);
  if (!is_bad(plan)) return update;
  Advice advice = *plan.analysisResult;
  advice.recommendations.push_back("Not this: " + plan.draft);
  return std::move(update).set(&Plan::analysisResult, std::move(advice));
}

Update<Plan> save(const Plan& plan, Context& context) {
  SavedPlan saved;
  saved.thread = context.thread().text;
  saved.draft = plan.draft;
  context.save(saved);
  context.outcome("saved");
  return unchanged<Plan>();
}

Update<Plan> ask_twice(const Plan&, Context& context) {
  int rounds = 0;
  for (const char* name : {"first", "second"}) {
    InterruptRequest question;
    question.name = name;
    question.text = "Go on?";
    question.payload = Value(name);
    if (context.interrupt(std::move(question)).approved) ++rounds;
  }
  return set(&Plan::rounds, rounds);
}

// The nodes of the wide graph.
Task<Update<Plan>> note_slowly(const Plan& plan, Context& context) {
  auto answer = (co_await context.model().complete("Note " + plan.topic)).value();
  co_return append(&Plan::notes, "left " + answer);
}

Update<Plan> note_at_once(const Plan& plan, Context& context) {
  context.emit("noted", Value(plan.topic));
  SavedPlan saved;
  saved.thread = context.thread().text;
  saved.draft = "right";
  context.save(saved);
  return append(&Plan::notes, "right").add(&Plan::rounds, 1);
}

Update<Plan> note_part(const Plan&, Context& context) {
  return append(&Plan::notes, context.input<std::string>());
}

Graph<Plan> look_graph() {
  GraphBuilder<Plan> graph{"look"};
  graph.node("first", [](const Plan&, Context&) { return append(&Plan::notes, "first"); });
  graph.approval("inside", &Plan::topic, {.question = "Look closer?"})
      .when([](const Plan& plan) { return plan.topic.find("inside") != std::string::npos; })
      .pending_flag(&Plan::requiresApproval)
      .decision_flag(&Plan::approved)
      .approved("second")
      .rejected(end);
  graph.node("second", [](const Plan&, Context&) { return append(&Plan::notes, "second"); });
  graph.edge(start, "first").edge("first", "inside").edge("second", end);
  return std::move(graph).build().value();
}

Error unavailable() { return error(ErrorCode::unavailable, "The model is away."); }

}  // namespace

Graph<Plan> plan_graph() {
  GraphBuilder<Plan> graph{"plan"};
  graph.node("analyze", analyze);
  graph.node("write", write).retry({.attempts = 3}).timeout(60s);
  graph.node("validate", validate);
  ApprovalOptions options;
  options.question = "Take this plan?";
  options.roles = {"editor", "owner"};
  graph.approval("review", &Plan::draft, std::move(options))
      .when([](const Plan& plan) { return plan.topic.find("urgent") != std::string::npos; })
      .pending_flag(&Plan::requiresApproval)
      .decision_flag(&Plan::approved)
      .approved("save")
      .rejected(end);
  graph.node("save", save);
  graph.edge(start, "analyze")
      .edge("analyze", "write")
      .edge("write", "validate")
      .branch("validate", is_bad, {"review", "write"})
      .edge("save", end);
  return std::move(graph).build().value();
}

Graph<Plan> wide_graph() {
  GraphBuilder<Plan> graph{"wide"};
  graph.node("plan", [](const Plan&, Context& context) {
    context.publish("planned", Value("wide"));
    return set(&Plan::draft, "A wide plan.");
  });
  graph.node("left", note_slowly).retry({.attempts = 3}).timeout(60s);
  graph.node("right", note_at_once);
  graph.subgraph(
      "look", look_graph(),
      [](const Plan& plan) {
        Plan inner;
        inner.topic = plan.topic;
        return inner;
      },
      [](const Plan& inner) {
        return append(&Plan::notes, "looked at " + std::to_string(inner.notes.size()));
      });
  graph.approval("ask", &Plan::draft, {.question = "Publish this plan?"})
      .when([](const Plan& plan) { return plan.topic.find("ask") != std::string::npos; })
      .decision_flag(&Plan::approved)
      .approved("publish")
      .rejected(end);
  graph.node("publish", [](const Plan&, Context&) { return unchanged<Plan>(); });
  graph.node("later", [](const Plan&, Context&) { return append(&Plan::notes, "later"); });
  graph.node("gather", [](const Plan&, Context&) { return unchanged<Plan>(); });
  graph.node("part", note_part);
  graph.wait("rest", 1h);
  graph.edge(start, "plan").edge("plan", "left").edge("plan", "right").edge("plan", "look");
  graph.edge("plan", "ask").edge("publish", end).edge("left", "later");
  graph.join({"later", "right", "look"}, "gather");
  graph.branch(
      "gather",
      [](const Plan&) { return std::vector<Send>{send_to("part", "one"), send_to("part", "two")}; },
      {"part"});
  graph.edge("part", "rest").edge("rest", end);
  return std::move(graph).build().value();
}

Graph<Plan> stopping_graph() {
  GraphBuilder<Plan> graph{"stopping"};
  graph.node("first", [](const Plan&, Context&) { return add(&Plan::rounds, 1); })
      .interrupt_after();
  graph.node("second", [](const Plan&, Context&) { return add(&Plan::rounds, 1); });
  graph.edge(start, "first").edge("first", "second").edge("second", end);
  return std::move(graph).build().value();
}

Graph<Plan> question_graph() {
  GraphBuilder<Plan> graph{"question"};
  graph.node("ask", ask_twice);
  graph.edge(start, "ask").edge("ask", end);
  return std::move(graph).build().value();
}

Scenarios::Scenarios() {
  model.then_always([](const ModelRequest&) { return std::string("A good plan."); });
  open();
}

void Scenarios::open() {
  runtime.reset();
  auto opened = Runtime::open(RuntimeParts{*store, loop, clock, random, model});
  runtime = std::move(opened).value();
  runtime->add(plans);
  runtime->add(questions);
  runtime->add(wide);
  runtime->add(stopping);
}

Result<RunView> Scenarios::begin(std::string thread, std::string topic, RunOptions options) {
  return begin(plans, std::move(thread), std::move(topic), options);
}

Result<RunView> Scenarios::begin(const Graph<Plan>& graph, std::string thread, std::string topic,
                                 RunOptions options) {
  StartOptions with;
  with.thread = ThreadId(std::move(thread));
  with.run = options;
  Plan plan;
  plan.topic = std::move(topic);
  return block_on(loop, runtime->start(graph, std::move(plan), std::move(with)));
}

void Scenarios::wake() {
  clock.move(61min);
  block_on(loop, runtime->process_due(default_tenant())).value();
}

Result<DecisionResult> Scenarios::decide(const RunView& view, bool approve,
                                         std::optional<Value> edited) {
  Decision decision;
  decision.approved = approve;
  decision.decided_by = "ana";
  decision.comment = "As discussed.";
  decision.roles = {"editor"};
  decision.edited = std::move(edited);
  return block_on(loop,
                  runtime->decide(default_tenant(), view.approval->interrupt, std::move(decision)));
}

void Scenarios::begin_and_die(const Graph<Plan>& graph, std::string thread, std::string topic) {
  StartOptions with;
  with.thread = ThreadId(std::move(thread));
  Plan plan;
  plan.topic = std::move(topic);
  Spawned running = spawn<Result<RunView>>(
      loop, runtime->start(graph, std::move(plan), std::move(with)), [](const Result<RunView>&) {});
  loop.run_until(clock.now() + 1s);
  running.reset();
  open();
}

void Scenarios::resume(std::string thread) {
  block_on(loop, runtime->resume(default_tenant(), ThreadId(std::move(thread)))).value();
}

void Scenarios::completed() { begin("completed", "calm").value(); }

void Scenarios::approved() {
  auto view = begin("approved", "urgent").value();
  decide(view, true).value();
  decide(view, true).value();
  decide(view, false).value();
}

void Scenarios::edited() {
  auto view = begin("edited", "urgent").value();
  decide(view, true, Value("My own plan.")).value();
}

RunView Scenarios::fork_behind(std::string thread) {
  auto asked = begin(thread + "_origin", "urgent").value();
  decide(asked, true).value();
  ForkOptions options;
  options.from = ThreadId(thread + "_origin");
  options.thread = ThreadId(std::move(thread));
  options.seq = asked.row.seq + 1;
  return block_on(loop, runtime->fork(std::move(options))).value();
}

void Scenarios::forked() { fork_behind("forked"); }

void Scenarios::forked_with_edits() {
  fork_behind("forked_with_edits_before");
  ForkOptions options;
  options.from = ThreadId("forked_with_edits_before");
  options.thread = ThreadId("forked_with_edits");
  options.edits = Value::object({{"draft", "My own plan."}});
  options.roles = {"editor"};
  decide(block_on(loop, runtime->fork(std::move(options))).value(), true).value();
}

void Scenarios::forked_again() {
  fork_behind("forked_again_before");
  ForkOptions options;
  options.from = ThreadId("forked_again_before");
  options.thread = ThreadId("forked_again");
  options.seq = 1;
  block_on(loop, runtime->fork(std::move(options))).value();
}

void Scenarios::rejected() { decide(begin("rejected", "urgent").value(), false).value(); }

void Scenarios::expired() {
  begin("expired", "urgent").value();
  clock.move(25h);
  block_on(loop, runtime->process_due(default_tenant())).value();
}

void Scenarios::late() {
  auto view = begin("late", "urgent").value();
  clock.move(24h);
  decide(view, true).value();
}

void Scenarios::paused() { begin("paused", "urgent").value(); }

void Scenarios::passed() {
  RunOptions options;
  options.require_approval = false;
  begin("passed", "urgent", options).value();
}

void Scenarios::failed() {
  model.fails(error(ErrorCode::invalid, "The model does not plan."));
  begin("failed", "calm").value();
}

void Scenarios::exhausted() {
  for (int i = 0; i < 3; ++i) model.fails(unavailable());
  begin("exhausted", "calm").value();
}

void Scenarios::retried() {
  for (int i = 0; i < 2; ++i) model.fails(unavailable());
  begin("retried", "urgent").value();
}

void Scenarios::retried_by_another() {
  model.fails(unavailable());
  begin_and_die(plans, "retried_by_another", "calm");
  resume("retried_by_another");
}

void Scenarios::resumed() {
  model.takes(5s);
  begin_and_die(plans, "resumed", "calm");
  resume("resumed");
  model.takes(0s);
}

void Scenarios::cancelled() {
  begin("cancelled", "urgent").value();
  block_on(loop, runtime->cancel(default_tenant(), ThreadId("cancelled"), "ana")).value();
}

void Scenarios::stopped() {
  model.takes(5s);
  begin_and_die(plans, "stopped", "calm");
  block_on(loop, runtime->cancel(default_tenant(), ThreadId("stopped"), "ana")).value();
  model.takes(0s);
}

void Scenarios::timed_out() {
  model.takes(5s);
  RunOptions options;
  options.timeout = 2s;
  begin("timed_out", "calm", options).value();
  model.takes(0s);
}

void Scenarios::validated_again() {
  model.replies("A bad plan.").replies("Another bad plan.");
  begin("validated_again", "calm").value();
}

void Scenarios::asked_in_a_node() {
  StartOptions with;
  with.thread = ThreadId("asked_in_a_node");
  auto first = block_on(loop, runtime->start(questions, Plan{}, std::move(with))).value();
  auto second = decide(first, true, Value("the first")).value();
  decide(second.view, false).value();
}

void Scenarios::wide_completed() {
  begin(wide, "wide_completed", "calm").value();
  wake();
}

void Scenarios::wide_asked() { begin(wide, "wide_asked", "ask").value(); }

void Scenarios::wide_approved() {
  decide(begin(wide, "wide_approved", "ask").value(), true).value();
  wake();
}

void Scenarios::wide_edited() {
  auto view = begin(wide, "wide_edited", "ask").value();
  decide(view, true, Value("My own plan.")).value();
  wake();
}

void Scenarios::wide_inside() { begin(wide, "wide_inside", "inside").value(); }

void Scenarios::wide_decided_inside() {
  decide(begin(wide, "wide_decided_inside", "inside").value(), false).value();
  wake();
}

void Scenarios::wide_retried() {
  model.fails(unavailable());
  begin(wide, "wide_retried", "calm").value();
  wake();
}

void Scenarios::wide_lost() {
  model.takes(5s);
  begin_and_die(wide, "wide_lost", "ask");
  model.takes(0s);
}

void Scenarios::lost() {
  model.takes(5s);
  begin_and_die(plans, "lost", "calm");
  model.takes(0s);
}

void Scenarios::wide_resumed() {
  model.takes(5s);
  begin_and_die(wide, "wide_resumed", "inside");
  model.takes(0s);
  resume("wide_resumed");
}

void Scenarios::wide_cancelled() {
  begin(wide, "wide_cancelled", "ask").value();
  block_on(loop, runtime->cancel(default_tenant(), ThreadId("wide_cancelled"), "ana")).value();
}

void Scenarios::held() { begin(stopping, "held", "calm").value(); }

void Scenarios::let_go() {
  begin(stopping, "let_go", "calm").value();
  resume("let_go");
}

void Scenarios::at_the_end() {
  RunOptions options;
  options.durability = Durability::exit;
  model.fails(unavailable());
  decide(begin(plans, "at_the_end", "urgent", options).value(), true).value();
}

void Scenarios::wide_at_the_end() {
  RunOptions options;
  options.durability = Durability::exit;
  begin(wide, "wide_at_the_end", "calm", options).value();
  wake();
}

void Scenarios::play_all() {
  wide_completed();
  wide_approved();
  wide_edited();
  wide_decided_inside();
  wide_retried();
  wide_resumed();
  wide_cancelled();
  let_go();
  at_the_end();
  wide_at_the_end();
  completed();
  approved();
  forked();
  forked_with_edits();
  forked_again();
  edited();
  rejected();
  expired();
  late();
  passed();
  failed();
  exhausted();
  retried();
  retried_by_another();
  resumed();
  cancelled();
  stopped();
  timed_out();
  validated_again();
  asked_in_a_node();
  paused();
  held();
  wide_asked();
  wide_inside();
  wide_lost();
  lost();
}

CheckScope Scenarios::scope() const {
  CheckScope scope;
  scope.graphs = {plans.definition(), questions.definition(), wide.definition(),
                  stopping.definition()};
  scope.collections = {std::string(SavedPlan::collection)};
  return scope;
}

CheckReport checked(testing::SimulatedLoop& loop, Store& store, CheckScope scope) {
  return block_on(loop, check_store(store, std::move(scope))).value();
}

}  // namespace belay::check
