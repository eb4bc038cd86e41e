// Records of collections: versions, ordered indexes, ends, and records of the whole tenant.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "belay/detail/sort_value.h"
#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

using detail::sort_value;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

RecordPut numbered(const std::string& key, std::int64_t number) {
  return record_put(key, "{}", {{"order:number", sort_value(number)}});
}

RecordQuery by_number(RecordRange range) {
  RecordQuery query{default_tenant(), "notes", UserId("ana"), "", "order:number"};
  query.range = std::move(range);
  return query;
}

std::vector<std::string> keys_of(const std::vector<StoredRecord>& rows) {
  std::vector<std::string> keys;
  for (const StoredRecord& row : rows) keys.push_back(row.key);
  return keys;
}

RecordQuery notes() { return {default_tenant(), "notes", UserId("ana")}; }

}  // namespace

TEST_P(StoreSuite, RecordsOfARangeComeInTheOrderOfTheirValues) {
  call_->commit(import_of({numbered("a", 7), numbered("b", -3), numbered("c", 7),
                           numbered("d", 1'000'000'000'000), numbered("e", 0)}));
  auto keys = [&](RecordRange range) {
    return keys_of(call_->records(by_number(std::move(range))));
  };
  EXPECT_THAT(keys({}), ElementsAre("b", "e", "a", "c", "d"));
  EXPECT_THAT(keys({.is_descending = true}), ElementsAre("d", "c", "a", "e", "b"));
  EXPECT_THAT(keys({.from = sort_value(0)}), ElementsAre("e", "a", "c", "d"));
  EXPECT_THAT(keys({.until = sort_value(7)}), ElementsAre("b", "e"));
  EXPECT_THAT(keys({.from = sort_value(0), .until = sort_value(8), .is_descending = true}),
              ElementsAre("c", "a", "e"));
  EXPECT_THAT(keys({.from = sort_value(8), .until = sort_value(3)}), IsEmpty());
  EXPECT_EQ(call_->records(by_number({})).at(0).sort_value, sort_value(-3));
}

TEST_P(StoreSuite, APageOfARangeContinuesBehindTheLast) {
  std::vector<RecordPut> puts;
  for (int i = 0; i < 9; ++i) puts.push_back(numbered(std::string(1, char('a' + i)), i / 3));
  call_->commit(import_of(puts));
  for (bool is_descending : {false, true}) {
    RecordQuery query = by_number({.is_descending = is_descending});
    query.limit = 2;
    std::string keys;
    for (auto page = call_->records(query); !page.empty(); page = call_->records(query)) {
      EXPECT_LE(page.size(), 2u);
      for (const StoredRecord& row : page) keys += row.key;
      query.range->after = page.back().sort_value;
      query.after = page.back().key;
    }
    EXPECT_EQ(keys, is_descending ? "ihgfedcba" : "abcdefghi");
  }
}

TEST_P(StoreSuite, AnOrderedIndexHasOnlyTheLatestValueOfARecord) {
  call_->commit(import_of({numbered("a", 1), numbered("b", 2)}));
  call_->commit(import_of({numbered("a", 3), record_put("b", "")}));
  auto rows = call_->records(by_number({}));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].key, "a");
  EXPECT_EQ(rows[0].sort_value, sort_value(3));
  call_->commit(import_of({record_put("a", "{}")}));
  EXPECT_THAT(call_->records(by_number({})), IsEmpty());
  EXPECT_EQ(call_->records(notes()).size(), 1u);
}

TEST_P(StoreSuite, ARangeSeesOneIndexOfOneUserAndCollection) {
  RecordPut other_index = record_put("b", "{}", {{"order:number2", sort_value(1)}});
  RecordPut other_user = numbered("c", 1);
  other_user.user = UserId("ben");
  RecordPut other_collection = numbered("d", 1);
  other_collection.collection = "routines";
  call_->commit(import_of({numbered("a", 1), other_index, other_user, other_collection}));
  EXPECT_THAT(keys_of(call_->records(by_number({}))), ElementsAre("a"));
}

