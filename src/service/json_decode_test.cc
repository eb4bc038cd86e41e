// Documents decoded and encoded again: real runs, each kind of document, and invalid documents.

#include "service/json_decode.h"

#include <gmock/gmock.h>

#include "service/json_encode.h"
#include "tests/support/service_fixture.h"

namespace belay {
namespace {

using ::testing::HasSubstr;

// Encodes, decodes and encodes again, with the same text as result.
template <typename T, typename Write>
void expect_same(const T& row, Write write, Result<T> (*read)(const Value&)) {
  Value document = parse_json(to_json(write(row))).value();
  auto back = read(document);
  ASSERT_TRUE(back.ok()) << back.error().message << "\n" << to_json(document);
  EXPECT_EQ(to_json(write(*back)), to_json(document));
}

struct Documents : ServiceFixture {
  static Value run(const RunView& view) { return run_document(view, nullptr); }
  static Value history_of(const std::vector<RunHistory>& page) {
    return history_document(page, 100);
  }
  static Value approval(const ApprovalRow& row) { return approval_document(row, nullptr); }

  // Runs at every stage: one paused, one bought, one edited, one rejected, one failed, one
  // cancelled, one queued, one with a budget.
  void play() {
    began("waits", "a hat");
    began("bought", "a coat");
    EXPECT_TRUE(decided("bought", true, "fine").ok());
    began("edited", "a shoe");
    EXPECT_TRUE(decided("edited", true, "", Value("two \"shoes\"\n")).ok());
    began("rejected", "a cat");
    EXPECT_TRUE(decided("rejected", false, "no cats").ok());
    EXPECT_EQ(began("failed", "stone").row.status, RunStatus::failed);
    began("cancelled", "a car");
    EXPECT_TRUE(
        wait(service_->cancel(local_program, ThreadId("cancelled"), "ana", "", std::nullopt)).ok());
    StartRun queued = order("queued", "a bus");
    queued.queued = true;
    queued.delay = std::chrono::hours(1);
    queued.queue = "slow";
    queued.priority = 3;
    queued.concurrency_key = "line 9";
    EXPECT_TRUE(wait(service_->start(local_program, std::move(queued))).ok());
    StartRun priced = order("priced", "a map");
    priced.run.budget.tokens = 1'000;
    EXPECT_TRUE(wait(service_->start(local_program, std::move(priced))).ok());
  }
  static const std::vector<std::string>& threads() {
    static const std::vector<std::string> all = {"waits",  "bought",    "edited", "rejected",
                                                 "failed", "cancelled", "queued", "priced"};
    return all;
  }
};

TEST_F(Documents, OfRunsComeBackAsTheyWere) {
  play();
  for (const std::string& name : threads()) {
    SCOPED_TRACE(name);
    RunView view = wait(service_->status(local_program, ThreadId(name), std::nullopt)).value();
    expect_same<RunView>(view, run, run_view_from);
    expect_same<RunRow>(view.row, run_summary, run_row_from);
    auto history = wait(service_->history(local_program, {ThreadId(name)})).value();
    expect_same<std::vector<RunHistory>>(history, history_of, history_from);
    bool is_success = name != "failed" && name != "cancelled" && name != "quarantined";
    EXPECT_EQ(run_view_from(run(view)).value().success(), is_success);
    EXPECT_EQ(run(view)["success"], Value(is_success));
  }
  RunView queued = wait(service_->status(local_program, ThreadId("queued"), std::nullopt)).value();
  RunRow back = run_row_from(run_summary(queued.row)).value();
  EXPECT_EQ(back.queue, "slow");
  EXPECT_EQ(back.priority, 3);
  EXPECT_EQ(back.concurrency_key, "line 9");
}

TEST_F(Documents, OfAThreadWithSeveralRunsComeBackAsTheyWere) {
  for (const char* item : {"stone", "a hat"}) began("t", item);
  ThreadSettings settings;
  settings.title = "Orders of \"ana\"";
  settings.metadata = Value::object({{"customer", 7}});
  settings.expires_at = *instant_from("2030-01-01T00:00:00Z");
  ThreadRow edited = wait(service_->edit_thread(local_program, ThreadId("t"), settings)).value();
  EXPECT_EQ(edited.title, *settings.title);
  ListedThread listed = wait(service_->thread(local_program, ThreadId("t"))).value();
  ASSERT_TRUE(listed.run);
  EXPECT_EQ(listed.run->ordinal, 1);
  auto write = [](const ListedThread& each) { return thread_document(each.thread, each.run); };
  expect_same<ListedThread>(listed, write, thread_from);
  EXPECT_EQ(thread_from(write(listed)).value().thread.metadata, R"({"customer":7})");
  HistoryPage page;
  page.thread = ThreadId("t");
  auto history = wait(service_->history(local_program, page)).value();
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0].run.run, listed.run->run);
  expect_same<std::vector<RunHistory>>(history, history_of, history_from);
  RunPage runs;
  runs.thread = page.thread;
  auto rows = wait(service_->runs(local_program, runs)).value();
  ASSERT_EQ(rows.size(), 2u);
  for (const RunRow& row : rows) {
    expect_same<RunRow>(row, run_summary_with_input, run_row_from);
  }
  EXPECT_EQ(run_summary_with_input(rows[0])["input"]["item"], Value("a hat"));
}

