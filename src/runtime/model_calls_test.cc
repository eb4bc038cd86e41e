// Tests the journal of a run's model calls.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/check.h"
#include "driver/effect_journal.h"
#include "graph/call_record.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Letter {
  std::string draft{};
  std::string asked{};
  int sent = 0;
};

Task<Result<std::string>> ask(Context& context, std::string text) {
  co_return co_await context.model().complete(std::move(text));
}

struct ModelCalls : CrashingStoreFixture {
  int answers = 0;
  EffectJournal replayed_rows{[] {}};
  std::optional<TaskJournal> journal;

  ModelCalls() {
    model.then_always([this](const ModelRequest& request) {
      return request.messages.at(0).text + " answer " + std::to_string(++answers);
    });
  }

  static Graph<Letter> letter(auto node, RetryPolicy retry = {}) {
    GraphBuilder<Letter> graph{"letter"};
    graph.one_run_per_thread();
    graph.node("write", node).retry(retry);
    graph.node("send", [](const Letter&, Context&) { return add(&Letter::sent, 1); });
    graph.edge(start, "write").edge("write", "send").edge("send", end);
    return std::move(graph).build().value();
  }
  static Task<Update<Letter>> asks_twice(const Letter&, Context& context) {
    auto first = (co_await ask(context, "one")).value();
    auto second = (co_await ask(context, "two")).value();
    co_return set(&Letter::draft, first + ", " + second);
  }
  RunView run(const Graph<Letter>& graph, RunOptions options = {}) {
    StartOptions start_options;
    start_options.run = options;
    auto runtime = process(graph);
    return block_on(loop, runtime->start(graph, Letter{}, start_options)).value();
  }
  std::vector<std::string> names(const RunView& view) {
    std::vector<std::string> names;
    for (const EffectRow& row : recorded(view)) names.push_back(row.name);
    return names;
  }
  std::string violations(const Graph<Letter>& graph) {
    CheckScope scope;
    scope.graphs = {graph.definition()};
    auto report = block_on(loop, check_store(store, std::move(scope))).value();
    std::string found;
    for (const Violation& each : report.violations) found += each.rule + " " + each.message + "\n";
    return found;
  }
  // Returns a context that replays the calls of the run's only "write" task.
  std::unique_ptr<Context> replaying(const RunView& view) {
    Context::Attempt replayed;
    for (EffectRow& row : recorded(view)) {
      replayed.task = row.task;
      replayed_rows.remember(std::move(row));
    }
    journal.emplace(replayed_rows, replayed.task, clock);
    replayed.run = view.row.run;
    replayed.node = "write";
    replayed.journal = &*journal;
    replayed.replays = true;
    return std::make_unique<Context>(std::move(replayed));
  }
};

TEST_F(ModelCalls, WaitWhileAnotherProcessMayHaveTakenTheRunOver) {
  auto graph = letter(asks_twice);
  auto runtime = process(graph);
  store.is_sure = false;
  std::optional<Result<RunView>> ended;
  Spawned spawned;
  loop.post([&] {
    spawned = spawn<Result<RunView>>(loop, runtime->start(graph, Letter{}, StartOptions{}),
                                     [&](Result<RunView> view) { ended = std::move(view); });
  });
  loop.run_until(clock.now() + 1min);
  EXPECT_EQ(answers, 0);
  EXPECT_FALSE(ended);
  store.is_sure = true;
  loop.run_until(clock.now() + 1min);
  ASSERT_TRUE(ended && ended->ok());
  EXPECT_EQ((*ended)->row.status, RunStatus::completed);
  EXPECT_EQ(answers, 2);
}

TEST_F(ModelCalls, AreRecordedInTheNodesOwnCommit) {
  auto graph = letter(asks_twice);
  auto view = run(graph);
  EXPECT_EQ(store.commits, 3) << "input, write, send";
  auto rows = recorded(view);
  EXPECT_THAT(names(view), ElementsAre("model/1/1", "model/1/2"));
  auto record = call_record_in(rows.at(1)).value();
  EXPECT_EQ(rows.at(1).status, EffectStatus::done);
  EXPECT_EQ(rows.at(1).node, "write");
  EXPECT_EQ(rows.at(1).attempt, 0);
  ASSERT_TRUE(record.reply);
  EXPECT_EQ(record.reply->text, "two answer 2");
  EXPECT_EQ(record.reply->provider, "scripted");
  EXPECT_FALSE(record.reply->usage);
  EXPECT_EQ(record.request, request_hash(document_of(model.requests().at(1))));
  EXPECT_EQ(violations(graph), "");
}

