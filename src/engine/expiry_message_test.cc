// Tests at the level of advance() that an expiry, and nothing else, adds the message that its
// approval names.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/detail/expiry_envelope.h"
#include "engine/advance.h"
#include "engine/expiry_message.h"
#include "engine/run_factory.h"
#include "engine/run_queries.h"

namespace belay::engine {
namespace {

using namespace std::chrono_literals;

struct Offer {
  std::string text{};
};

Update<Offer> unaltered(const Offer&, Context&) { return unchanged<Offer>(); }

Moment at_second(int seconds) {
  return Moment{*instant_from("2026-11-21T12:00:00Z") + std::chrono::seconds(seconds),
                1000u + static_cast<unsigned>(seconds)};
}

// Passes events to one run, one at a time.
struct ExpiryMessages : ::testing::Test {
  std::optional<ExpiryMessage> message = ExpiryMessage{"late", Value::object({{"desk", 7}})};
  Graph<Offer> graph = review_graph();
  engine::Run run;
  std::vector<Action> actions;
  std::vector<ApprovalRow> opened;

  // review and print in one superstep: the run is running while its approval is open.
  Graph<Offer> review_graph() {
    GraphBuilder<Offer> builder{"offer"};
    builder.node("print", unaltered);
    builder
        .approval("review", &Offer::text,
                  {.question = "Send?", .expires = 60s, .on_expiry = message})
        .approved(end)
        .rejected(end);
    builder.edge(start, "review").edge(start, "print").edge("print", end);
    return std::move(builder).build().value();
  }
  static Graph<Offer> simple_graph(std::optional<ExpiryMessage> message) {
    GraphBuilder<Offer> builder{"simple"};
    builder
        .approval("review", &Offer::text,
                  {.question = "Send?", .expires = 60s, .on_expiry = std::move(message)})
        .approved(end)
        .rejected(end);
    builder.edge(start, "review");
    return std::move(builder).build().value();
  }

  void happens(Event event) {
    auto next = advance(*graph.definition(), std::move(run), std::move(event));
    run = std::move(next.run);
    actions = std::move(next.actions);
    for (Action& action : actions) {
      auto* write = std::get_if<WriteCommit>(&action);
      if (!write) continue;
      const auto& asked = write->commit->rows.opened;
      opened.insert(opened.end(), asked.begin(), asked.end());
    }
  }
  Commit only_commit() {
    if (actions.size() == 1) {
      if (auto* write = std::get_if<WriteCommit>(&actions.front())) return *write->commit;
    }
    ADD_FAILURE() << actions.size() << " actions";
    return {};
  }
  void begin() {
    RunRow row;
    row.tenant = default_tenant();
    row.run = RunId(derived_uuid("run"));
    row.thread = ThreadId("t");
    row.user = UserId("u");
    row.session = SessionId(derived_uuid("session"));
    auto input = std::make_shared<Offer>(Offer{"Dear all"});
    run = new_run(*graph.definition(), row, {}, input).value();
    happens(Started{at_second(0)});
    happens(Committed{at_second(0)});
    if (opened.empty()) happens(Committed{at_second(0)});
  }
  Decided decision(Decided::Verdict verdict, int seconds = 60) {
    Decided event;
    event.moment = at_second(seconds);
    event.session = SessionId(derived_uuid("other session"));
    event.approval = opened.at(0);
    event.verdict = verdict;
    if (verdict != Decided::Verdict::expired) event.decided_by = "ana";
    return event;
  }
  static Value body_of(const OutboxRow& row) {
    return parse_json(json_in_envelope(row.envelope).value()).value();
  }
};

TEST_F(ExpiryMessages, AreStoredWithTheApprovalAndDoNotChangeWhatIsShown) {
  graph = simple_graph(message);
  begin();
  ApprovalRow asked = opened.at(0);
  EXPECT_EQ(json_in_envelope(asked.payload).value(), "\"Dear all\"");
  EXPECT_EQ(asked.payload_hash, sha256("\"Dear all\""));
  auto stored = terms_of(asked).value().on_expiry;
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->topic, "late");
  EXPECT_EQ(stored->data, message->data);