// A server of an older version: no runs, and no run of a commit.
TEST_F(Documents, OfAHistoryWithoutRunsAreThatOfOneRun) {
  play();
  Value document = history_of(wait(service_->history(local_program, {ThreadId("bought")})).value());
  std::size_t commits = document["checkpoints"].as_array()->size();
  document.as_object()->erase("runs");
  document.as_object()->erase("next");
  auto read = history_from(document).value();
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].run.status, RunStatus::completed);
  EXPECT_EQ(read[0].checkpoints.size(), commits);
}

TEST_F(Documents, OfARunAsItStoodComeBackAsTheyWere) {
  play();
  for (std::uint64_t seq = 1; seq <= 3; ++seq) {
    RunView view = wait(service_->status(local_program, ThreadId("bought"), seq)).value();
    expect_same<RunView>(view, run, run_view_from);
  }
}

TEST_F(Documents, OfThreadsApprovalsAndTheOverviewComeBackAsTheyWere) {
  play();
  auto listed = wait(service_->threads(local_program, {})).value();
  ASSERT_EQ(listed.size(), threads().size());
  for (const ListedThread& one : listed) {
    auto write = [](const ListedThread& each) { return thread_document(each.thread, each.run); };
    expect_same<ListedThread>(one, write, thread_from);
  }
  ListedThread alone{listed.front().thread, std::nullopt};
  auto write = [](const ListedThread& each) { return thread_document(each.thread, each.run); };
  expect_same<ListedThread>(alone, write, thread_from);
  ApprovalPage all;
  all.only_open = false;
  auto approvals = wait(service_->approvals(local_program, all)).value();
  ASSERT_EQ(approvals.size(), 6u);
  std::set<std::string> seen;
  for (const ApprovalRow& row : approvals) {
    expect_same<ApprovalRow>(row, approval, approval_from);
    seen.insert(std::string(name_of(row.status)) + (row.edited.empty() ? "" : ", edited"));
  }
  EXPECT_EQ(seen,
            (std::set<std::string>{"open", "approved", "approved, edited", "rejected", "closed"}));
  StatusSummary standing = wait(service_->standing(local_program, Whose())).value();
  EXPECT_EQ(standing.open.size(), 2u);
  auto overview = [](const StatusSummary& each) { return status_summary_document(each, nullptr); };
  expect_same<StatusSummary>(standing, overview, status_summary_from);
}

TEST_F(Documents, OfDecisionsComeBackAsTheyWere) {
  began("t", "a hat");
  auto write = [](const DecisionResult& each) { return decision_document(each, nullptr); };
  for (auto [approved, kind] : {std::pair(true, DecisionResult::Kind::accepted),
                                {true, DecisionResult::Kind::duplicate},
                                {false, DecisionResult::Kind::conflict}}) {
    DecisionResult answer = decided("t", approved).value();
    EXPECT_EQ(answer.kind, kind);
    expect_same<DecisionResult>(answer, write, decision_from);
    EXPECT_EQ(decision_from(write(answer)).value().kind, kind);
  }
}