TEST_P(StoreSuite, AVersionGrowsWithEachSaveAndADeletedKeyDoesNotBeginAgain) {
  auto version = [&] {
    auto rows = call_->records(notes());
    return rows.empty() ? 0 : rows.front().version;
  };
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    call_->commit(import_of({record_put("1", "{}")}));
    EXPECT_GT(version(), last);
    last = version();
  }
  call_->commit(import_of({record_put("1", "")}));
  clock_.advance(std::chrono::seconds(1));
  call_->commit(import_of({record_put("1", "{}")}));
  EXPECT_GT(version(), last);
}

TEST_P(StoreSuite, ASaveThatExpectsAnotherVersionWritesNothing) {
  RecordPut put = record_put("1", "{\"n\":1}");
  put.expected_version = 0;
  EXPECT_EQ(call_->commit(import_of({put})), CommitOutcome::applied);
  std::uint64_t version = call_->records(notes()).at(0).version;
  RecordPut other = record_put("2", "{}");
  put.envelope = json_envelope("{\"n\":2}");
  for (std::uint64_t wrong : {std::uint64_t{0}, version + 1, std::uint64_t{1}}) {
    put.expected_version = wrong;
    EXPECT_EQ(call_->commit(import_of({other, put})), CommitOutcome::record_changed) << wrong;
  }
  ASSERT_EQ(call_->records(notes()).size(), 1u) << "all or nothing";
  put.expected_version = version;
  EXPECT_EQ(call_->commit(import_of({other, put})), CommitOutcome::applied);
  StoredRecord row = call_->records(notes()).at(0);
  EXPECT_EQ(row.version, version + 1);
  EXPECT_EQ(row.envelope, json_envelope("{\"n\":2}"));
  RecordPut erased = record_put("1", "");
  erased.expected_version = version;
  EXPECT_EQ(call_->commit(import_of({erased})), CommitOutcome::record_changed);
  erased.expected_version = version + 1;
  EXPECT_EQ(call_->commit(import_of({erased})), CommitOutcome::applied);
  erased.expected_version = 0;
  EXPECT_EQ(call_->commit(import_of({erased})), CommitOutcome::applied) << "there is none";
  EXPECT_EQ(call_->records(notes()).size(), 1u);
}

TEST_P(StoreSuite, APendingWriteSavesRecordsWhileItsRunHasNotMoved) {
  RunScript script("a");
  call_->commit(script.first());
  Commit pending = script.pending({});
  pending.rows.records = {record_put("1", "{\"n\":1}")};
  EXPECT_EQ(call_->commit(pending), CommitOutcome::applied);
  StoredRecord row = call_->records(notes()).at(0);
  EXPECT_TRUE(row.run.is_null()) << "no commit of the run has saved it";
  EXPECT_EQ(row.seq, 0u);
  EXPECT_EQ(call_->commit(pending), CommitOutcome::applied) << "sent again";
  EXPECT_EQ(call_->records(notes()).size(), 1u);
  Commit late = script.pending({});
  late.rows.records = {record_put("2", "{}")};
  call_->commit(script.next());
  EXPECT_EQ(call_->commit(late), CommitOutcome::fenced);
  EXPECT_EQ(call_->records(notes()).size(), 1u);
}

TEST_P(StoreSuite, ACommitOfARunWhoseRecordHasChangedWritesNothing) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(import_of({record_put("1", "{}")}));
  RunScript before = script;
  Commit commit = script.next();
  commit.rows.records = {record_put("1", "{\"n\":2}")};
  commit.rows.records[0].expected_version = 0;
  EXPECT_EQ(call_->commit(commit), CommitOutcome::record_changed);
  RunFilter filter;
  filter.tenant = default_tenant();
  filter.run = script.row.run;
  EXPECT_EQ(call_->runs(filter).at(0).seq, 1u);
  // A fenced commit is fenced, whatever its records.
  Commit fenced = commit;
  fenced.run_guard->epoch -= 1;
  EXPECT_EQ(call_->commit(fenced), CommitOutcome::fenced);
  commit.rows.records[0].expected_version = call_->records(notes()).at(0).version;
  EXPECT_EQ(call_->commit(commit), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(commit), CommitOutcome::applied)
      << "sent again, after its reply was lost";
  EXPECT_EQ(call_->records(notes()).at(0).seq, 2u);
}

