// Long on purpose: one suite of threads with several runs for every store.

// Threads with several runs: their starts, the values of their state, their order, and edits.

#include <gmock/gmock.h>

#include <functional>
#include <thread>

#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using K = WriteOp;

class ThreadSuite : public StoreSuite {
 protected:
  // Writes a thread's first run, which completes.
  RunScript ended_first() {
    RunScript script("first");
    EXPECT_EQ(call_->commit(script.first()), CommitOutcome::applied);
    EXPECT_EQ(call_->commit(script.next()), CommitOutcome::applied);
    end(script);
    return script;
  }
  void end(RunScript& script) {
    EXPECT_EQ(call_->commit(script.ask(Instant{})), CommitOutcome::applied);
    EXPECT_EQ(call_->commit(script.expire()), CommitOutcome::applied);
  }
  RunScript begun(const RunScript& before, const std::string& name) {
    RunScript script = before.later(name);
    EXPECT_EQ(call_->commit(script.first_in_thread()), CommitOutcome::applied);
    return script;
  }
  // Writes a later run with these values in its second commit, which completes.
  RunScript ended_later(const RunScript& before, const std::string& name,
                        const std::vector<Written>& values) {
    RunScript script = begun(before, name);
    EXPECT_EQ(call_->commit(script.next_with(values)), CommitOutcome::applied);
    end(script);
    return script;
  }
  std::vector<ValueRow> state(const RunScript& run, std::uint64_t seq) {
    return call_->values({default_tenant(), {}, run.row.thread, value_seq(run.row, seq)});
  }
  std::vector<ValueRow> state_after(const RunScript& run) { return state(run, run.row.seq); }
  std::vector<ValueRow> every_value(const ThreadId& thread) {
    std::uint64_t end = ~std::uint64_t{0} >> 1;
    return call_->values({default_tenant(), {}, thread, end, true});
  }
  CommitOutcome prune(const RunScript& run, std::optional<std::uint64_t> before = {}) {
    Commit commit;
    commit.tenant = default_tenant();
    commit.rows.prune.push_back({run.row.run, before});
    return call_->commit(std::move(commit));
  }
  Commit edit(const ThreadId& thread, Instant expected, Instant updated_at) {
    Commit commit;
    commit.tenant = default_tenant();
    commit.rows.thread_edit.emplace();
    commit.rows.thread_edit->row = call_->threads({default_tenant(), thread}).at(0);
    commit.rows.thread_edit->row.updated_at = updated_at;
    commit.rows.thread_edit->expected_updated_at = expected;
    return commit;
  }
  void expect_refused(Commit commit, const std::string& what) {
    auto outcome = call_->try_commit(std::move(commit));
    ASSERT_FALSE(outcome.ok()) << what;
    EXPECT_EQ(outcome.error().code, ErrorCode::invalid) << what;
  }
};

std::vector<std::string> places_of(const std::vector<ValueRow>& rows) {
  std::vector<std::string> places;
  for (const ValueRow& row : rows) {
    places.push_back(row.channel + std::to_string(row.seq >> 32) + "." +
                     std::to_string(row.seq & 0xffffffff));
  }
  return places;
}

TEST_P(ThreadSuite, ALaterRunStartsOnlyAfterTheExpectedNewestRun) {
  RunScript first = ended_first();
  RunScript second = first.later("second");
  EXPECT_EQ(call_->commit(second.first_in_thread()), CommitOutcome::applied);
  EXPECT_EQ(call_->run(second.row.run), second.row);
  auto threads = call_->threads({default_tenant(), first.row.thread});
  EXPECT_EQ(threads.at(0).last_run, second.row.run);
  RunScript late = first.later("late");
  Commit commit = late.first_in_thread();
  commit.rows.records.push_back(record_put("1", "{}"));
  EXPECT_EQ(call_->commit(commit), CommitOutcome::thread_changed);
  RunScript nowhere = first.later("nowhere");
  nowhere.row.thread = ThreadId("nowhere");
  EXPECT_EQ(call_->commit(nowhere.first_in_thread()), CommitOutcome::thread_changed);
  RunScript elsewhere("elsewhere");
  EXPECT_EQ(call_->commit(elsewhere.first()), CommitOutcome::applied);
  Commit other = second.later("other").first_in_thread();
  other.thread_guard->newest_run = elsewhere.row.run;
  EXPECT_EQ(call_->commit(other), CommitOutcome::thread_changed);
  RunScript third = second.later("third");
  EXPECT_EQ(call_->commit(third.first_in_thread()), CommitOutcome::applied);
  EXPECT_EQ(call_->run(third.row.run).ordinal, 2);
  RunFilter of_thread{.tenant = default_tenant(), .thread = first.row.thread};
  EXPECT_THAT(call_->runs(of_thread), SizeIs(3));
  EXPECT_THAT(call_->all(), testing::Not(HasSubstr(late.row.run.text())));
}