TEST_F(ModelCalls, OfAnAttemptThatFailedAreRecordedWithTheFailure) {
  model.replies("first").fails(error(ErrorCode::unavailable, "It is away."));
  auto graph = letter(asks_twice, {.attempts = 3});
  auto view = run(graph);
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(store.commits, 4) << "input, the failure, write, send";
  EXPECT_THAT(names(view), ElementsAre("model/1/1", "model/1/2", "model/2/1", "model/2/2"));
  auto rows = recorded(view);
  EXPECT_EQ(rows.at(1).status, EffectStatus::failed);
  Error failed = error_in(*call_record_in(rows.at(1)).value().error);
  EXPECT_EQ(failed.code, ErrorCode::unavailable);
  EXPECT_EQ(failed.message, "It is away.");
  EXPECT_EQ(violations(graph), "");
}

TEST_F(ModelCalls, AreRecordedWhereTheRunFails) {
  model.replies("first").fails(error(ErrorCode::invalid, "It can't."));
  auto graph = letter(asks_twice);
  auto view = run(graph);
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_THAT(names(view), ElementsAre("model/1/1", "model/1/2"));
  EXPECT_EQ(violations(graph), "");
}

TEST_F(ModelCalls, WithExitNeedNoCommitOfTheirOwn) {
  RunOptions options;
  options.durability = Durability::exit;
  auto graph = letter(asks_twice);
  auto view = run(graph, options);
  EXPECT_EQ(store.commits, 2) << "input, the end";
  EXPECT_THAT(names(view), ElementsAre("model/1/1", "model/1/2"));
  EXPECT_EQ(violations(graph), "");
}

TEST_F(ModelCalls, BeforeAQuestionAreNotMadeAgainAfterIt) {
  auto graph = letter([](const Letter&, Context& context) -> Task<Update<Letter>> {
    auto draft = (co_await ask(context, "draft")).value();
    InterruptRequest question;
    question.name = "send";
    question.payload = Value(draft);
    InterruptResponse answer = context.interrupt(std::move(question));
    auto polished = (co_await ask(context, "polish " + *answer.payload.as_string())).value();
    co_return set(&Letter::draft, polished);
  });
  auto paused = run(graph);
  ASSERT_EQ(paused.row.status, RunStatus::paused);
  Decision decision;
  decision.approved = true;
  decision.decided_by = "ana";
  auto runtime = process(graph);
  auto decided = block_on(
      loop, runtime->decide(default_tenant(), paused.approval->interrupt, std::move(decision)));
  EXPECT_EQ(decided.value().view.state["draft"], Value("polish draft answer 1 answer 2"));
  EXPECT_EQ(answers, 2);
  EXPECT_THAT(names(paused), ElementsAre("model/1/1", "model/1/2"));
  EXPECT_EQ(violations(graph), "");
}

TEST_F(ModelCalls, ThatDifferWhenTheAttemptRunsAgainStandBesideTheFormerOnes) {
  int visits = 0;
  auto graph = letter([&visits](const Letter&, Context& context) -> Task<Update<Letter>> {
    auto draft = (co_await ask(context, "visit " + std::to_string(++visits))).value();
    InterruptRequest question;
    question.name = "send";
    context.interrupt(std::move(question));
    co_return set(&Letter::draft, draft);
  });
  auto paused = run(graph);
  Decision decision;
  decision.approved = true;
  decision.decided_by = "ana";
  auto runtime = process(graph);
  auto decided = block_on(
      loop, runtime->decide(default_tenant(), paused.approval->interrupt, std::move(decision)));
  EXPECT_EQ(decided.value().view.state["draft"], Value("visit 2 answer 2"));
  EXPECT_THAT(names(paused), ElementsAre("model/1/1", "model/1/1/2"));
  EXPECT_EQ(violations(graph), "");
}

TEST_F(ModelCalls, WhereverTheProcessDiesLeaveASoundStore) {
  auto graph = letter(asks_twice);
  for (Durability durability : {Durability::sync, Durability::async, Durability::exit}) {
    RunOptions options;
    options.durability = durability;
    for (int at = 1; at <= 4; ++at) {
      for (bool lands : {false, true}) {
        auto view = run_with_crash(graph, at, lands, options).value();
        EXPECT_EQ(view.row.status, RunStatus::completed);
        EXPECT_THAT(names(view), ElementsAre("model/1/1", "model/1/2"));
        EXPECT_EQ(violations(graph), "") << at << lands;
      }
    }
  }
}

