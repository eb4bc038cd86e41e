// Tests World with correct and faulty agents, as its users write them.
// Long on purpose: each agent is next to the expectations about it.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "belay/json_graph.h"
#include "belay/testing.h"

namespace belay::testing {
namespace {

using namespace std::chrono_literals;

struct Mail {
  std::string topic{};
  std::string draft{};
  std::string receipt{};
  int rounds = 0;
};

struct Sent {
  static constexpr std::string_view collection = "sent";
  std::string topic{};
  std::string key() const { return topic; }
  static auto indexed() { return std::tuple{&Sent::topic}; }
};

Task<Update<Mail>> write_mail(const Mail& mail, Context& context) {
  auto draft = (co_await context.model().complete("Write about " + mail.topic)).value();
  co_return set(&Mail::draft, draft).add(&Mail::rounds, 1);
}

Update<Mail> send_keyed(const Mail&, Context& context) {
  auto receipt = context.keyed_effect("smtp", [] { return std::string("receipt 1"); });
  context.publish("mails", Value("sent"));
  return set(&Mail::receipt, receipt);
}

using SendMail = std::function<Update<Mail>(const Mail&, Context&)>;

Result<Graph<Mail>> mail_graph(SendMail send = send_keyed) {
  GraphBuilder<Mail> graph{"mail"};
  graph.node("write", write_mail).retry({.attempts = 3});
  graph.approval("review", &Mail::draft, {.question = "Send this mail?"})
      .approved("send")
      .rejected("write");
  graph.node("send", std::move(send));
  graph.edge(start, "write").edge("write", "review").edge("send", end);
  return std::move(graph).build();
}

const Mail outage{.topic = "the outage"};

int count_of(const std::vector<CrashPoint>& crashes, CrashPoint::When when) {
  auto is_such = [when](const CrashPoint& crash) { return crash.when == when; };
  return static_cast<int>(std::count_if(crashes.begin(), crashes.end(), is_such));
}

TEST(World, ASoundAgentComesToTheSameEndFromACrashAtEveryStep) {
  auto world = World{}.model(replies("Dear all, ..."));
  auto calm = world.run(mail_graph(), outage).approve_all();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  EXPECT_EQ(calm.state().draft, "Dear all, ...");
  EXPECT_EQ(calm.path(), (std::vector<std::string>{"write", "review", "send"}));
  EXPECT_EQ(calm.crashes(), 0);
  for (auto crash : calm.crash_points()) {
    SCOPED_TRACE(crash.text);
    auto rough = world.run(mail_graph(), outage).crash_at(crash).approve_all();
    EXPECT_EQ(rough.crashes(), 1);
    EXPECT_TRUE(rough.ok()) << rough.error()->message;
    EXPECT_EQ(rough.state(), calm.state());
    EXPECT_EQ(rough.path(), calm.path());
    EXPECT_EQ(rough.effects("smtp"), 1);
    EXPECT_EQ(rough.messages().size(), 1u);
  }
}

TEST(World, ACrashMayComeBeforeAndAfterEachCommitAndWhileANodeRuns) {
  auto world = World{}.model(replies("Dear all, ...").takes(2s));
  auto calm = world.run(mail_graph(), outage).approve_all();
  auto crashes = calm.crash_points();
  // input, write, pause, decision, send
  EXPECT_EQ(count_of(crashes, CrashPoint::When::before_commit), 5);
  EXPECT_EQ(count_of(crashes, CrashPoint::When::answer_lost), 5);
  std::vector<std::string> between;
  for (const CrashPoint& crash : crashes) {
    if (crash.when == CrashPoint::When::between) between.push_back(crash.text);
  }
  EXPECT_EQ(between, (std::vector<std::string>{
                         "after commit 1, moment 1: the model has been asked",
                         "after commit 1, moment 2: \"write\" waits",
                         "after commit 4, moment 1: the effect \"smtp\" has been called"}));
}

// The node sends the mail directly, not as an effect: the journal does not record it.
TEST(World, FindsAnEffectThatACrashRepeats) {
  int sent = 0;
  auto careless = mail_graph([&](const Mail&, Context&) {
    ++sent;
    return set(&Mail::receipt, "receipt 1");
  });
  auto world = World{}.model(replies("Dear all, ..."));
  auto calm = world.run(careless, outage).approve_all();
  EXPECT_EQ(sent, 1) << "nothing seems to be wrong with it";
  int caught = 0;
  for (auto crash : calm.crash_points()) {
    sent = 0;
    auto rough = world.run(careless, outage).crash_at(crash).approve_all();
    EXPECT_EQ(rough.state(), calm.state());
    if (sent > 1) ++caught;
  }
  EXPECT_GE(caught, 1);
}

// The node counts its executions in a variable of the process, outside of the state.
TEST(World, FindsAStateThatDependsOnTheProcess) {
  auto world = World{}.model(replies("Dear all, ..."));
  auto play = [&](std::optional<CrashPoint> crash) {
    int visits = 0;
    auto graph = mail_graph([&visits](const Mail&, Context&) {
      return set(&Mail::receipt, "receipt " + std::to_string(++visits));
    });
    auto scenario = world.run(graph, outage);
    if (crash) scenario.crash_at(*crash);
    return scenario.approve_all();
  };
  auto calm = play(std::nullopt);
  auto crashes = calm.crash_points();
  EXPECT_TRUE(std::any_of(crashes.begin(), crashes.end(), [&](const CrashPoint& crash) {
    return !(play(crash).state() == calm.state());
  }));
}

TEST(World, AKeyedEffectThatIsCalledAgainIsOneEffect) {
  auto world = World{}.model(replies("Dear all, ..."));
  auto rough = world.run(mail_graph(), outage).crash_at(before_commit(5)).approve_all();
  EXPECT_EQ(rough.calls("smtp"), 2);
  EXPECT_EQ(rough.effects("smtp"), 1);
  EXPECT_EQ(rough.attempts("send"), 2);
}

Update<Mail> send_unkeyed(const Mail&, Context& context) {
  auto receipt = context.unkeyed_effect("smtp", {}, [] { return std::string("receipt 1"); });
  return set(&Mail::receipt, receipt.value_or("none"));
}

TEST(World, AnUnkeyedEffectHappensOnceSinceWhoIsAskedKnowsTheTruth) {
  auto world = World{}.model(replies("Dear all, ..."));
  auto calm = world.run(mail_graph(send_unkeyed), outage).approve_all();
  EXPECT_EQ(calm.state().receipt, "receipt 1");
  int asked = 0;
  for (auto crash : calm.crash_points()) {
    SCOPED_TRACE(crash.text);
    auto rough = world.run(mail_graph(send_unkeyed), outage).crash_at(crash).approve_all();
    EXPECT_TRUE(rough.ok()) << rough.error()->message;
    EXPECT_EQ(rough.state(), calm.state());
    EXPECT_EQ(rough.effects("smtp"), 1);
    EXPECT_EQ(rough.calls("smtp"), 1);
    if (rough.approvals().size() > calm.approvals().size()) ++asked;
  }
  EXPECT_GE(asked, 2) << "before the call, and after it";
}

TEST(World, ItMayCrashTwice) {
  auto world = World{}.model(replies("Dear all, ..."));
  auto calm = world.run(mail_graph(send_unkeyed), outage).approve_all();
  for (auto first : calm.crash_points()) {
    auto once = world.run(mail_graph(send_unkeyed), outage).crash_at(first).approve_all();
    for (auto second : once.crash_points()) {
      SCOPED_TRACE(first.text + "; " + second.text);
      auto scenario = world.run(mail_graph(send_unkeyed), outage);
      auto twice = scenario.crash_at(first).crash_at(second).approve_all();
      EXPECT_EQ(twice.crashes(), 2);
      EXPECT_TRUE(twice.ok()) << twice.error()->message;
      EXPECT_EQ(twice.state(), calm.state());
      EXPECT_EQ(twice.effects("smtp"), 1);
    }
  }
}

TEST(World, TheSameWorldPlaysTheSameRunIdsAndTimesIncluded) {
  auto world = World{}.model(replies("Dear all, ..."));
  auto one = world.run(mail_graph(), outage).crash_at(before_commit(3)).approve_all();
  auto same = world.run(mail_graph(), outage).crash_at(before_commit(3)).approve_all();
  EXPECT_EQ(one.commits(), same.commits());
  EXPECT_EQ(one.events(), same.events());
  auto other = World(world).seed(2).run(mail_graph(), outage).approve_all();
  EXPECT_FALSE(one.commits() == other.commits());
}

TEST(World, AnswersWhatANodeAsks) {
  auto world = World{}.model(replies("first").replies("second"));
  Decision edit{.approved = true, .decided_by = "ana", .edited = Value("by hand")};
  auto edited = world.run(mail_graph(), outage)
                    .decide("review", {.approved = false, .decided_by = "ana"})
                    .decide("review", edit)
                    .approve_all();
  EXPECT_EQ(edited.state().draft, "by hand");
  EXPECT_EQ(edited.state().rounds, 2);
  ASSERT_EQ(edited.approvals().size(), 2u);
  EXPECT_EQ(edited.approvals()[0].status, ApprovalStatus::rejected);
  EXPECT_EQ(edited.approvals()[1].decided_by, "ana");
  EXPECT_EQ(edited.model_requests().size(), 2u);
}

TEST(World, ACrashNeitherLosesNorRepeatsADecision) {
  auto world = World{}.model(replies("first").replies("second").replies("third"));
  auto scenario = world.run(mail_graph(), outage);
  scenario.decide("review", {.approved = false, .decided_by = "ana"});
  auto calm = scenario.approve_all();
  EXPECT_EQ(calm.state().draft, "second");
  for (auto crash : calm.crash_points()) {
    SCOPED_TRACE(crash.text);
    auto rough = Scenario<Mail>(scenario).crash_at(crash).approve_all();
    EXPECT_EQ(rough.state(), calm.state()) << "the model's answers are given back";
    EXPECT_EQ(rough.approvals().size(), 2u);
  }
}

TEST(World, WhatIsNotAnsweredExpiresOrStaysOpen) {
  GraphBuilder<Mail> builder{"mail"};
  builder.approval("review", &Mail::draft, {.question = "Send?", .expires = 24h})
      .approved(end)
      .rejected("give_up");
  builder.node("give_up", [](const Mail&, Context& context) {
    context.outcome("given up");
    return unchanged<Mail>();
  });
  builder.edge(start, "review").edge("give_up", end);
  auto graph = std::move(builder).build();
  auto world = World{};
  auto expired = world.run(graph, {}).let_expire();
  EXPECT_EQ(expired.outcome(), "given up");
  EXPECT_EQ(expired.approvals().at(0).status, ApprovalStatus::expired);
  EXPECT_GE(expired.commits().back().created_at - expired.commits().front().created_at, 24h);
  for (auto crash : expired.crash_points()) {
    auto rough = world.run(graph, {}).crash_at(crash).let_expire();
    EXPECT_TRUE(rough.ok()) << crash;
    EXPECT_EQ(rough.outcome(), "given up") << crash;
  }
  auto open = world.run(graph, {}).leave_open();
  EXPECT_EQ(open.status(), RunStatus::paused);
  EXPECT_EQ(open.approvals().at(0).status, ApprovalStatus::open);
  EXPECT_TRUE(open.ok());
  auto rejected = world.run(graph, {}).reject_all();
  EXPECT_EQ(rejected.outcome(), "given up");
}

TEST(World, FollowsWaitsAndBreakpoints) {
  GraphBuilder<Mail> builder{"slow"};
  auto round = [](const Mail&, Context&) { return add(&Mail::rounds, 1); };
  builder.node("one", round).interrupt_after();
  builder.wait("sleep", 48h);
  builder.node("two", round);
  builder.edge(start, "one").edge("one", "sleep").edge("sleep", "two").edge("two", end);
  auto graph = std::move(builder).build();
  auto calm = World{}.run(graph, {}).leave_open();
  EXPECT_EQ(calm.status(), RunStatus::completed);
  EXPECT_EQ(calm.path(), (std::vector<std::string>{"one", "sleep", "two"}));
  for (auto crash : calm.crash_points()) {
    auto rough = World{}.run(graph, {}).crash_at(crash).leave_open();
    EXPECT_EQ(rough.state(), calm.state()) << crash;
    EXPECT_TRUE(rough.ok()) << crash << rough.error()->message;
  }
}

TEST(World, PlaysNodesSideBySide) {
  GraphBuilder<Mail> builder{"wide"};
  auto nap = [](const Mail&, Context& context) -> Task<Update<Mail>> {
    auto ring = [] { return 1; };
    int rung = context.keyed_effect("ring", ring);
    co_await sleep_for(10ms);
    co_return add(&Mail::rounds, rung);
  };
  builder.node("a", nap);
  builder.node("b", nap);
  builder.node("c", [](const Mail&, Context&) { return add(&Mail::rounds, 1); });
  builder.edge(start, "a").edge(start, "b").edge(start, "c");
  builder.edge("a", end).edge("b", end).edge("c", end);
  auto graph = std::move(builder).build();
  auto calm = World{}.run(graph, {}).approve_all();
  EXPECT_EQ(calm.state().rounds, 3);
  EXPECT_GE(count_of(calm.crash_points(), CrashPoint::When::between), 3);
  for (auto crash : calm.crash_points()) {
    auto rough = World{}.run(graph, {}).crash_at(crash).approve_all();
    EXPECT_EQ(rough.state(), calm.state()) << crash;
    EXPECT_EQ(rough.effects("ring"), 2) << crash;
    EXPECT_TRUE(rough.ok()) << crash;
  }
}

TEST(World, BeginsWithRecordsAndTellsThoseSaved) {
  auto copy = mail_graph([](const Mail& mail, Context& context) {
    context.save(Sent{mail.topic});
    return unchanged<Mail>();
  });
  auto world = World{}.user(UserId("ana")).record(Sent{"earlier"}).model(replies("Dear all"));
  auto played = world.run(copy, outage).approve_all();
  auto sent = played.records<Sent>();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].topic, "earlier");
  EXPECT_EQ(sent[1].topic, "the outage");
}