TEST_P(ThreadSuite, TheFirstCommitOfALaterRunSentAgainIsAppliedOnce) {
  RunScript first = ended_first();
  RunScript second = first.later("second");
  Commit start = second.first_in_thread();
  EXPECT_EQ(call_->commit(start), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(start), CommitOutcome::applied);
  call_->commit(second.next());
  begun(second, "third");
  std::string before = call_->all();
  EXPECT_EQ(call_->commit(start), CommitOutcome::applied) << "although the thread has moved on";
  RunScript rival = first.later("second");
  rival.become("rival");
  EXPECT_EQ(call_->commit(rival.first_in_thread()), CommitOutcome::exists);
  EXPECT_EQ(call_->all(), before);
}

TEST_P(ThreadSuite, OfManyStartsOnOneThreadExactlyOneWins) {
  RunScript first = ended_first();
  std::atomic<int> applied = 0;
  std::vector<std::thread> starters;
  for (int i = 0; i < 8; ++i) {
    starters.emplace_back([&, i] {
      Caller caller(*store_);
      RunScript rival = first.later("rival " + std::to_string(i));
      CommitOutcome outcome = caller.commit(rival.first_in_thread());
      EXPECT_TRUE(outcome == CommitOutcome::applied || outcome == CommitOutcome::thread_changed);
      applied += outcome == CommitOutcome::applied;
    });
  }
  for (std::thread& starter : starters) starter.join();
  EXPECT_EQ(applied, 1);
  RunFilter of_thread{.tenant = default_tenant(), .thread = first.row.thread};
  EXPECT_THAT(call_->runs(of_thread), SizeIs(2));
}

TEST_P(ThreadSuite, TheStateOfAThreadIsReadAcrossItsRuns) {
  RunScript first = ended_first();
  RunScript second = ended_later(first, "second",
                                 {{"list", K::set}, {"text", K::set}, {"inner", K::set, 0, "in"}});
  RunScript third = ended_later(second, "third", {{"list", K::append}, {"votes", K::reduce}});
  RunScript fourth = ended_later(third, "fourth", {{"list", K::append, 1}, {"text", K::set}});
  EXPECT_THAT(places_of(state(second, 1)), IsEmpty());
  EXPECT_THAT(places_of(state_after(second)), ElementsAre("list1.2", "text1.2"));
  EXPECT_THAT(places_of(state(third, 1)), ElementsAre("list1.2", "text1.2"));
  EXPECT_THAT(places_of(state_after(third)), ElementsAre("list1.2", "list2.2", "text1.2"));
  EXPECT_THAT(places_of(state_after(fourth)),
              ElementsAre("list1.2", "list2.2", "list3.2", "text3.2"));
  EXPECT_THAT(places_of(every_value(first.row.thread)),
              ElementsAre("list1.2", "text1.2", "list2.2", "votes2.2", "list3.2", "text3.2"));
  for (const ValueRow& row : every_value(first.row.thread)) {
    EXPECT_TRUE(row.run.is_null());
    EXPECT_EQ(row.thread, first.row.thread);
    EXPECT_EQ(row.envelope, json_envelope("[" + std::to_string(row.seq * 100) + "]"));
  }
  ValueFilter written{default_tenant(), {}, first.row.thread, value_seq(third.row, 2), true};
  written.after_seq = value_seq(third.row, 0);
  EXPECT_THAT(places_of(call_->values(written)), ElementsAre("list2.2", "votes2.2"));
  written.checkpoint_ns = "in";
  EXPECT_THAT(call_->values(written), IsEmpty());
  auto inner = call_->values({default_tenant(), second.row.run, {}, 9});
  EXPECT_THAT(places_of(inner), ElementsAre("inner0.2")) << "a subgraph has values of its own";
  EXPECT_THAT(call_->values({default_tenant(), first.row.run, {}, 9}), SizeIs(1));
  EXPECT_THAT(call_->values({default_tenant(), {}, ThreadId("none"), 9}), IsEmpty());
  EXPECT_THAT(call_->values({TenantId("other"), {}, first.row.thread, 1ull << 40}), IsEmpty());
}

