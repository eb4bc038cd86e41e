// Reads: filters, limits and orders; records; sessions.

#include <gmock/gmock.h>

#include "belay/limits.h"
#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <typename Rows, typename Member>
auto column(const Rows& rows, Member member) {
  std::vector<std::decay_t<decltype(rows[0].*member)>> values;
  for (const auto& row : rows) values.push_back(row.*member);
  return values;
}

TEST_P(StoreSuite, ItsVersionIsAnotherOnceSomethingWasCommitted) {
  auto begun = store_->change_token();
  ASSERT_EQ(begun.has_value(), !GetParam().is_remote);
  if (!begun) return;
  call_->all();
  EXPECT_EQ(store_->change_token(), begun) << "reading changes nothing";
  RunScript run("t");
  call_->commit(run.first());
  auto first = store_->change_token();
  EXPECT_NE(first, begun);
  EXPECT_EQ(store_->change_token(), first);
  call_->commit(run.next());
  EXPECT_NE(store_->change_token(), first);
}

TEST_P(StoreSuite, ThreadsAndRunsComeNewestFirstWithinTheirLimit) {
  std::vector<RunScript> scripts;
  for (int i = 0; i < 5; ++i) {
    scripts.emplace_back(std::to_string(i));
    call_->commit(scripts.back().first());
  }
  auto thread = [&](int i) { return scripts[static_cast<std::size_t>(i)].row.thread; };
  auto run = [&](int i) { return scripts[static_cast<std::size_t>(i)].row.run; };
  EXPECT_THAT(column(call_->threads(ThreadFilter{.tenant = default_tenant(), .limit = 2}),
                     &ThreadRow::thread),
              ElementsAre(thread(4), thread(3)));
  EXPECT_THAT(column(call_->runs(RunFilter{.tenant = default_tenant(), .limit = 3}), &RunRow::run),
              ElementsAre(run(4), run(3), run(2)));
  EXPECT_THAT(call_->runs(RunFilter{.tenant = default_tenant(), .limit = 0}), IsEmpty());
  EXPECT_THAT(column(call_->runs(RunFilter{default_tenant(), {}, thread(1), {}}), &RunRow::run),
              ElementsAre(run(1)));
  EXPECT_THAT(call_->runs(RunFilter{default_tenant(), run(2), thread(1), {}}), IsEmpty());
  EXPECT_THAT(call_->threads(ThreadFilter{default_tenant(), ThreadId("none")}), IsEmpty());
}