TEST_F(ModelCalls, OfParallelNodesAreEachTheirTasksOwn) {
  GraphBuilder<Letter> builder{"letter"};
  builder.one_run_per_thread();
  builder.node("left", [](const Letter&, Context& context) -> Task<Update<Letter>> {
    co_return set(&Letter::draft, (co_await ask(context, "left")).value());
  });
  builder.node("right", [](const Letter&, Context& context) -> Task<Update<Letter>> {
    co_return set(&Letter::asked, (co_await ask(context, "right")).value());
  });
  builder.edge(start, "left").edge(start, "right").edge("left", end).edge("right", end);
  auto graph = std::move(builder).build().value();
  for (int at = 1; at <= 4; ++at) {
    auto view = run_with_crash(graph, at, true).value();
    EXPECT_EQ(view.row.status, RunStatus::completed);
    EXPECT_THAT(names(view), ElementsAre("model/1/1", "model/1/1"));
    EXPECT_EQ(violations(graph), "") << at;
  }
}

TEST_F(ModelCalls, AreRecordedAlongWithAnEffectThatFollowsThem) {
  auto graph = letter([](const Letter&, Context& context) -> Task<Update<Letter>> {
    auto draft = (co_await ask(context, "draft")).value();
    auto post = [draft]() -> Task<std::string> { co_return "posted " + draft; };
    auto posted = co_await context.keyed_effect("post", post);
    co_return set(&Letter::draft, posted);
  });
  auto view = run_with_crash(graph, 3, false).value();
  EXPECT_EQ(view.state["draft"], Value("posted draft answer 1"));
  EXPECT_EQ(answers, 1) << "the node ran again, and was answered from the record";
  EXPECT_THAT(names(view), ElementsAre("model/1/1", "post"));
  EXPECT_EQ(violations(graph), "");
}

TEST_F(ModelCalls, AreRecordedWithWhatWasAsked) {
  RunView view = run(letter(asks_twice));
  std::vector<EffectRow> rows = recorded(view);
  ASSERT_EQ(rows.size(), 2u);
  CallRecord first = call_record_in(rows[0]).value();
  EXPECT_EQ(first.prompt["messages"].as_array()->at(0)["text"], Value("one"));
  EXPECT_EQ(first.reply->text, "one answer 1");
}

TEST_F(ModelCalls, AreRecordedAsARedactorLeavesThemAndAreStillNotMadeAgain) {
  redact_prompt = [](const ModelRequest& request, Value) {
    if (request.messages.at(0).text == "two") return Value();
    return Value::object({{"messages", "gone"}});
  };
  auto graph = letter(asks_twice);
  RunView view = run(graph);
  std::vector<EffectRow> rows = recorded(view);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(call_record_in(rows[0]).value().prompt["messages"], Value("gone"));
  EXPECT_TRUE(call_record_in(rows[1]).value().prompt.is_null());
  EXPECT_EQ(rows[1].envelope.find("\"two\""), std::string::npos) << rows[1].envelope;

  auto runtime = process(graph);
  ReplayOptions again;
  again.thread = view.row.thread;
  ReplayReport report = block_on(loop, runtime->replay(again)).value();
  EXPECT_FALSE(report.divergence.has_value());
  EXPECT_EQ(answers, 2);
}

TEST_F(ModelCalls, RecordEachMessageOfAConversationOnce) {
  auto graph = letter([](const Letter&, Context& context) -> Task<Update<Letter>> {
    ModelRequest request;
    request.messages = {{Role::user, "one"}, {Role::assistant, "two"}, {Role::user, "three"}};
    for (std::size_t recorded : {0, 2, 3, 9}) {
      request.recorded_messages = recorded;
      (co_await context.model().generate(request)).value();
    }
    co_return Update<Letter>();
  });
  std::vector<EffectRow> rows = recorded(run(graph));
  ASSERT_EQ(rows.size(), 4u);
  ModelRequest request = model.requests().at(1);
  EXPECT_EQ(request.messages.size(), 3u) << "the model receives all of them";
  Value whole = document_of(request);
  for (const EffectRow& row : rows) {
    EXPECT_EQ(call_record_in(row).value().request, request_hash(whole)) << row.name;
  }
  EXPECT_EQ(to_json(call_record_in(rows[0]).value().prompt), to_json(whole));
  Value second = call_record_in(rows[1]).value().prompt;
  EXPECT_EQ(second["messages"], parse_json(R"([{"role":"user","text":"three"}])").value());
  EXPECT_EQ(second["messagesBefore"], Value(2));
  for (std::size_t at : {2, 3}) {
    Value prompt = call_record_in(rows[at]).value().prompt;
    EXPECT_EQ(prompt["messages"], Value(Value::Array()));
    EXPECT_EQ(prompt["messagesBefore"], Value(3));
  }
}