TEST_P(ThreadSuite, PendingWritesOfALaterRunAreValuesOfItsThread) {
  RunScript second = begun(ended_first(), "second");
  call_->commit(second.next_with({{"list", K::set}}));
  Commit pending = second.pending({{"list", K::append, 0}, {"list", K::append, 1}});
  EXPECT_EQ(call_->commit(pending), CommitOutcome::applied);
  std::string once = call_->rows();
  EXPECT_EQ(call_->commit(pending), CommitOutcome::applied);
  EXPECT_EQ(call_->rows(), once);
  EXPECT_THAT(places_of(state(second, 2)), ElementsAre("list1.2")) << "they are ahead of the state";
  EXPECT_THAT(state(second, 3),
              ElementsAre(testing::_, pending.rows.values[0], pending.rows.values[1]));
  RunScript stale = second;
  stale.row.epoch += 1;
  EXPECT_EQ(call_->commit(stale.pending({{"list", K::set}})), CommitOutcome::fenced);
}

TEST_P(ThreadSuite, APendingWriteThatNamesAnotherThreadIsWrittenToItsRunsThread) {
  if (GetParam().is_sealed) GTEST_SKIP() << "the envelope is bound to the thread that it names";
  RunScript second = begun(ended_first(), "second");
  RunScript other("other");
  call_->commit(other.first());
  Commit pending = second.pending({{"list", K::set}});
  pending.rows.values[0].thread = other.row.thread;
  EXPECT_EQ(call_->commit(pending), CommitOutcome::applied);
  EXPECT_THAT(every_value(other.row.thread), IsEmpty());
  ASSERT_THAT(every_value(second.row.thread), SizeIs(1));
  EXPECT_EQ(every_value(second.row.thread)[0].thread, second.row.thread);
}

TEST_P(ThreadSuite, TheCurrentRunOfAThreadIsItsOldestThatHasNotEnded) {
  RunFilter current{.tenant = default_tenant(), .thread = ThreadId("thread first")};
  current.only_current = true;
  EXPECT_THAT(call_->runs(current), IsEmpty());
  RunScript first("first");
  call_->commit(first.first());
  RunScript second = begun(first, "second");
  RunScript third = begun(second, "third");
  auto found = [&]() -> std::vector<RunId> {
    std::vector<RunId> runs;
    for (const RunRow& row : call_->runs(current)) runs.push_back(row.run);
    return runs;
  };
  EXPECT_THAT(found(), ElementsAre(first.row.run));
  end(first);
  EXPECT_THAT(found(), ElementsAre(second.row.run));
  current.statuses = {RunStatus::paused};
  EXPECT_THAT(found(), IsEmpty()) << "it is queued";
  current.statuses.clear();
  end(third);
  EXPECT_THAT(found(), ElementsAre(second.row.run)) << "a later run that was cancelled";
  end(second);
  EXPECT_THAT(found(), IsEmpty());
}

TEST_P(ThreadSuite, TheRunsOfAThreadComeByPageNewestFirst) {
  RunScript script = ended_first();
  std::vector<RunScript> runs{script};
  RunScript other("other");
  call_->commit(other.first());
  for (int i = 1; i < 5; ++i) {
    runs.push_back(ended_later(runs.back(), std::to_string(i), {{"text", K::set}}));
    call_->commit(other.next());
  }
  for (std::size_t i = 5; i-- > 1;) {
    auto page = call_->runs({.tenant = default_tenant(),
                             .thread = script.row.thread,
                             .before = runs[i].row.run,
                             .limit = 1});
    ASSERT_THAT(page, SizeIs(1));
    EXPECT_EQ(page[0].run, runs[i - 1].row.run);
  }
}