// Every third thread belongs to ben: pages of his threads are full despite the other threads in
// between.
TEST_P(StoreSuite, AUsersThreadsRunsApprovalsAndMessagesComeInPagesOfTheirOwn) {
  std::vector<RunScript> scripts;
  for (int i = 0; i < 12; ++i) {
    RunScript& script = scripts.emplace_back(std::to_string(i));
    script.row.user = UserId(i % 3 == 0 ? "ben" : "ana");
    Commit first = script.first();
    first.rows.outbox = {script.message(0)};
    call_->commit(std::move(first));
    if (i % 2 == 0) call_->commit(script.ask(clock_.now() + std::chrono::hours(1)));
  }
  auto run = [&](int i) { return scripts[static_cast<std::size_t>(i)].row; };
  const UserId ben("ben");
  ThreadFilter threads{.tenant = default_tenant(), .limit = 3, .user = ben};
  EXPECT_THAT(column(call_->threads(threads), &ThreadRow::thread),
              ElementsAre(run(9).thread, run(6).thread, run(3).thread));
  threads.before = run(3).thread;
  EXPECT_THAT(column(call_->threads(threads), &ThreadRow::thread), ElementsAre(run(0).thread));
  threads.before.reset();
  threads.thread = run(1).thread;
  EXPECT_THAT(call_->threads(threads), IsEmpty()) << "another's";

  RunFilter runs{.tenant = default_tenant(), .limit = 3, .user = ben};
  EXPECT_THAT(column(call_->runs(runs), &RunRow::run),
              ElementsAre(run(9).run, run(6).run, run(3).run));
  runs.before = run(3).run;
  EXPECT_THAT(column(call_->runs(runs), &RunRow::run), ElementsAre(run(0).run));
  runs.before = run(4).run;  // the previous page might have ended with a run of another user
  EXPECT_THAT(column(call_->runs(runs), &RunRow::run), ElementsAre(run(3).run, run(0).run));
  runs.before.reset();
  runs.statuses = {RunStatus::paused};
  EXPECT_THAT(column(call_->runs(runs), &RunRow::run), ElementsAre(run(6).run, run(0).run));
  runs.statuses = {RunStatus::paused, RunStatus::completed};
  EXPECT_THAT(column(call_->runs(runs), &RunRow::run), ElementsAre(run(6).run, run(0).run));
  runs.statuses = {};
  runs.run = run(1).run;
  EXPECT_THAT(call_->runs(runs), IsEmpty()) << "another's";

  for (bool only_open : {true, false}) {
    ApprovalFilter approvals{.tenant = default_tenant(), .only_open = only_open, .user = ben};
    EXPECT_THAT(column(call_->approvals(approvals), &ApprovalRow::run),
                ElementsAre(run(6).run, run(0).run));
    approvals.limit = 1;
    EXPECT_THAT(column(call_->approvals(approvals), &ApprovalRow::run), ElementsAre(run(6).run));
    approvals.run = run(2).run;
    EXPECT_THAT(call_->approvals(approvals), IsEmpty()) << "another's";
  }
  OutboxFilter outbox{.tenant = default_tenant(), .limit = 3, .user = ben};
  EXPECT_THAT(column(call_->outbox(outbox), &OutboxRow::run),
              ElementsAre(run(0).run, run(3).run, run(6).run));
  outbox.run = run(1).run;
  EXPECT_THAT(call_->outbox(outbox), IsEmpty()) << "another's";
  EXPECT_THAT(call_->threads({.tenant = default_tenant(), .user = UserId("cara")}), IsEmpty());
}

TEST_P(StoreSuite, RunsAreFoundByTheirStatus) {
  std::vector<RunScript> scripts;
  for (int i = 0; i < 4; ++i) {
    scripts.emplace_back(std::to_string(i));
    call_->commit(scripts.back().first());
  }
  call_->commit(scripts[1].next());
  call_->commit(scripts[2].ask(clock_.now()));
  call_->commit(scripts[2].expire());
  auto found = [&](std::vector<RunStatus> statuses) {
    return column(call_->runs(RunFilter{default_tenant(), {}, {}, std::move(statuses)}),
                  &RunRow::run);
  };
  auto run = [&](int i) { return scripts[static_cast<std::size_t>(i)].row.run; };
  EXPECT_THAT(found({RunStatus::queued}), ElementsAre(run(3), run(0)));
  EXPECT_THAT(found({RunStatus::running}), ElementsAre(run(1)));
  EXPECT_THAT(found({RunStatus::completed}), ElementsAre(run(2)));
  EXPECT_THAT(found({RunStatus::completed, RunStatus::running}), ElementsAre(run(2), run(1)));
  EXPECT_THAT(found({RunStatus::running, RunStatus::queued}), ElementsAre(run(3), run(1), run(0)));
  EXPECT_THAT(found({RunStatus::quarantined}), IsEmpty());
}

TEST_P(StoreSuite, CheckpointsComeNewestFirstAndByPage) {
  RunScript script("a");
  call_->commit(script.first());
  for (int i = 0; i < 5; ++i) call_->commit(script.next());
  auto seqs = [&](std::optional<std::uint64_t> seq, std::optional<std::uint64_t> before,
                  std::size_t limit) {
    CheckpointFilter filter{default_tenant(), script.row.run, {}, seq, before, limit};
    return column(call_->checkpoints(filter), &CheckpointRow::seq);
  };
  EXPECT_THAT(seqs({}, {}, 100), ElementsAre(6u, 5u, 4u, 3u, 2u, 1u));
  EXPECT_THAT(seqs({}, {}, 2), ElementsAre(6u, 5u));
  EXPECT_THAT(seqs({}, 5, 2), ElementsAre(4u, 3u));
  EXPECT_THAT(seqs({}, UINT64_MAX, 1), ElementsAre(6u));
  EXPECT_THAT(seqs({}, 1, 2), IsEmpty());
  EXPECT_THAT(seqs({}, 0, 2), IsEmpty());
  EXPECT_THAT(seqs(3, {}, 100), ElementsAre(3u));
  EXPECT_THAT(seqs(7, {}, 100), IsEmpty());
  EXPECT_THAT(seqs(0, {}, 100), IsEmpty());
  EXPECT_THAT(seqs(4, 4, 100), IsEmpty());
}

