// Runs with several approvals at the same time, and requests at the same time.

#include "tests/ag_ui/ag_ui_fixture.h"

namespace belay::ag_ui {
namespace {

using namespace std::chrono_literals;

struct Route {
  std::string topic{};
  std::map<std::string, bool> answers{};
};

// Three branches: a question, a subgraph with an approval, and a slow node that streams and fails
// once. Then one more approval.
Graph<Route> route_graph() {
  GraphBuilder<Route> stage{"stage"};
  stage.approval("hotel", &Route::topic, {.question = "This hotel?"})
      .approved("note")
      .rejected(end);
  stage.node("note", [](const Route&, Context&) { return merge(&Route::answers, "noted", true); });
  stage.edge("note", end).edge(start, "hotel");
  GraphBuilder<Route> graph{"route"};
  graph.node("ask", [](const Route&, Context& context) -> Update<Route> {
    InterruptRequest question;
    question.text = "By train?";
    return merge(&Route::answers, "train", context.interrupt(std::move(question)).approved);
  });
  graph.subgraph(
      "stage", std::move(stage).build().value(), [](const Route& route) { return route; },
      [](const Route& inner) {
        bool is_noted = inner.answers.contains("noted");
        return merge(&Route::answers, "hotel", is_noted);
      });
  graph
      .node("slow",
            [](const Route&, Context& context) -> Task<Result<Update<Route>>> {
              context.stream("Let me ");
              co_await sleep_for(40ms);
              if (context.attempt() == 1) co_return error(ErrorCode::unavailable, "Not now.");
              context.stream("see.");
              co_return merge(&Route::answers, "slow", true);
            })
      .retry({.attempts = 2, .base = 50ms});
  graph.approval("review", &Route::topic, {.question = "Is it right?"})
      .approved("last")
      .rejected(end);
  graph.node("last", [](const Route&, Context&) { return unchanged<Route>(); });
  graph.node("split", [](const Route&, Context&) { return unchanged<Route>(); });
  graph.edge(start, "split").edge("last", end);
  for (const char* name : {"ask", "stage", "slow"}) graph.edge("split", name).edge(name, "review");
  return std::move(graph).build().value();
}

struct AgUiParallel : AgUiFixture {
  Graph<Route> route = route_graph();

  AgUiParallel() {
    runtime->add(route);
    service = make_local_service(LocalServiceParts{*store,
                                                   *store,
                                                   *runtime,
                                                   loop,
                                                   clock,
                                                   random,
                                                   {graph.definition(), route.definition()},
                                                   {},
                                                   {}});
    serve();
  }

  static Value answers_to(const Value::Array& interrupts, const std::string& run) {
    Value::Array entries;
    for (const Value& each : interrupts) entries.push_back(answer_to(text(each["id"]), approved()));
    return resume("t", run, std::move(entries));
  }