TEST_P(ThreadSuite, ARunThatWaitsForEarlierRunsIsNotDue) {
  RunScript first("first");
  first.row.due_at = clock_.now();
  call_->commit(first.first());
  RunScript second = first.later("second");
  second.row.due_at = clock_.now() - std::chrono::minutes(1);
  call_->commit(second.first_in_thread());
  RunScript begun_early = second.later("third");
  begun_early.row.node = "answer";
  begun_early.row.due_at = clock_.now();
  call_->commit(begun_early.first_in_thread());
  auto due = [&] {
    std::vector<RunId> runs;
    for (const RunRow& row : call_->runs({.tenant = default_tenant(), .due_by = clock_.now()})) {
      runs.push_back(row.run);
    }
    PollFilter poll;
    poll.tenant = default_tenant();
    poll.now = clock_.now();
    std::vector<RunId> offered;
    for (const RunRow& row : call_->poll_runs(poll)) offered.push_back(row.run);
    EXPECT_EQ(offered, runs);
    return runs;
  };
  EXPECT_THAT(due(), ElementsAre(first.row.run, begun_early.row.run)) << "that one has begun";
  first.row.due_at = Instant{};
  end(first);
  EXPECT_THAT(due(), ElementsAre(second.row.run, begun_early.row.run));
}

TEST_P(ThreadSuite, PruningTheNewestRunTakesTheThreadBackToTheStateBeforeIt) {
  RunScript first = ended_first();
  RunScript second = ended_later(first, "second", {{"list", K::set}, {"text", K::set}});
  std::string before = call_->rows();
  RunScript third =
      ended_later(second, "third", {{"list", K::append}, {"text", K::set}, {"new", K::set}});
  EXPECT_EQ(prune(third), CommitOutcome::applied);
  EXPECT_EQ(call_->rows(), before);
  RunScript again = second.later("again");
  EXPECT_EQ(call_->commit(again.first_in_thread()), CommitOutcome::applied) << "the next run";
  EXPECT_THAT(places_of(state_after(again)), ElementsAre("list1.2", "text1.2"));
}

TEST_P(ThreadSuite, PruningTheOldestRunsKeepsTheStatesOfLaterRuns) {
  RunScript first = ended_first();
  RunScript second =
      ended_later(first, "second",
                  {{"list", K::set}, {"text", K::set}, {"once", K::set}, {"votes", K::reduce}});
  RunScript third = ended_later(second, "third", {{"list", K::append}, {"text", K::set}});
  RunScript fourth = ended_later(third, "fourth", {{"list", K::append}});
  auto at_third = state(third, 1);
  auto after_third = state_after(third);
  auto after_fourth = state_after(fourth);
  EXPECT_EQ(prune(first), CommitOutcome::applied);
  EXPECT_THAT(every_value(first.row.thread), SizeIs(7)) << "the first run has none";
  EXPECT_EQ(prune(second), CommitOutcome::applied);
  EXPECT_EQ(state(third, 1), at_third);
  EXPECT_EQ(state_after(third), after_third);
  EXPECT_THAT(places_of(every_value(first.row.thread)),
              testing::UnorderedElementsAre("list1.2", "once1.2", "text1.2", "list2.2", "text2.2",
                                            "list3.2"));
  EXPECT_EQ(prune(third), CommitOutcome::applied);
  EXPECT_EQ(state_after(fourth), after_fourth);
  EXPECT_THAT(places_of(every_value(first.row.thread)),
              testing::UnorderedElementsAre("list1.2", "once1.2", "list2.2", "text2.2", "list3.2"));
  EXPECT_EQ(prune(fourth), CommitOutcome::applied);
  EXPECT_EQ(call_->rows(), "") << "the thread and all values of its state are gone";
  EXPECT_THAT(every_value(first.row.thread), IsEmpty());
}