TEST_P(StoreSuite, ValuesAreReadAsOfAnyCommit) {
  RunScript script("a");
  call_->commit(script.first());
  Commit both = script.next();
  ValueRow risk = both.rows.values[0];
  risk.channel = "risk";
  risk.envelope = json_envelope("7");
  both.rows.values.push_back(risk);
  ValueRow inner = risk;
  inner.checkpoint_ns = "inner";
  inner.envelope = json_envelope("8");
  both.rows.values.push_back(inner);
  call_->commit(std::move(both));
  call_->commit(script.next());
  call_->commit(script.next());

  auto seen = [&](std::uint64_t seq, bool every_version) {
    std::vector<std::string> texts;
    ValueFilter filter{default_tenant(), script.row.run, {}, seq, every_version};
    for (const ValueRow& row : call_->values(filter)) {
      texts.push_back(row.checkpoint_ns + row.channel + std::to_string(row.seq));
    }
    return texts;
  };
  EXPECT_THAT(seen(1, false), IsEmpty());
  EXPECT_THAT(seen(2, false), ElementsAre("risk2", "text2", "innerrisk2"));
  EXPECT_THAT(seen(3, false), ElementsAre("risk2", "text3", "innerrisk2"));
  EXPECT_THAT(seen(UINT64_MAX, false), ElementsAre("risk2", "text4", "innerrisk2"));
  EXPECT_THAT(seen(3, true), ElementsAre("risk2", "text2", "innerrisk2", "text3"));
  EXPECT_THAT(seen(4, true), ElementsAre("risk2", "text2", "innerrisk2", "text3", "text4"));
}

TEST_P(StoreSuite, EventsAreReadInPages) {
  RunScript script("a");
  call_->commit(script.first());
  for (int i = 0; i < 3; ++i) {
    Commit commit = script.next();
    EventRow second = commit.rows.events[0];
    second.index = 1;
    second.body = "{}";
    commit.rows.events.push_back(second);
    call_->commit(std::move(commit));
  }
  std::vector<std::pair<std::uint64_t, std::int64_t>> ids;
  EventFilter filter{default_tenant(), script.row.run, 0, -1, 2};
  for (auto page = call_->events(filter); !page.empty(); page = call_->events(filter)) {
    EXPECT_LE(page.size(), 2u);
    for (const EventRow& event : page) ids.emplace_back(event.seq, event.index);
    filter.after_seq = page.back().seq;
    filter.after_index = page.back().index;
  }
  using Pair = std::pair<std::uint64_t, std::int64_t>;
  EXPECT_THAT(ids, ElementsAre(Pair(1, 0), Pair(2, 0), Pair(2, 1), Pair(3, 0), Pair(3, 1),
                               Pair(4, 0), Pair(4, 1)));
}

TEST_P(StoreSuite, ARecordIsSavedReplacedAndErased) {
  call_->commit(import_of({record_put("1", "{\"a\":1}"), record_put("2", "{\"a\":2}")}));
  RecordQuery query{default_tenant(), "notes", UserId("ana"), "1", "", "", ""};
  ASSERT_EQ(call_->records(query).size(), 1u);
  EXPECT_EQ(call_->records(query)[0].envelope, json_envelope("{\"a\":1}"));
  EXPECT_TRUE(call_->records(query)[0].run.is_null());
  EXPECT_EQ(call_->records(query)[0].updated_at, clock_.now());

  RunScript script("a");
  Commit commit = script.first();
  commit.rows.records = {record_put("1", "{\"a\":3}"), record_put("2", "")};
  call_->commit(std::move(commit));
  StoredRecord replaced = call_->records(query).at(0);
  EXPECT_EQ(replaced.envelope, json_envelope("{\"a\":3}"));
  EXPECT_EQ(replaced.run, script.row.run);
  EXPECT_EQ(replaced.seq, 1u);
  EXPECT_EQ(replaced.updated_at, script.row.updated_at);
  query.key = "2";
  EXPECT_THAT(call_->records(query), IsEmpty());
  EXPECT_EQ(call_->commit(import_of({record_put("never was", "")})), CommitOutcome::applied);
}