TEST(World, AFailedAttemptIsTriedAgain) {
  auto busy = error(ErrorCode::unavailable, "busy");
  auto world = World{}.model(fails(busy).replies("Dear all"));
  auto calm = world.run(mail_graph(), outage).approve_all();
  EXPECT_EQ(calm.attempts("write"), 2);
  EXPECT_EQ(calm.state().draft, "Dear all");
  for (auto crash : calm.crash_points()) {
    auto rough = world.run(mail_graph(), outage).crash_at(crash).approve_all();
    EXPECT_EQ(rough.state(), calm.state()) << crash;
  }
}

TEST(World, SaysWhyARunFailed) {
  auto silent = World{}.run(mail_graph(), outage).approve_all();
  EXPECT_EQ(silent.status(), RunStatus::failed);
  ASSERT_FALSE(silent.ok());
  EXPECT_NE(silent.error()->message.find("no model"), std::string::npos);
}

TEST(World, AGraphThatCanNotBeBuiltIsTheErrorOfWhatIsPlayed) {
  GraphBuilder<Mail> builder{"mail"};
  builder.edge(start, "nowhere");
  auto played = World{}.run(std::move(builder).build(), outage).approve_all();
  ASSERT_FALSE(played.ok());
  EXPECT_NE(played.error()->message.find("nowhere"), std::string::npos);
  EXPECT_TRUE(played.crash_points().empty());
}