TEST_P(ThreadSuite, PruningAMiddleRunKeepsEveryOtherState) {
  RunScript first = ended_first();
  RunScript second = ended_later(first, "second", {{"list", K::set}, {"text", K::set}});
  RunScript third = ended_later(second, "third", {{"list", K::append}, {"text", K::set}});
  RunScript fourth = ended_later(third, "fourth", {{"list", K::append}});
  auto values = every_value(first.row.thread);
  EXPECT_EQ(prune(third), CommitOutcome::applied);
  EXPECT_EQ(every_value(first.row.thread), values);
  EXPECT_TRUE(call_->run(third.row.run).run.is_null());
  EXPECT_THAT(call_->events({default_tenant(), third.row.run}), IsEmpty());
  auto threads = call_->threads({default_tenant(), first.row.thread});
  EXPECT_EQ(threads.at(0).last_run, fourth.row.run);
}

TEST_P(ThreadSuite, NoRunIsPrunedWhileAnotherRunOfItsThreadHasNotEnded) {
  RunScript first = ended_first();
  RunScript second = ended_later(first, "second", {{"text", K::set}});
  RunScript third = begun(second, "third");
  std::string before = call_->all();
  for (const RunScript* run : {&first, &second, &third}) {
    EXPECT_EQ(prune(*run), CommitOutcome::applied);
    EXPECT_EQ(call_->all(), before);
  }
  end(third);
  EXPECT_EQ(prune(first), CommitOutcome::applied);
  EXPECT_TRUE(call_->run(first.row.run).run.is_null());
}

TEST_P(ThreadSuite, PruningCommitsOfARunKeepsTheValuesThatEarlierRunsNeed) {
  RunScript first = ended_first();
  RunScript second = begun(first, "second");
  call_->commit(second.next_with({{"text", K::set}, {"list", K::set}}));     // 2
  call_->commit(second.next_with({{"text", K::set}, {"list", K::append}}));  // 3
  call_->commit(second.next_with({{"text", K::set}}));                       // 4
  end(second);
  RunScript third = ended_later(second, "third", {{"list", K::append}});
  auto values = every_value(first.row.thread);
  EXPECT_EQ(prune(second, 3), CommitOutcome::applied);
  EXPECT_THAT(call_->checkpoints({default_tenant(), second.row.run}), SizeIs(4));
  EXPECT_EQ(every_value(first.row.thread), values) << "the thread still has its first run";
  EXPECT_EQ(prune(first), CommitOutcome::applied);
  auto at_three = state(second, 3);
  auto after_third = state_after(third);
  EXPECT_EQ(prune(second, 3), CommitOutcome::applied);
  EXPECT_EQ(state(second, 3), at_three);
  EXPECT_EQ(state_after(third), after_third);
  EXPECT_THAT(places_of(every_value(first.row.thread)),
              ElementsAre("list1.2", "list1.3", "text1.3", "text1.4", "list2.2"));
}

TEST_P(ThreadSuite, AThreadIsEditedUnlessItWasEditedMeanwhile) {
  RunScript first = ended_first();
  ThreadId thread = first.row.thread;
  Instant now = clock_.now();
  Commit named = edit(thread, Instant{}, now);
  named.rows.thread_edit->row.title = "Añadir \"notas\"";
  named.rows.thread_edit->row.metadata = "{\"color\":\"red\"}";
  named.rows.thread_edit->row.expires_at = now + std::chrono::hours(1);
  ThreadRow expected = named.rows.thread_edit->row;
  EXPECT_EQ(call_->commit(named), CommitOutcome::applied);
  ThreadRow stored = call_->threads({default_tenant(), thread}).at(0);
  EXPECT_EQ(stored, expected);
  if (!GetParam().is_sealed) {
    EXPECT_EQ(call_->commit(named), CommitOutcome::applied) << "sent again, after a lost reply";
  }
  Commit stale = edit(thread, Instant{}, now + std::chrono::seconds(1));
  stale.rows.thread_edit->row.title = "stale";
  stale.rows.records.push_back(record_put("1", "{}"));
  std::string before = call_->rows();
  EXPECT_EQ(call_->commit(stale), CommitOutcome::thread_changed);
  EXPECT_EQ(call_->rows(), before);
  Commit cleared = edit(thread, now, now + std::chrono::seconds(2));
  cleared.rows.thread_edit->row.title.clear();
  cleared.rows.thread_edit->row.metadata.clear();
  cleared.rows.thread_edit->row.expires_at = Instant{};
  expected = cleared.rows.thread_edit->row;
  EXPECT_EQ(call_->commit(cleared), CommitOutcome::applied);
  EXPECT_EQ(call_->threads({default_tenant(), thread}).at(0), expected);
  cleared.rows.thread_edit->row.thread = ThreadId("none");
  EXPECT_EQ(call_->commit(cleared), CommitOutcome::thread_changed);
}

