// Tests collections as agents use them: typed records with versions, ordered indexes and ends.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/collection.h"
#include "belay/storage.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Appointment {
  static constexpr std::string_view collection = "appointments";
  static constexpr bool is_of_tenant = true;
  std::string id;
  std::string room;
  Instant at{};
  int seats = 0;
  Instant ends{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple{&Appointment::room}; }
  static auto ordered() {
    return std::tuple{ordered_index("when", &Appointment::at),
                      ordered_index("place", &Appointment::room, &Appointment::at)};
  }
  Instant expires_at() const { return ends; }
};

struct Booking {
  int booked = 0;
};

struct Collections : CrashingStoreFixture {
  Instant monday = *instant_from("2026-11-23T08:00:00Z");
  std::unique_ptr<Runtime> runtime = process(books());
  std::function<void()> meanwhile;  // called by the node between its read and its save

  // A node that takes a seat of appointment "a".
  Graph<Booking> books() {
    GraphBuilder<Booking> builder{"book"};
    builder.node("book", [this](const Booking&, Context& context) -> Task<Update<Booking>> {
      auto found = co_await context.records().get_versioned<Appointment>("a");
      Versioned<Appointment> seen = found.value().value();
      if (meanwhile) meanwhile();
      --seen.record.seats;
      context.save(seen.record, seen.version);
      co_return add(&Booking::booked, 1);
    });
    builder.edge(start, "book").edge("book", end);
    return std::move(builder).build().value();
  }
  Appointment appointment(std::string id, std::string room, int hour) const {
    Appointment made;
    made.id = std::move(id);
    made.room = std::move(room);
    made.at = monday + std::chrono::hours(hour);
    made.seats = 2;
    return made;
  }
  Result<Done> save(const Appointment& record, std::optional<std::uint64_t> version = {}) {
    RecordWrite write = record_write(record, UserId("ana")).value();
    write.expected_version = version;
    std::vector<RecordWrite> writes{std::move(write)};
    return block_on(loop, runtime->save(default_tenant(), std::move(writes)));
  }
  RecordPage<Appointment> page(RecordSpan span, const std::string& user = "ana") {
    auto records = runtime->records(default_tenant(), UserId(user));
    return block_on(loop, read_page<Appointment>(*records, std::move(span))).value();
  }
  static std::string ids(const RecordPage<Appointment>& page) {
    std::string ids;
    for (const Versioned<Appointment>& each : page.records) ids += each.record.id;
    return ids;
  }
  int seats() { return page(RecordSpan("when")).records.at(0).record.seats; }
  // Saves the record as another process does.
  void take_seats_of_another(int seats) {
    Appointment other = appointment("a", "small", 1);
    other.seats = seats;
    RecordWrite write = record_write(other, UserId("ben")).value();
    Commit commit;
    commit.tenant = default_tenant();
    RecordPut put;
    put.collection = write.collection;
    put.key = write.key;
    put.envelope = json_envelope(write.json);
    put.indexed = write.indexed;
    commit.rows.records.push_back(std::move(put));
    // Not through the loop, which is in the node's call now.
    auto task = store.commit(std::move(commit));
    std::optional<Result<CommitOutcome>> done;
    Spawned spawned = spawn<Result<CommitOutcome>>(
        loop, std::move(task), [&](Result<CommitOutcome> outcome) { done = std::move(outcome); });
    ASSERT_TRUE(done && done->ok());
  }
  Result<RunView> book(Durability durability = Durability::sync) {
    StartOptions options;
    options.run.durability = durability;
    return block_on(loop, runtime->start("book", std::make_shared<Booking>(), options));
  }
};