TEST_F(ModelCalls, AreShortenedBeforeARedactorReceivesThem) {
  std::vector<Value> received;
  redact_prompt = [&received](const ModelRequest& request, Value document) {
    received.push_back(document);
    return request.messages.size() == 2 ? Value("kept as it is") : document;
  };
  auto graph = letter([](const Letter&, Context& context) -> Task<Update<Letter>> {
    ModelRequest request;
    request.messages = {{Role::user, "one"}, {Role::user, "two"}};
    request.recorded_messages = 1;
    (co_await context.model().generate(request)).value();
    request.messages.push_back({Role::user, "three"});
    request.recorded_messages = 2;
    (co_await context.model().generate(request)).value();
    co_return Update<Letter>();
  });
  std::vector<EffectRow> rows = recorded(run(graph));
  ASSERT_EQ(received.size(), 2u);
  EXPECT_EQ(received[0]["messages"].as_array()->size(), 1u);
  EXPECT_EQ(received[0]["messagesBefore"], Value(1));
  EXPECT_EQ(call_record_in(rows[0]).value().prompt, Value("kept as it is"));
  EXPECT_EQ(call_record_in(rows[1]).value().prompt, received[1]);
}

TEST_F(ModelCalls, AReplyThatCantBeKeptIsAnError) {
  model.replies("\xff");
  auto view = run(letter(asks_twice));
  EXPECT_EQ(view.row.error_code, "invalid");
  EXPECT_THAT(view.row.error, HasSubstr("can't be recorded"));
}

TEST_F(ModelCalls, TakeTheirNamesFromNoEffect) {
  auto view = run(letter([](const Letter&, Context& context) {
    return set(&Letter::draft,
               context.keyed_effect("model/1/1", [] { return std::string("mine"); }));
  }));
  EXPECT_EQ(view.row.error_code, "invalid");
  EXPECT_THAT(view.row.error, HasSubstr("\"model/\""));
}

TEST_F(ModelCalls, AnEffectRecordedWithoutAnIntentIsSound) {
  auto graph = letter([](const Letter&, Context& context) {
    return set(&Letter::draft, context.keyed_effect("look", [] { return std::string("seen"); }));
  });
  run(graph);
  EXPECT_EQ(violations(graph), "");
}

TEST_F(ModelCalls, AreReplayedFromTheRecordAlone) {
  auto view = run(letter(asks_twice));
  auto context = replaying(view);
  Letter letter;
  auto update = block_on(loop, asks_twice(letter, *context));
  EXPECT_EQ(answers, 2) << "none of the replay";
  auto third = block_on(loop, ask(*context, "three"));
  EXPECT_EQ(third.error().code, ErrorCode::not_found);
  EXPECT_THAT(third.error().message, HasSubstr("call 3 of the model in attempt 1 of \"write\""));
}

TEST_F(ModelCalls, AReplayOfAnotherRequestIsAConflict) {
  auto view = run(letter(asks_twice));
  auto context = replaying(view);
  auto first = block_on(loop, ask(*context, "another"));
  EXPECT_EQ(first.error().code, ErrorCode::conflict);
  EXPECT_THAT(first.error().message, HasSubstr("call 1"));
}

TEST_F(ModelCalls, AReplayFailsAsTheCallDid) {
  Error away = error(ErrorCode::unavailable, "It is away.");
  away.retry_after = 7s;
  model.fails(away);
  auto view = run(letter(asks_twice, {.attempts = 2}));
  auto context = replaying(view);
  EXPECT_EQ(block_on(loop, ask(*context, "one")).error(), away);
}

}  // namespace
}  // namespace belay