// Servers of versions before the rename send these names alone.
TEST_F(Documents, WithFormerNamesAloneAreRead) {
  began("t", "a hat");
  DecisionResult result = decided("t", false).value();
  for (auto [former, kind] : {std::pair("won", DecisionResult::Kind::accepted),
                              {"same", DecisionResult::Kind::duplicate},
                              {"lost", DecisionResult::Kind::conflict},
                              {"expired", DecisionResult::Kind::expired},
                              {"closed", DecisionResult::Kind::closed}}) {
    Value document = decision_document(result, nullptr);
    document.as_object()->erase("result");
    (*document.as_object())["answer"] = Value(former);
    EXPECT_EQ(decision_from(document).value().kind, kind) << former;
  }
  Value unknown = decision_document(result, nullptr);
  unknown.as_object()->erase("result");
  (*unknown.as_object())["answer"] = Value("perhaps");
  EXPECT_EQ(decision_from(unknown).error().code, ErrorCode::invalid);

  StreamEvent event;
  event.thread = ThreadId("t");
  event.checkpoint_ns = "inner:1";
  Value sent = to_value(event);
  EXPECT_EQ(sent["namespace"], Value("inner:1"));
  EXPECT_EQ(sent["space"], Value("inner:1"));
  sent.as_object()->erase("namespace");
  EXPECT_EQ(event_from(sent).value().checkpoint_ns, "inner:1");

  StatusSummary summary;
  summary.orphaned.push_back(result.view.row);
  Value overview = status_summary_document(summary, nullptr);
  EXPECT_EQ(overview["orphaned"], overview["leftBehind"]);
  overview.as_object()->erase("orphaned");
  EXPECT_EQ(status_summary_from(overview).value().orphaned.size(), 1u);
}

TEST_F(Documents, OfForksReplaysAndMessagesComeBackAsTheyWere) {
  play();
  ForkOptions fork;
  fork.from = ThreadId("bought");
  fork.seq = 1;
  ForkPreview preview = wait(service_->preview(local_program, fork)).value();
  EXPECT_FALSE(preview.effects.empty());
  EXPECT_FALSE(preview.messages.empty());
  EXPECT_FALSE(preview.approvals.empty());
  auto write = [](const ForkPreview& each) { return preview_document(each, nullptr); };
  expect_same<ForkPreview>(preview, write, preview_from);

  ReplayReport report =
      wait(service_->replay(local_program, ThreadId("bought"), std::nullopt)).value();
  expect_same<ReplayReport>(report, replay_document, replay_from);
  report.divergence = Divergence{3, "buy", "channel log", "[]", "[\"x\"]"};
  expect_same<ReplayReport>(report, replay_document, replay_from);

  MessagePage page;
  page.limit = 3;
  Messages messages = wait(service_->messages(local_program, page)).value();
  EXPECT_EQ(messages.rows.size(), 3u);
  EXPECT_GT(messages.more, 0u);
  expect_same<Messages>(messages, messages_document, messages_from);
  OutboxRow back = message_from(message_document(messages.rows.front())).value();
  EXPECT_EQ(message_id(back), message_id(messages.rows.front()));
  back.error = "Nobody is there.";
  back.status = OutboxStatus::given_up;
  expect_same<OutboxRow>(back, message_document, message_from);
}

TEST_F(Documents, OfTheStoreComeBackAsTheyWere) {
  play();
  expect_same<StoreStatistics>(wait(service_->statistics(local_program)).value(),
                               statistics_document, statistics_from);
  expect_same<Compaction>(Compaction{20, 10}, compaction_document, compaction_from);
  RetentionPolicy policy;
  policy.dry_run = true;
  expect_same<Pruning>(wait(service_->prune(local_program, policy)).value(), pruning_document,
                       pruning_from);
  CheckReport report = wait(service_->check(local_program)).value();
  EXPECT_GT(report.runs, 0u);
  report.violations.push_back({"I2", "thread t", "It is odd."});
  expect_same<CheckReport>(report, check_document, check_from);
}