  struct Pending {
    std::optional<http::Response> response;
    Spawned task;
    int status() const { return response ? response->status : 0; }
  };
  std::unique_ptr<Pending> begin(const std::string& agent, const Value& body) {
    auto pending = std::make_unique<Pending>();
    auto sent = with_headers(request("POST", "/ag-ui/" + agent, to_json(body)));
    pending->task = spawn<http::Response>(
        loop, api->answer(std::move(sent)),
        [at = pending.get()](http::Response response) { at->response = std::move(response); });
    return pending;
  }
};

TEST_F(AgUiParallel, AllQuestionsOfAPauseEndOneRunAndOneRequestAnswersThem) {
  Events first = events_of_run("route", about("t", "r1", "Oslo"));
  expect_order(first);
  Value::Array asked = interrupts_in(first);
  ASSERT_EQ(asked.size(), 2u) << lines_of(first);
  Events second = events_of_run("route", answers_to(asked, "r2"));
  expect_order(second);
  Value::Array review = interrupts_in(second);
  ASSERT_EQ(review.size(), 1u) << lines_of(second);
  EXPECT_EQ(text(review.front()["message"]), "Is it right?");
  Events third = events_of_run("route", answers_to(review, "r3"));
  expect_order(third);
  EXPECT_EQ(outcome_in(third), "success");
  for (const char* name : {"r1", "r2", "r3"}) {
    Events whole = events_of(rejoin("route", "t", name));
    expect_order(whole);
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
      Events expected(whole.begin() + static_cast<std::ptrdiff_t>(cut) + 1, whole.end());
      EXPECT_EQ(lines_of(rest_after(whole[cut].id, "route", "t", name)), lines_of(expected));
    }
  }
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(AgUiParallel, AClientThatLosesEachConnectionReceivesTheSameEvents) {
  Events first = events_with_cuts("route", about("t", "r1", "Oslo"));
  expect_order(first);
  Value::Array asked = interrupts_in(first);
  ASSERT_EQ(asked.size(), 2u) << lines_of(first);
  Events second = events_with_cuts("route", answers_to(asked, "r2"));
  expect_order(second);
  EXPECT_EQ(lines_of(second), lines_of(events_of(rejoin("route", "t", "r2"))));
  // The text was written before the pause, and is durable after it.
  Events starts = of_type(first, "TEXT_MESSAGE_START"),
         texts = of_type(second, "TEXT_MESSAGE_CONTENT");
  ASSERT_EQ(texts.size(), 1u) << lines_of(second);
  EXPECT_EQ(text(texts.front().body["delta"]), "Let me see.");
  for (const Event& event : starts) {
    EXPECT_NE(event.body["messageId"], texts.front().body["messageId"]);
  }
}

TEST_F(AgUiParallel, AQuestionThatAnotherDoorAnsweredIsAskedNoMore) {
  Value::Array asked = interrupts_in(events_of_run("route", about("t", "r1", "Oslo")));
  ASSERT_EQ(asked.size(), 2u);
  std::string id = text(asked[0]["id"]);
  EXPECT_EQ(post("/api/approvals/" + id + "/decision", R"({"approved":true})").status, 200);
  Events events = events_of_run("route", answers_to({asked[1]}, "r2"));
  expect_order(events);
  ASSERT_EQ(interrupts_in(events).size(), 1u) << lines_of(events);
  EXPECT_EQ(text(interrupts_in(events).front()["message"]), "Is it right?");
}

TEST_F(AgUiParallel, OfEqualAnswersAtTheSameTimeAllGetTheRun) {
  Value::Array asked = interrupts_in(events_of_run("route", about("t", "r1", "Oslo")));
  ASSERT_EQ(asked.size(), 2u);
  std::vector<std::unique_ptr<Pending>> all;
  for (int i = 0; i < 10; ++i) all.push_back(begin("route", answers_to(asked, "r2")));
  loop.run_until(clock.now() + 30s);
  std::string lines;
  for (const auto& each : all) {
    ASSERT_EQ(each->status(), 200);
    std::string own = lines_of(parsed(read_all(*each->response->stream)));
    if (lines.empty()) lines = own;
    EXPECT_EQ(own, lines);
  }
}

TEST_F(AgUiParallel, OfDifferentAnswersAtTheSameTimeOneCounts) {
  std::string id = interrupt_of_urgent("t", "r1");
  auto yes = begin("mail", resume("t", "yes", {answer_to(id, approved())}));
  auto no = begin("mail", resume("t", "no", {answer_to(id, Value(false))}));
  loop.run_until(clock.now() + 30s);
  EXPECT_EQ(std::min(yes->status(), no->status()), 200);
  EXPECT_EQ(std::max(yes->status(), no->status()), 409);
}

TEST_F(AgUiParallel, OfAnApprovalAndACancellationAtTheSameTimeOneCounts) {
  std::string id = interrupt_of_urgent("t", "r1");
  auto yes = begin("mail", resume("t", "yes", {answer_to(id, approved())}));
  auto no = begin("mail", resume("t", "no", {cancelled(id)}));
  loop.run_until(clock.now() + 30s);
  EXPECT_EQ(std::min(yes->status(), no->status()), 200);
  EXPECT_EQ(std::max(yes->status(), no->status()), 409);
}

TEST_F(AgUiParallel, OfEqualStartsAtTheSameTimeOneStartsTheRun) {
  std::vector<std::unique_ptr<Pending>> all;
  for (int i = 0; i < 10; ++i) all.push_back(begin("route", about("t", "r1", "Oslo")));
  loop.run_until(clock.now() + 30s);
  for (const auto& each : all) EXPECT_EQ(each->status(), 200);
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(AgUiParallel, AnswersContinueARunWhoseProcessHasEnded) {
  std::string id = interrupt_of_urgent("t", "r1");
  std::unique_ptr<Runtime> other = process();
  std::unique_ptr<Service> next = make_local_service(
      LocalServiceParts{*store, *store, *other, loop, clock, random, {graph.definition()}, {}, {}});
  std::swap(service, next);
  serve();
  Events events = events_of_run("mail", resume("t", "r2", {answer_to(id, approved())}));
  EXPECT_EQ(outcome_in(events), "success");
  api.reset();
  std::swap(service, next);
  serve();
}

}  // namespace
}  // namespace belay::ag_ui
