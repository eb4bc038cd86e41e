// Any sequence of commits leaves the same visible state in every store.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>

#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

// One operation of a random history. The ranges are small, so that operations often meet the same
// run.
struct Move {
  int run = 0;    // which of six runs
  int kind = 0;   // selects the operation
  int rival = 0;  // 0: the owner; otherwise a rival with an outdated copy of the run
  int detail = 0;
};

// Of two threads: in each, a first run, a second one that is a first run as well, and a later one,
// which restarts with the next ordinal when it has ended.
constexpr int runs = 6;

rc::Gen<Move> any_move() {
  return rc::gen::construct<Move>(rc::gen::inRange(0, runs), rc::gen::inRange(0, 20),
                                  rc::gen::inRange(0, 4), rc::gen::inRange(0, 6));
}

class History {
 public:
  explicit History(StandingClock& clock) : clock_(clock) {
    for (int i = 0; i < runs; ++i) {
      scripts_.emplace_back(std::to_string(i));
      stale_.push_back(scripts_.back());
      scripts_.back().row.thread = ThreadId("thread " + std::to_string(thread_of(i)));
    }
  }

  Commit commit_for(const Move& move) {
    if (move.kind == 11) clock_.advance(std::chrono::minutes(30));
    if (move.kind == 10) return import_of({record_for(move)});
    if (move.kind >= 12) return without_seq(move);
    auto index = static_cast<std::size_t>(move.run);
    RunScript& script = scripts_[index];
    if (is_later(move.run) && script.row.seq == 0) prepare_later(move, script);
    if (move.rival == 1 && sent_[index]) return *sent_[index];
    RunScript stale = stale_[index];
    stale.become("rival " + std::to_string(move.detail));
    RunScript& author = move.rival == 2 ? stale : script;
    if (move.rival != 2) stale_[index] = script;
    Commit commit = make(author, move);
    commit.rows.records.push_back(record_for(move));
    if (move.rival != 2) sent_[index] = commit;
    return commit;
  }

  // Undoes the changes that commit_for() made to the script if the commit was not applied.
  void settle(const Move& move, const Result<CommitOutcome>& outcome) {
    auto index = static_cast<std::size_t>(move.run);
    if (move.kind == 10 || move.kind >= 12 || move.rival == 1 || move.rival == 2) return;
    bool is_applied = outcome.ok() && *outcome == CommitOutcome::applied;
    std::vector<RunId>& started = started_[thread_of(move.run)];
    // The newest run might have been pruned.
    bool is_changed = outcome.ok() && *outcome == CommitOutcome::thread_changed;
    if (is_changed && move.detail != 5 && !started.empty()) started.pop_back();
    if (!is_applied) scripts_[index] = stale_[index];
    if (!is_applied) return;
    const RunRow& row = scripts_[index].row;
    if (row.seq == 1) started.push_back(row.run);
    if (is_later(move.run) && is_final(row.status)) {
      ordinals_[thread_of(move.run)] = row.ordinal + 1;
      scripts_[index] = RunScript(std::to_string(move.run) + " after " + row.run.text());
    }
  }

 private:
  static int thread_of(int run) { return run % 2; }
  static bool is_later(int run) { return run >= 4; }

  // Makes the script that of the thread's next run. Of six, one expects another newest run.
  void prepare_later(const Move& move, RunScript& script) {
    int thread = thread_of(move.run);
    script.row.thread = ThreadId("thread " + std::to_string(thread));
    script.row.ordinal = ordinals_[thread];
    script.row.node = move.detail % 2 == 0 ? "" : "fetchNotes";
    script.row.due_at = clock_.now();
    const std::vector<RunId>& started = started_[move.detail == 5 ? 1 - thread : thread];
    script.newest = started.empty() ? RunId() : started.back();
  }

  // Commits that do not advance a run: pending writes, effect outcomes, pruning, the delivery of a
  // message.
  Commit without_seq(const Move& move) {
    auto index = static_cast<std::size_t>(move.run);
    const RunScript& script = move.rival == 2 ? stale_[index] : scripts_[index];
    Commit commit;
    commit.tenant = default_tenant();
    auto status = static_cast<EffectStatus>(move.detail % 5);
    switch (move.kind) {
      case 12:
        commit.rows.effects.push_back(script.effect("pay", status, move.rival));
        return commit;
      case 13:
        commit.rows.prune.push_back({script.row.run, {}});
        if (move.detail > 1) commit.rows.prune[0].before_seq = move.detail;
        return commit;
      case 14:
        commit.message_guard = OutboxGuard{script.row.run, 2, 0, move.detail % 2};
        commit.rows.outbox.push_back(script.message(0));
        commit.rows.outbox[0].seq = 2;
        commit.rows.outbox[0].attempts = move.detail % 2 + 1;
        if (move.detail > 3) commit.rows.outbox[0].status = OutboxStatus::delivered;
        return commit;
      case 15:
        commit.rows.preserve = {script.row.thread, move.detail > 3};
        return commit;
      case 18:
      case 19:
        commit.rows.thread_edit = edit_of(script.row, move);
        return commit;
      default:
        return pending_for(script, move, status);
    }
  }