struct Counted {
  int retryCount = 0;
};

// The checkers know this member of the agents' specification: it must never decrease.
TEST(World, ARuleOfTheStoreThatIsBrokenIsAnError) {
  GraphBuilder<Counted> builder{"counted"};
  builder.node("raise", [](const Counted&, Context&) { return set(&Counted::retryCount, 2); });
  builder.node("lower", [](const Counted&, Context&) { return set(&Counted::retryCount, 1); });
  builder.edge(start, "raise").edge("raise", "lower").edge("lower", end);
  auto played = World{}.run(std::move(builder).build(), {}).approve_all();
  EXPECT_EQ(played.status(), RunStatus::completed);
  ASSERT_FALSE(played.ok());
  EXPECT_TRUE(played.error()->message.starts_with("Rule P2 ")) << played.error()->message;
  EXPECT_EQ(played.violations().at(0).rule, "P2");
}

TEST(World, PlaysAGraphOverAJsonObject) {
  JsonGraphBuilder builder{"mail"};
  builder.channel("topic", {.kind = JsonKind::string, .required = true});
  builder.channel("receipt", {.kind = JsonKind::string});
  builder.node("send", [](const Value& state, Context& context) {
    auto receipt = context.keyed_effect("smtp", [] { return std::string("receipt of "); });
    return set("receipt", receipt + *state["topic"].as_string());
  });
  builder.edge(start, "send").edge("send", end);
  auto graph = std::move(builder).build();
  auto input = Value::object({{"topic", "the outage"}});
  auto calm = World{}.run(graph, input).approve_all();
  EXPECT_EQ(calm.state()["receipt"], Value("receipt of the outage"));
  for (auto crash : calm.crash_points()) {
    auto rough = World{}.run(graph, input).crash_at(crash).approve_all();
    EXPECT_EQ(rough.state(), calm.state()) << crash;
    EXPECT_EQ(rough.effects("smtp"), 1) << crash;
  }
  auto wrong = World{}.run(graph, Value::object({{"topic", 7}})).approve_all();
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error()->message.find("topic"), std::string::npos) << wrong.error()->message;
}