TEST_P(StoreSuite, RecordsAreFoundByAnIndexedFieldAsItIsNow) {
  call_->commit(import_of({record_put("1", "{}", {{"date", "2025-11-21"}, {"mood", "5"}}),
                           record_put("2", "{}", {{"date", "2025-11-22"}}),
                           record_put("3", "{}", {{"date", "2025-11-22"}, {"date", "a'b\"c"}})}));
  auto keys = [&](const std::string& field, const std::string& value) {
    RecordQuery query{default_tenant(), "notes", UserId("ana"), "", field, value, ""};
    return column(call_->records(query), &StoredRecord::key);
  };
  EXPECT_THAT(keys("date", "2025-11-22"), ElementsAre("2", "3"));
  EXPECT_THAT(keys("date", "a'b\"c"), ElementsAre("3"));
  EXPECT_THAT(keys("mood", "5"), ElementsAre("1"));
  EXPECT_THAT(keys("mood", "2025-11-22"), IsEmpty());

  call_->commit(import_of({record_put("2", "{}", {{"date", "2025-11-21"}}), record_put("3", "")}));
  EXPECT_THAT(keys("date", "2025-11-22"), IsEmpty());
  EXPECT_THAT(keys("date", "2025-11-21"), ElementsAre("1", "2"));
  EXPECT_THAT(keys("date", "a'b\"c"), IsEmpty());
}

TEST_P(StoreSuite, RecordsComeByKeyInPagesAndOnlyTheirUsers) {
  std::vector<RecordPut> puts;
  for (const char* key : {"b", "ä", "a", "B", "aa"}) {
    puts.push_back(record_put(key, "{}", {{"date", "2025-11-22"}}));
  }
  puts.push_back(puts[0]);
  puts.back().user = UserId("ben");
  puts.push_back(puts[0]);
  puts.back().collection = "routines";
  call_->commit(import_of(puts));
  for (const char* field : {"", "date"}) {
    RecordQuery query{default_tenant(), "notes", UserId("ana"), "", field, "2025-11-22", "", 2};
    std::vector<std::string> keys;
    for (auto page = call_->records(query); !page.empty(); page = call_->records(query)) {
      for (const StoredRecord& record : page) keys.push_back(record.key);
      query.after = page.back().key;
    }
    EXPECT_THAT(keys, ElementsAre("B", "a", "aa", "b", "ä")) << field;
  }
}

TEST_P(StoreSuite, OfARecordThatACommitPutsSeveralTimesTheLastCounts) {
  auto put = [](const std::string& key, const std::string& json, const std::string& date) {
    std::vector<std::pair<std::string, std::string>> indexed;
    if (!json.empty()) indexed.emplace_back("date", date);
    return record_put(key, json, std::move(indexed));
  };
  RunScript script("a");
  call_->commit(script.first());
  Commit commit = script.next();
  commit.rows.records = {put("1", "{\"n\":1}", "2025-11-21"),
                         put("2", "{\"n\":2}", "2025-11-21"),
                         put("3", "", ""),
                         put("1", "{\"n\":3}", "2025-11-22"),
                         put("2", "", ""),
                         put("3", "{\"n\":4}", "2025-11-21"),
                         put("1", "{\"n\":5}", "2025-11-23")};
  EXPECT_EQ(call_->commit(std::move(commit)), CommitOutcome::applied);
  RecordQuery query{default_tenant(), "notes", UserId("ana"), "", "", "", ""};
  auto records = call_->records(query);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_THAT(records[0].envelope, HasSubstr("{\"n\":5}"));
  EXPECT_THAT(records[1].envelope, HasSubstr("{\"n\":4}"));
  std::vector<std::size_t> found;
  for (const char* date : {"2025-11-21", "2025-11-22", "2025-11-23"}) {
    query.field = "date";
    query.value = date;
    found.push_back(call_->records(query).size());
  }
  EXPECT_THAT(found, ElementsAre(1u, 0u, 1u)) << "nothing is found by what it was before";
}