  opened.clear();
  graph = simple_graph(std::nullopt);
  begin();
  EXPECT_EQ(opened.at(0).payload, json_envelope("\"Dear all\""));
  happens(decision(Decided::Verdict::expired));
  EXPECT_TRUE(only_commit().rows.outbox.empty());
}

TEST_F(ExpiryMessages, DoNotBelongToTheVersionOfAGraph) {
  EXPECT_EQ(simple_graph(message).definition()->hash,
            simple_graph(std::nullopt).definition()->hash);
}

TEST_F(ExpiryMessages, AreInTheCommitThatRecordsTheExpiryOfAPausedRun) {
  graph = simple_graph(message);
  begin();
  happens(decision(Decided::Verdict::expired, 75));
  Commit commit = only_commit();
  EXPECT_EQ(commit.rows.decided->status, ApprovalStatus::expired);
  ASSERT_EQ(commit.rows.outbox.size(), 1u);
  const OutboxRow& row = commit.rows.outbox[0];
  const ApprovalRow& asked = opened.at(0);
  EXPECT_EQ(row.topic, "late");
  EXPECT_EQ(row.run, asked.run);
  EXPECT_EQ(row.seq, asked.seq);
  EXPECT_TRUE(detail::is_expiry_message(row));
  EXPECT_EQ(row.due_at, at_second(75).now);
  EXPECT_EQ(body_of(row), Value::object({{"event", "approval.expired"},
                                         {"interruptId", asked.interrupt.text()},
                                         {"threadId", "t"},
                                         {"runId", asked.run.text()},
                                         {"userId", "u"},
                                         {"agent", "simple"},
                                         {"node", "review"},
                                         {"question", "Send?"},
                                         {"createdAt", to_text(at_second(0).now)},
                                         {"expiredAt", to_text(at_second(60).now)},
                                         {"decision", "rejected"},
                                         {"data", Value::object({{"desk", 7}})}}));
}

TEST_F(ExpiryMessages, OfALateDecisionAreOnlyInTheRowsOfTheExpiry) {
  graph = simple_graph(message);
  begin();
  for (auto verdict : {Decided::Verdict::approved, Decided::Verdict::rejected}) {
    engine::Run paused = copy_of(run);
    happens(decision(verdict));
    Commit commit = only_commit();
    EXPECT_TRUE(commit.rows.outbox.empty());
    ASSERT_TRUE(commit.if_expired);
    EXPECT_EQ(commit.if_expired->outbox.size(), 1u);
    run = std::move(paused);
  }
}

TEST_F(ExpiryMessages, HaveTheSameIdWhicheverCommitRecordsTheExpiry) {
  begin();
  ASSERT_EQ(run.row.status, RunStatus::running);
  // Its owner executes the run, and another process records a decision.
  happens(decision(Decided::Verdict::approved));
  Commit decided = only_commit();
  EXPECT_TRUE(decided.rows.outbox.empty());
  ASSERT_EQ(decided.if_expired->outbox.size(), 1u);
  OutboxRow first = decided.if_expired->outbox[0];
  // The worker of another process records the expiry without the run.
  engine::Run owned = copy_of(run);
  run = {};
  run.row.tenant = default_tenant();
  happens(ExpiredWhileActive{at_second(60), opened.at(0)});
  ASSERT_EQ(only_commit().rows.outbox.size(), 1u);
  EXPECT_EQ(only_commit().rows.outbox[0], first);
  // The owner applies the stored expiry.
  run = std::move(owned);
  Decided stored = decision(Decided::Verdict::expired);
  stored.is_stored = true;
  happens(stored);
  for (Action& action : actions) {
    auto* write = std::get_if<WriteCommit>(&action);
    if (!write) continue;
    EXPECT_TRUE(write->commit->rows.outbox.empty()) << "it is sent already";
  }
}

TEST_F(ExpiryMessages, OfAnInterruptAreStoredWithIt) {
  GraphBuilder<Offer> builder{"inside"};
  builder.node("ask", unaltered);
  builder.edge(start, "ask").edge("ask", end);
  graph = std::move(builder).build().value();
  begin();
  InterruptRequest question;
  question.text = "Pay?";
  question.payload = Value(100);
  question.on_expiry = ExpiryMessage{"late"};
  const NodeTask& task = run.tasks.front();
  happens(NodeInterrupted{at_second(1), {{}, 0, task.id, task.attempt}, question, {}});
  happens(decision(Decided::Verdict::expired, 90'000));
  ASSERT_EQ(only_commit().rows.outbox.size(), 1u);
  Value body = body_of(only_commit().rows.outbox[0]);
  EXPECT_EQ(body["question"], Value("Pay?"));
  EXPECT_TRUE(body["data"].is_null());
}

TEST_F(ExpiryMessages, ThatAreDamagedAreRefusedWithTheDecision) {
  graph = simple_graph(message);
  begin();
  ApprovalRow asked = opened.at(0);
  for (std::string damaged : {"", "{}", R"({"topic":""})", "not JSON"}) {
    opened[0].payload = detail::expiry_envelope(damaged, "\"Dear all\"");
    happens(decision(Decided::Verdict::approved));
    ASSERT_EQ(actions.size(), 1u) << damaged;
    auto* refused = std::get_if<Refuse>(&actions.front());
    ASSERT_TRUE(refused) << damaged;
    EXPECT_EQ(refused->why.code, ErrorCode::corrupt);
  }
  for (std::size_t size = 4; size < asked.payload.size(); ++size) {
    opened[0].payload = asked.payload.substr(0, size);
    happens(ExpiredWhileActive{at_second(60), opened.at(0)});
    ASSERT_TRUE(std::get_if<Refuse>(&actions.front())) << size;
  }
  EXPECT_EQ(run.row.status, RunStatus::paused);
}

TEST_F(ExpiryMessages, WithoutATopicAreAFaultOfTheGraph) {
  GraphBuilder<Offer> builder{"offer"};
  builder.approval("review", &Offer::text, {.question = "Send?", .on_expiry = ExpiryMessage{}})
      .approved(end)
      .rejected(end);
  builder.edge(start, "review");
  auto built = std::move(builder).build();
  ASSERT_FALSE(built.ok());
  EXPECT_THAT(built.error().message, ::testing::HasSubstr("has no topic"));
}

}  // namespace
}  // namespace belay::engine