  static ThreadEdit edit_of(const RunRow& run, const Move& move) {
    auto at = [](int seconds) { return Instant(std::chrono::seconds(seconds)); };
    ThreadEdit edit;
    edit.row.tenant = default_tenant();
    edit.row.thread = ThreadId("thread " + std::to_string(thread_of(move.run)));
    edit.row.user = run.user;
    edit.row.graph = run.graph;
    edit.row.created_at = run.created_at;
    edit.row.title = "title " + std::to_string(move.rival);
    edit.row.metadata = move.detail % 2 == 0 ? "" : "{}";
    edit.row.expires_at = at(move.detail % 3);
    edit.row.updated_at = at(move.rival);
    edit.expected_updated_at = at(move.detail % 4);
    return edit;
  }

  static Commit pending_for(const RunScript& script, const Move& move, EffectStatus status) {
    auto kind = static_cast<WriteOp>(move.detail % 5);
    std::string checkpoint_ns = move.rival == 3 ? "inner" : "";
    Commit commit = script.pending({{"list", kind, move.detail % 3, checkpoint_ns},
                                    {"list", WriteOp::append, 3, checkpoint_ns}});
    commit.rows.tasks.push_back(script.task(move.detail, TaskStatus::done));
    commit.rows.effects.push_back(script.effect("pay", status, move.rival));
    if (move.detail == 1) commit.rows.opened.push_back(script.question("q"));
    if (move.rival == 3) {
      auto seq = static_cast<std::uint64_t>(move.detail) + 1;
      commit.rows.inner_checkpoints.push_back(script.inner_checkpoint("inner", seq));
    }
    return commit;
  }

  static RecordPut record_for(const Move& move) {
    std::string date = "2025-11-2" + std::to_string(move.detail % 3);
    std::string json = move.detail == 5 ? "" : "{\"kind\":" + std::to_string(move.kind) + "}";
    RecordPut put = record_put(std::to_string(move.detail), json, {{"date", date}});
    if (!json.empty()) put.indexed.emplace_back("order:day", date);
    // Of five saves one expects that there is no record; another, that the record is one that was
    // deleted and saved again, which it never is.
    if (move.kind % 5 == 0) put.expected_version = 0;
    if (move.kind % 5 == 1 && move.rival == 3) put.expected_version = 1;
    if (move.kind % 3 == 0) put.expires_at = *instant_from("2025-12-24T00:00:00Z");
    return put;
  }

  Commit make(RunScript& author, const Move& move) {
    if (author.row.seq == 0) {
      if (author.row.ordinal > 0) return author.first_in_thread();
      return move.detail % 2 == 0 ? author.first() : author.first_in_thread();
    }
    switch (move.kind) {
      case 0:
      case 1:
        return author.ask(clock_.now() + std::chrono::hours(move.detail));
      case 2:
      case 3:
        return author.decide(ApprovalStatus::approved);
      case 4:
        return author.expire();
      case 5: {
        Commit commit = author.next();
        author.row.status = RunStatus::failed;
        commit.rows.run->status = RunStatus::failed;
        commit.rows.checkpoint->status = RunStatus::failed;
        commit.rows.ends_run = true;
        return commit;
      }
      case 6: {
        author.row.epoch += 1;
        Commit commit = author.next();
        commit.run_guard->epoch -= 1;
        return commit;
      }
      case 7: {
        auto kind = static_cast<WriteOp>(move.detail % 5);
        Commit commit = author.next_with({{"list", kind}, {"text", WriteOp::set}});
        commit.rows.outbox.push_back(author.message(0));
        return commit;
      }
      default:
        return author.next();
    }
  }

  StandingClock& clock_;
  std::vector<RunScript> scripts_;
  std::vector<RunScript> stale_;
  std::optional<Commit> sent_[runs];
  std::vector<RunId> started_[2];  // by thread, oldest first
  std::int64_t ordinals_[2] = {1, 1};
};

std::string words_for(const Result<CommitOutcome>& outcome) {
  if (outcome.ok()) return std::to_string(static_cast<int>(*outcome));
  return std::string(name_of(outcome.error().code)) + ": " + outcome.error().message;
}

// The number of operations between two comparisons of the whole state; soaks set it to 1, which
// compares after each operation.
std::size_t operations_between_looks() {
  const char* text = std::getenv("BELAY_DIFFERENTIAL_LOOK_EVERY");
  std::size_t every = 8;
  if (text) std::from_chars(text, text + std::strlen(text), every);
  return std::max<std::size_t>(every, 1);
}

// A store that must agree with the store in memory.
struct Compared {
  std::string name;
  std::unique_ptr<TemporaryFolder> folder;
  std::unique_ptr<Store> store;
  std::unique_ptr<Caller> caller;
};