// Every store gives the same error, even one that could store the name.
TEST_P(StoreSuite, ARecordThatNamesWhatCantBeANameIsRefused) {
  RecordPut good = record_put("1", "{}");
  for (const std::string& bad :
       {std::string(), std::string(limits::identifier_bytes_max + 1, 'x'), std::string("a\nb"),
        std::string("\xff"), std::string("a\0b", 3), std::string("a\xC2\x85") + "b"}) {
    for (std::string RecordPut::* name : {&RecordPut::collection, &RecordPut::key}) {
      RecordPut put = good;
      put.*name = bad;
      EXPECT_EQ(call_->try_commit(import_of({put})).error().code, ErrorCode::invalid);
    }
    if (bad.empty()) continue;  // such a record belongs to the tenant
    RecordPut put = good;
    put.user = UserId(bad);
    auto refused = call_->try_commit(import_of({good, put}));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    put.envelope.clear();
    EXPECT_FALSE(call_->try_commit(import_of({put})).ok()) << "to erase it, either";
  }
  RecordQuery query{default_tenant(), "notes", good.user, "", "", "", ""};
  EXPECT_THAT(call_->records(query), IsEmpty()) << "all or nothing";
  good.user = UserId(std::string(limits::identifier_bytes_max, 'x'));
  EXPECT_EQ(call_->commit(import_of({good})), CommitOutcome::applied) << "as long as may be";
}

TEST_P(StoreSuite, AnIndexedTextThatIsNoTextIsRefused) {
  for (const std::string& text : {std::string("\xff"), std::string("a\0b", 3)}) {
    auto outcome = call_->try_commit(import_of({record_put("1", "{}", {{"date", text}})}));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, ErrorCode::invalid);
  }
}

TEST_P(StoreSuite, AReadersErrorIsTheAnswer) {
  auto failing = [](Snapshot&) -> Result<Done> {
    return error(ErrorCode::not_found, "What the reader says.");
  };
  auto answer = block_on<Result<Done>>(call_->loop(), store_->read(failing));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error(), error(ErrorCode::not_found, "What the reader says."));
}

TEST_P(StoreSuite, ASessionLivesFromItsOpeningToItsClosing) {
  SessionId first = *store_->open_session();
  SessionId second = *store_->open_session();
  EXPECT_NE(first, second);
  EXPECT_TRUE(*store_->is_alive(first));
  EXPECT_TRUE(*store_->is_alive(second));
  EXPECT_FALSE(*store_->is_alive(SessionId()));
  EXPECT_FALSE(*store_->is_alive(SessionId(derived_uuid("never opened"))));
  store_->close_session(first);
  store_->close_session(first);
  EXPECT_FALSE(*store_->is_alive(first));
  EXPECT_TRUE(*store_->is_alive(second));
}

TEST_P(StoreSuite, ACommitNamesItsSession) {
  RunScript script("a");
  script.row.session = *store_->open_session();
  call_->commit(script.first());
  EXPECT_EQ(call_->run(script.row.run).session, script.row.session);
  script.row.session = SessionId(derived_uuid("of another store"));
  call_->commit(script.next());
  EXPECT_EQ(call_->run(script.row.run).session, script.row.session);
  script.row.session = SessionId();
  call_->commit(script.next());
  EXPECT_TRUE(call_->run(script.row.run).session.is_null());
  auto sessions = column(call_->checkpoints(CheckpointFilter{default_tenant(), script.row.run}),
                         &CheckpointRow::session);
  EXPECT_EQ(sessions[1], SessionId(derived_uuid("of another store")));
}

}  // namespace
}  // namespace belay::conformance