TEST(World, AnAnswerOnRecordIsNotGivenBack) {
  GraphBuilder<Mail> builder{"two"};
  builder.node("first", [](const Mail&, Context& context) -> Task<Update<Mail>> {
    auto draft = (co_await context.model().complete("one")).value();
    auto note = []() -> Task<int> { co_return 1; };
    co_await context.keyed_effect("note", note);
    co_return set(&Mail::draft, draft);
  });
  builder.node("second", [](const Mail& mail, Context& context) -> Task<Update<Mail>> {
    auto more = (co_await context.model().complete("two")).value();
    co_return set(&Mail::draft, mail.draft + more);
  });
  builder.edge(start, "first").edge("first", "second").edge("second", end);
  auto graph = std::move(builder).build();
  auto world = World{}.model(replies("a").replies("b"));
  auto calm = world.run(graph, {}).approve_all();
  EXPECT_EQ(calm.state().draft, "ab");
  for (auto crash : calm.crash_points()) {
    auto rough = world.run(graph, {}).crash_at(crash).approve_all();
    EXPECT_EQ(rough.state(), calm.state()) << crash;
  }
}

TEST(World, PlaysOnASqliteFileToo) {
  auto folder = std::filesystem::path(::testing::TempDir()) / "belay-world";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  auto world = World{}.model(replies("Dear all, ...")).sqlite_in(folder.string());
  auto calm = world.run(mail_graph(), outage).approve_all();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  auto in_memory = World{}.model(replies("Dear all, ...")).run(mail_graph(), outage).approve_all();
  EXPECT_EQ(calm.state(), in_memory.state());
  EXPECT_EQ(calm.crash_points(), in_memory.crash_points());
  for (auto crash : {before_commit(2), after_commit(4), before_commit(5)}) {
    auto rough = world.run(mail_graph(), outage).crash_at(crash).approve_all();
    EXPECT_TRUE(rough.ok()) << rough.error()->message;
    EXPECT_EQ(rough.crashes(), 1);
    EXPECT_EQ(rough.state(), calm.state());
    EXPECT_EQ(rough.effects("smtp"), 1);
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "played-4.db"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace belay::testing