TEST_P(StoreSuite, OfManyThatExpectTheSameVersionOneSaves) {
  for (std::uint64_t expected : {std::uint64_t{0}, std::uint64_t{1}}) {
    if (expected == 1) expected = call_->records(notes()).at(0).version;
    std::vector<std::thread> threads;
    std::atomic<int> applied = 0;
    std::atomic<int> changed = 0;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        Caller caller(*store_);
        RecordPut put = record_put("1", "{\"n\":" + std::to_string(i) + "}");
        put.expected_version = expected;
        auto outcome = caller.try_commit(import_of({put}));
        if (!outcome.ok()) return;
        applied += *outcome == CommitOutcome::applied;
        changed += *outcome == CommitOutcome::record_changed;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(applied, 1);
    EXPECT_EQ(changed, 7);
  }
}

TEST_P(StoreSuite, AnExpiredRecordIsNotReadAndIsFoundForItsDeletion) {
  RecordPut brief = numbered("brief", 1);
  brief.expires_at = clock_.now() + std::chrono::hours(1);
  call_->commit(import_of({brief, numbered("lasting", 2)}));
  for (bool by_order : {false, true}) {
    RecordQuery query = by_order ? by_number({}) : notes();
    query.now = brief.expires_at - std::chrono::seconds(1);
    EXPECT_EQ(call_->records(query).size(), 2u);
    query.now = brief.expires_at;
    EXPECT_THAT(keys_of(call_->records(query)), ElementsAre("lasting"));
    query.now = Instant();
    EXPECT_EQ(call_->records(query).size(), 2u) << "all that are stored";
  }
  RecordQuery expired;
  expired.tenant = default_tenant();
  expired.only_expired = true;
  expired.now = brief.expires_at;
  auto found = call_->records(expired);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].collection, "notes");
  EXPECT_EQ(found[0].user, UserId("ana"));
  EXPECT_EQ(found[0].expires_at, brief.expires_at);
  // Saved again without an end, it lasts.
  call_->commit(import_of({numbered("brief", 1)}));
  EXPECT_THAT(call_->records(expired), IsEmpty());
}

TEST_P(StoreSuite, ARecordOfTheTenantBelongsToNoUser) {
  RecordPut put = record_put("1", "{}", {{"date", "2025-11-22"}});
  put.user = UserId();
  call_->commit(import_of({put}));
  EXPECT_THAT(call_->records(notes()), IsEmpty());
  RecordQuery query{default_tenant(), "notes", UserId(), "", "date", "2025-11-22"};
  EXPECT_EQ(call_->records(query).size(), 1u);
}

TEST_P(StoreSuite, TheRecordsOfEveryUserComeByUserAndKey) {
  std::vector<RecordPut> puts;
  for (const char* user : {"ben", "", "ana"}) {
    for (const char* key : {"2", "1"}) {
      puts.push_back(record_put(key, "{}"));
      puts.back().user = UserId(user);
    }
  }
  puts.push_back(puts.front());
  puts.back().collection = "routines";
  call_->commit(import_of(puts));
  RecordQuery query;
  query.tenant = default_tenant();
  query.collection = "notes";
  query.of_every_user = true;
  query.limit = 2;
  std::string found;
  for (auto page = call_->records(query); !page.empty(); page = call_->records(query)) {
    for (const StoredRecord& row : page) found += row.user.text + row.key + " ";
    query.user = page.back().user;
    query.after = page.back().key;
  }
  EXPECT_EQ(found, "1 2 ana1 ana2 ben1 ben2 ");
}

TEST_P(StoreSuite, AnOrderedValueThatIsTooLongIsRefused) {
  RecordPut put = record_put("1", "{}");
  put.indexed = {{"order:text", std::string(limits::sort_value_bytes_max + 1, 'a')}};
  EXPECT_EQ(call_->try_commit(import_of({put})).error().code, ErrorCode::invalid);
  put.indexed = {{"order:text", std::string(limits::sort_value_bytes_max, 'a')}};
  EXPECT_EQ(call_->commit(import_of({put})), CommitOutcome::applied);
}

}  // namespace belay::conformance