TEST_P(ThreadSuite, ANewThreadKeepsItsTexts) {
  RunScript first("first");
  Commit commit = first.first();
  commit.rows.thread->title = "title";
  commit.rows.thread->metadata = "{\"a\":1}";
  commit.rows.thread->expires_at = clock_.now();
  commit.rows.thread->updated_at = clock_.now() - std::chrono::hours(1);
  ThreadRow expected = *commit.rows.thread;
  EXPECT_EQ(call_->commit(commit), CommitOutcome::applied);
  EXPECT_EQ(call_->threads({default_tenant(), first.row.thread}).at(0), expected);
}

// Returns a later run with the state before it as the commit that imports it.
Commit import_of_later() {
  RunScript run = RunScript("first").later("second");
  Commit first = run.first_in_thread();
  Commit next = run.next_with({{"text", K::set}});
  next.imports = true;
  next.run_guard = RunGuard{};
  next.rows.thread = RunScript("first").first().rows.thread;
  next.rows.thread->last_run = run.row.run;
  next.rows.earlier.push_back(*first.rows.checkpoint);
  next.rows.values.push_back(next.rows.values[0]);
  next.rows.values[1].channel = "list";
  next.rows.values[1].seq = 1;
  return next;
}

TEST_P(ThreadSuite, ALaterRunIsImportedWithTheStateBeforeIt) {
  Commit commit = import_of_later();
  EXPECT_EQ(call_->commit(commit), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(commit), CommitOutcome::applied) << "sent again, after a lost reply";
  RunScript run = RunScript("first").later("second");
  (void)run.first_in_thread();
  (void)run.next_with({{"text", K::set}});
  EXPECT_EQ(call_->run(run.row.run), run.row);
  EXPECT_THAT(places_of(state(run, 1)), ElementsAre("list0.1"));
  EXPECT_THAT(places_of(state_after(run)), ElementsAre("list0.1", "text1.2"));
  end(run);
  RunScript next = ended_later(run, "third", {{"text", K::set}});
  EXPECT_THAT(places_of(state_after(next)), ElementsAre("list0.1", "text2.2"));
}