TEST_F(Documents, OfEventsComeBackAsTheyWere) {
  play();
  for (const std::string& name : threads()) {
    EventOptions options;
    options.thread = ThreadId(name);
    options.follow = false;
    auto reader = wait(service_->events(local_program, options)).value();
    std::size_t count = 0;
    for (auto some = wait(reader->next()).value(); !some.empty();
         some = wait(reader->next()).value()) {
      for (const StreamEvent& event : some) {
        auto back = event_from(parse_json(to_json(to_value(event))).value());
        ASSERT_TRUE(back.ok()) << back.error().message;
        EXPECT_EQ(*back, event);
        ++count;
      }
    }
    EXPECT_GT(count, 3u) << name;
  }
}

TEST(DocumentsThatDontFit, AreRefusedByTheNameOfTheMember) {
  Value run = Value::object({{"threadId", "t"}, {"runId", "no id"}});
  auto refused = run_view_from(run);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_EQ(refused.error().message, "A run needs an id in \"runId\".");
  EXPECT_THAT(run_view_from(Value("<html>")).error().message, HasSubstr("of kind string"));
  EXPECT_THAT(messages_from(Value::object({})).error().message, HasSubstr("\"messages\""));
  EXPECT_THAT(event_from(Value::object({{"id", "12"}})).error().message, HasSubstr("an event id"));
  Value::Object message{{"id", "a/1/2"}};
  EXPECT_THAT(message_from(Value(message)).error().message, HasSubstr("a message id"));
  for (std::string_view id :
       {"", "/", "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000/1",
        "00000000-0000-0000-0000-000000000000/1/", "00000000-0000-0000-0000-000000000000//1",
        "00000000-0000-0000-0000-000000000000/1/2x"}) {
    message["id"] = id;
    EXPECT_THAT(message_from(Value(message)).error().message, HasSubstr("a message id")) << id;
  }
}

TEST_F(Documents, WithAnyOneMemberOfAnotherKindAreRefusedOrRead) {
  play();
  RunView view = wait(service_->status(local_program, ThreadId("waits"), std::nullopt)).value();
  Value whole = run(view);
  int refused = 0;
  for (const auto& [name, member] : *whole.as_object()) {
    for (const Value& other : {Value(Value::Array{}), Value(-1), Value("?"), Value(true)}) {
      Value changed = whole;
      (*changed.as_object())[name] = other;
      auto read = run_view_from(changed);
      if (read.ok()) continue;
      EXPECT_EQ(read.error().code, ErrorCode::invalid);
      ++refused;
    }
  }
  EXPECT_GT(refused, 40);
}

TEST(Problems, AreTheErrorsThatTheyWere) {
  Value problem = Value::object({{"type", "about:blank"},
                                 {"status", 409},
                                 {"code", "conflict"},
                                 {"detail", "It has ended."}});
  EXPECT_EQ(error_from_problem(problem), error(ErrorCode::conflict, "It has ended."));
  problem.as_object()->insert_or_assign("code", "http");
  EXPECT_FALSE(error_from_problem(problem));
  EXPECT_FALSE(error_from_problem(Value()));
}

TEST(RecordDocuments, AreReadWithEveryMember) {
  const char* text = R"({"collection":"notes","userId":"ana","key":"2026-01-02","value":{"n":1},
      "runId":"0190a000-0000-7000-8000-000000000001","seq":7,
      "updatedAt":"2026-01-02T03:04:05.000000Z","version":8,"sortValue":"80"})";
  RecordRow row = record_from_document(parse_json(text).value()).value();
  EXPECT_EQ(row.collection, "notes");
  EXPECT_EQ(row.user, UserId("ana"));
  EXPECT_EQ(row.key, "2026-01-02");
  EXPECT_EQ(row.json, R"({"n":1})");
  EXPECT_EQ(row.run.text(), "0190a000-0000-7000-8000-000000000001");
  EXPECT_EQ(row.seq, 7u);
  EXPECT_EQ(to_text(row.updated_at), "2026-01-02T03:04:05.000000Z");
  EXPECT_EQ(row.version, 8u);
  EXPECT_EQ(row.sort_value, "80");
}

}  // namespace
}  // namespace belay