std::vector<Compared> open_all(Clock& clock, Random& random) {
  std::vector<Compared> all;
  for (const StoreKind& kind : bare_store_kinds()) {
    if (kind.name == "Memory") continue;
    Compared& each = all.emplace_back();
    each.name = kind.name;
    each.folder = std::make_unique<TemporaryFolder>();
    auto opened = kind.open(each.folder->path(), clock, random);
    RC_ASSERT(opened.ok());
    each.store = *std::move(opened);
    each.caller = std::make_unique<Caller>(*each.store);
  }
  return all;
}

RC_GTEST_PROP(Stores, AnyHistoryLooksTheSameInAllOfThem, ()) {
  auto moves = *rc::gen::container<std::vector<Move>>(any_move());
  StandingClock clock;
  SeededRandom random;
  auto memory = open_memory_store(clock, random);
  Caller expected(*memory);
  std::vector<Compared> all = open_all(clock, random);
  History history(clock);
  std::size_t every = operations_between_looks();
  for (std::size_t i = 0; i < moves.size(); ++i) {
    Commit commit = history.commit_for(moves[i]);
    auto outcome = expected.try_commit(commit);
    for (Compared& each : all) {
      RC_LOG() << each.name << ", operation " << i << std::endl;
      RC_ASSERT(words_for(each.caller->try_commit(commit)) == words_for(outcome));
      bool looks = (i + 1) % every == 0 || i + 1 == moves.size();
      if (looks) RC_ASSERT(each.caller->all() == expected.all());
    }
    history.settle(moves[i], outcome);
  }
}

// Operations on one thread, most of which are applied: starts of its next run, values, ends,
// prunes.
class ThreadHistory {
 public:
  // `reference` is the store in memory, whose state selects the operation.
  explicit ThreadHistory(Caller& reference) : reference_(reference) {}

  Commit commit_for(const Move& move) {
    auto threads = reference_.threads({.tenant = default_tenant()});
    std::string name = std::to_string(++names_);
    if (threads.empty()) {
      RunScript script(name);
      script.row.thread = thread_;
      return started(std::move(script), true);
    }
    RunFilter of_thread{.tenant = default_tenant(), .thread = thread_};
    auto rows = reference_.runs(of_thread);
    RunScript& script = scripts_.at(rows[move.run % rows.size()].run);
    before_ = script;
    if (move.kind < 3) {
      RunScript later = scripts_.at(rows[0].run).later(name);
      // Of six, one expects another newest run.
      if (move.detail == 5) later.newest = script.row.run;
      return started(std::move(later), false);
    }
    if (move.kind < 12) return of_run(script, move);
    Commit commit;
    commit.tenant = default_tenant();
    commit.rows.prune.push_back({script.row.run, {}});
    if (move.kind > 16) commit.rows.prune[0].before_seq = move.detail;
    return commit;
  }

  void settle(const Result<CommitOutcome>& outcome) {
    bool is_applied = outcome.ok() && *outcome == CommitOutcome::applied;
    if (is_applied || !before_) return;
    scripts_.insert_or_assign(before_->row.run, *before_);
  }

 private:
  Commit started(RunScript script, bool is_first) {
    Commit commit = is_first ? script.first() : script.first_in_thread();
    scripts_.insert_or_assign(script.row.run, std::move(script));
    return commit;
  }

  static Commit of_run(RunScript& script, const Move& move) {
    auto kind = static_cast<WriteOp>(move.detail % 5);
    std::string channel = move.rival < 2 ? "list" : "text";
    if (move.kind == 3) return script.pending({{channel, kind, move.rival}});
    if (move.kind > 7) {
      script.row.status = RunStatus::completed;
      Commit commit = script.next_with({{channel, kind}});
      script.row.status = RunStatus::completed;
      commit.rows.run->status = commit.rows.checkpoint->status = RunStatus::completed;
      return commit;
    }
    return script.next_with({{channel, kind}, {channel, WriteOp::append, 1}, {"n", kind}});
  }

  Caller& reference_;
  ThreadId thread_{"thread"};
  std::map<RunId, RunScript> scripts_;
  std::optional<RunScript> before_;
  int names_ = 0;
};

RC_GTEST_PROP(Stores, AnyHistoryOfAThreadLooksTheSameInAllOfThem, ()) {
  auto moves = *rc::gen::container<std::vector<Move>>(any_move());
  StandingClock clock;
  SeededRandom random;
  auto memory = open_memory_store(clock, random);
  Caller expected(*memory);
  std::vector<Compared> all = open_all(clock, random);
  ThreadHistory history(expected);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    Commit commit = history.commit_for(moves[i]);
    auto outcome = expected.try_commit(commit);
    for (Compared& each : all) {
      RC_LOG() << each.name << ", operation " << i << std::endl;
      RC_ASSERT(words_for(each.caller->try_commit(commit)) == words_for(outcome));
      if (i % 4 == 3 || i + 1 == moves.size()) RC_ASSERT(each.caller->all() == expected.all());
    }
    history.settle(outcome);
  }
}

}  // namespace
}  // namespace belay::conformance