TEST_P(ThreadSuite, MalformedCommitsOfLaterRunsAreRefused) {
  RunScript first = ended_first();
  RunScript second = first.later("second");
  Commit start = second.first_in_thread();
  using Spoil = std::function<void(Commit&)>;
  std::vector<std::pair<std::string, Spoil>> faults{
      {"no guard", [](Commit& c) { c.thread_guard.reset(); }},
      {"another thread's guard", [](Commit& c) { c.thread_guard->thread = ThreadId("other"); }},
      {"the guard of a first run", [](Commit& c) { c.rows.run->ordinal = 0; }},
      {"a negative ordinal", [](Commit& c) { c.rows.run->ordinal = -1; }},
      {"too large an ordinal", [](Commit& c) { c.rows.run->ordinal = std::int64_t{1} << 31; }},
      {"a new thread", [&](Commit& c) { c.rows.thread = RunScript("first").first().rows.thread; }},
      {"an edit", [](Commit& c) { c.rows.thread_edit.emplace(); }}};
  for (auto& [what, spoil] : faults) {
    Commit spoilt = start;
    spoil(spoilt);
    expect_refused(spoilt, what);
  }
  EXPECT_EQ(call_->commit(start), CommitOutcome::applied);
  Commit next = second.next_with({{"text", K::set}});
  Commit pending = second.pending({{"text", K::set}});
  faults = {{"a guard again", [&](Commit& c) { c.thread_guard = start.thread_guard; }},
            {"a value of the run",
             [&](Commit& c) {
               c.rows.values[0].run = second.row.run;
               c.rows.values[0].thread = ThreadId();
               c.rows.values[0].seq = 2;
             }},
            {"a value of both", [&](Commit& c) { c.rows.values[0].run = second.row.run; }},
            {"a value of another thread", [](Commit& c) { c.rows.values[0].thread.text += "x"; }},
            {"a subgraph's value", [](Commit& c) { c.rows.values[0].checkpoint_ns = "inner"; }},
            {"the seq of the run before", [](Commit& c) { c.rows.values[0].seq = 2; }},
            {"the seq of the next run", [](Commit& c) { c.rows.values[0].seq += 1ull << 32; }},
            {"a seq beyond the commit", [](Commit& c) { c.rows.values[0].seq += 1; }},
            {"a value twice", [](Commit& c) { c.rows.values.push_back(c.rows.values[0]); }}};
  for (auto& [what, spoil] : faults) {
    Commit spoilt = next;
    spoil(spoilt);
    expect_refused(spoilt, what);
  }
  faults = {{"a value of both", [&](Commit& c) { c.rows.values[0].run = second.row.run; }},
            {"a subgraph's value", [](Commit& c) { c.rows.values[0].checkpoint_ns = "inner"; }},
            {"the first run's seq", [](Commit& c) { c.rows.values[0].seq = 3; }},
            {"a seq beyond the commit", [](Commit& c) { c.rows.values[0].seq += 1; }},
            {"a seq before the first", [](Commit& c) { c.rows.values[0].seq = 1ull << 32; }}};
  for (auto& [what, spoil] : faults) {
    Commit spoilt = pending;
    spoil(spoilt);
    expect_refused(spoilt, what);
  }
  faults = {{"no thread", [](Commit& c) { c.rows.thread.reset(); }},
            {"a guard", [&](Commit& c) { c.thread_guard = start.thread_guard; }},
            {"seq 0", [](Commit& c) { c.rows.values[1].seq = 0; }},
            {"a seq beyond the run", [](Commit& c) { c.rows.values[0].seq += 1; }}};
  for (auto& [what, spoil] : faults) {
    Commit spoilt = import_of_later();
    spoil(spoilt);
    expect_refused(spoilt, "an import: " + what);
  }
}

TEST_P(ThreadSuite, MalformedEditsAreRefused) {
  RunScript first = ended_first();
  Commit sound = edit(first.row.thread, Instant{}, clock_.now());
  std::vector<std::pair<std::string, std::function<void(Commit&)>>> faults{
      {"another tenant's", [](Commit& c) { c.rows.thread_edit->row.tenant = TenantId("other"); }},
      {"a text with U+0000",
       [](Commit& c) { c.rows.thread_edit->row.title = std::string("a\0b", 3); }},
      {"no UTF-8", [](Commit& c) { c.rows.thread_edit->row.metadata = "\xff"; }},
      {"a guarded approval", [](Commit& c) { c.approval_guard.emplace(); }}};
  for (auto& [what, spoil] : faults) {
    Commit spoilt = sound;
    spoil(spoilt);
    expect_refused(spoilt, what);
  }
  EXPECT_EQ(call_->commit(sound), CommitOutcome::applied);
}

TEST_P(ThreadSuite, TheValuesOfAThreadAreFoundAndRewrittenByTheirPlaces) {
  if (GetParam().is_sealed) GTEST_SKIP() << "it looks at what lies below the encryption";
  RunScript second =
      ended_later(ended_first(), "second", {{"list", K::set}, {"list", K::append, 1}});
  Commit commit;
  commit.tenant = default_tenant();
  int found = 0;
  for (const StoredEnvelope& stored : call_->envelopes({.tenant = default_tenant()})) {
    if (!stored.subject.starts_with("thread-value")) continue;
    ++found;
    commit.rows.rewrites.push_back(
        {stored.position, sha256(stored.envelope), json_envelope("\"rewritten\"")});
  }
  EXPECT_EQ(found, 2);
  EXPECT_EQ(call_->commit(commit), CommitOutcome::applied);
  auto values = state_after(second);
  ASSERT_THAT(values, SizeIs(2));
  for (const ValueRow& value : values) EXPECT_EQ(value.envelope, json_envelope("\"rewritten\""));
}

INSTANTIATE_TEST_SUITE_P(Stores, ThreadSuite, testing::ValuesIn(store_kinds()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace belay::conformance