TEST_F(Collections, AreReadByRangesOfTheirIndexesInPages) {
  save(appointment("c", "small", 3)).value();
  save(appointment("a", "small", 1)).value();
  save(appointment("d", "large", 4)).value();
  save(appointment("b", "large", 2)).value();
  EXPECT_EQ(ids(page(RecordSpan("when"))), "abcd");
  EXPECT_EQ(ids(page(RecordSpan("when").last_first())), "dcba");
  EXPECT_EQ(ids(page(RecordSpan("when").from(monday + 2h).until(monday + 4h))), "bc");
  EXPECT_EQ(ids(page(RecordSpan("place").equal_to("small"))), "ac");
  EXPECT_EQ(ids(page(RecordSpan("place").from("large", monday + 3h))), "dac");
  EXPECT_EQ(ids(page(RecordSpan("place").begins_with("la"))), "bd");
  EXPECT_EQ(ids(page(RecordSpan("place").begins_with("lax"))), "");
  auto first = page(RecordSpan("when").limit(3));
  EXPECT_EQ(ids(first), "abc");
  EXPECT_EQ(ids(page(RecordSpan("when").limit(3).after(first.next))), "d");
  EXPECT_EQ(page(RecordSpan("when").limit(3).after(first.next)).next, "");
}

TEST_F(Collections, OfTheTenantAreTheSameForEachUser) {
  save(appointment("a", "small", 1)).value();
  EXPECT_EQ(ids(page(RecordSpan("when"), "ben")), "a");
}

TEST_F(Collections, ASaveExpectsTheVersionThatWasRead) {
  save(appointment("a", "small", 1), 0).value();
  EXPECT_EQ(save(appointment("a", "large", 1), 0).error().code, ErrorCode::conflict);
  auto seen = page(RecordSpan("when")).records.at(0);
  save(appointment("a", "large", 1), seen.version).value();
  EXPECT_EQ(save(appointment("a", "small", 1), seen.version).error().code, ErrorCode::conflict);
  EXPECT_EQ(page(RecordSpan("when")).records.at(0).record.room, "large");
}

TEST_F(Collections, ANodeTakesASeatExactlyOnce) {
  save(appointment("a", "small", 1)).value();
  EXPECT_EQ(book().value().row.status, RunStatus::completed);
  EXPECT_EQ(seats(), 1);
}

TEST_F(Collections, ANodeWhoseRecordHasChangedIsExecutedAgainWithTheChangedOne) {
  for (Durability durability : {Durability::sync, Durability::async, Durability::exit}) {
    save(appointment("a", "small", 1)).value();
    int executions = 0;
    meanwhile = [&] {
      if (++executions <= limits::record_conflicts_max) take_seats_of_another(7);
    };
    auto view = book(durability);
    ASSERT_TRUE(view.ok()) << view.error().message;
    EXPECT_EQ(view->row.status, RunStatus::completed) << view->row.error;
    EXPECT_EQ(executions, limits::record_conflicts_max + 1);
    EXPECT_EQ(seats(), 6) << "one seat of those that were left";
    EXPECT_EQ(view->state["booked"], Value(1)) << "one update";
  }
}

TEST_F(Collections, ANodeWhoseRecordChangesEachTimeFailsTheRunAndSavesNothing) {
  for (Durability durability : {Durability::sync, Durability::async, Durability::exit}) {
    save(appointment("a", "small", 1)).value();
    int executions = 0;
    meanwhile = [&] {
      ++executions;
      take_seats_of_another(7);
    };
    auto view = book(durability);
    ASSERT_TRUE(view.ok()) << view.error().message;
    EXPECT_EQ(view->row.status, RunStatus::failed);
    EXPECT_EQ(view->row.error_code, "conflict");
    EXPECT_THAT(view->row.error, HasSubstr("record"));
    EXPECT_EQ(executions, limits::record_conflicts_max + 1);
    EXPECT_EQ(seats(), 7) << "the node's own save is not written";
    EXPECT_EQ(view->state["booked"], Value(0)) << "nor is its update";
  }
}

TEST_F(Collections, AnExpiredRecordIsNotReadAndRetentionDeletesIt) {
  Appointment brief = appointment("a", "small", 1);
  brief.ends = clock.now() + 1h;
  save(brief).value();
  save(appointment("b", "small", 2)).value();
  EXPECT_EQ(ids(page(RecordSpan("when"))), "ab");
  loop.run_until(brief.ends);
  EXPECT_EQ(ids(page(RecordSpan("when"))), "b");
  RetentionPolicy policy;
  policy.dry_run = true;
  auto counted = block_on(loop, apply_retention(store, default_tenant(), policy, clock.now()));
  EXPECT_EQ(counted.value().records, 1u);
  policy.dry_run = false;
  auto report = block_on(loop, apply_retention(store, default_tenant(), policy, clock.now()));
  EXPECT_EQ(report.value().records, 1u);
  report = block_on(loop, apply_retention(store, default_tenant(), policy, clock.now()));
  EXPECT_EQ(report.value().records, 0u);
}

// The same collection before its indexes were declared.
struct OldAppointment {
  static constexpr std::string_view collection = "appointments";
  static constexpr bool is_of_tenant = true;
  std::string id;
  std::string room;
  Instant at{};
  int seats = 0;
  Instant ends{};
  std::string key() const { return id; }
  static auto indexed() { return std::tuple{&OldAppointment::room}; }
};

TEST_F(Collections, WithOtherIndexesThanTheStoredOnesAreRefusedUntilTheyAreIndexedAgain) {
  auto open = [&](CollectionType type) {
    return block_on(loop, open_collection(store, default_tenant(), std::move(type)));
  };
  EXPECT_TRUE(open(collection_type<OldAppointment>()).ok()) << "its first use";
  for (int i = 0; i < 250; ++i) {
    OldAppointment old{std::to_string(1000 + i), "small", monday + std::chrono::hours(i)};
    std::vector<RecordWrite> writes{record_write(old, UserId("ana")).value()};
    block_on(loop, runtime->save(default_tenant(), std::move(writes))).value();
  }
  EXPECT_TRUE(open(collection_type<OldAppointment>()).ok());
  auto refused = open(collection_type<Appointment>());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("\"room\""));
  EXPECT_THAT(refused.error().message, HasSubstr("order:place order:when room"));
  EXPECT_THAT(refused.error().message, HasSubstr("reindex_collection()"));
  EXPECT_EQ(page(RecordSpan("when")).records.size(), 0u);
  auto count =
      block_on(loop, reindex_collection(store, default_tenant(), collection_type<Appointment>()));
  EXPECT_EQ(count.value(), 250u);
  EXPECT_EQ(page(RecordSpan("when")).records.size(), 250u);
  EXPECT_TRUE(open(collection_type<Appointment>()).ok());
  EXPECT_FALSE(open(collection_type<OldAppointment>()).ok());
}

TEST_F(Collections, WithRecordsButWithoutADeclarationAreRefused) {
  save(appointment("a", "small", 1)).value();
  auto opened =
      block_on(loop, open_collection(store, default_tenant(), collection_type<Appointment>()));
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message, HasSubstr("unknown indexes"));
}

TEST(SortValues, SortAsTheirValuesDo) {
  using detail::sort_value;
  auto ordered = [](auto... values) {
    std::vector<std::string> texts{sort_value(values)...};
    return std::is_sorted(texts.begin(), texts.end()) &&
           std::adjacent_find(texts.begin(), texts.end()) == texts.end();
  };
  EXPECT_TRUE(ordered(std::int64_t{INT64_MIN}, -5, -1, 0, 1, 255, 256, INT64_MAX));
  EXPECT_TRUE(ordered(-1e300, -1.5, -1e-300, 0.0, 1e-300, 2.0, 1e300));
  EXPECT_EQ(sort_value(-0.0), sort_value(0.0));
  EXPECT_TRUE(ordered("", "a", "a b", "aa", "b", "\xC3\xA4"));
  EXPECT_TRUE(ordered(false, true));
  EXPECT_TRUE(ordered(std::optional<int>(), std::optional<int>(-7), std::optional<int>(7)));
  EXPECT_LT(sort_value("a", 2), sort_value("aa", 1)) << "the first part decides";
  EXPECT_EQ(detail::after_prefix("0aff"), "0b");
  EXPECT_EQ(detail::after_prefix("09"), "0a");
  EXPECT_EQ(detail::after_prefix("ff"), "");
}

}  // namespace
}  // namespace belay
