// Any sequence of commits leaves the same visible state in every store.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

// One decision of a random history, made of small numbers so that they meet often.
struct Move {
  int run = 0;    // which of four runs
  int kind = 0;   // what is done
  int rival = 0;  // 0: the owner; else someone with an older view
  int detail = 0;
};

rc::Gen<Move> any_move() {
  return rc::gen::construct<Move>(rc::gen::inRange(0, 4), rc::gen::inRange(0, 12),
                                  rc::gen::inRange(0, 4), rc::gen::inRange(0, 6));
}

class History {
 public:
  explicit History(StandingClock& clock) : clock_(clock) {
    for (int i = 0; i < 4; ++i) {
      scripts_.emplace_back(std::to_string(i));
      stale_.push_back(scripts_.back());
      scripts_.back().row.thread = ThreadId("thread " + std::to_string(i / 2));
    }
  }

  Commit commit_for(const Move& move) {
    if (move.kind == 11) clock_.advance(std::chrono::minutes(30));
    if (move.kind == 10) return import_of({record_for(move)});
    auto index = static_cast<std::size_t>(move.run);
    RunScript& script = scripts_[index];
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

  // Takes back what commit_for() assumed when the commit did not apply.
  void settle(const Move& move, const Result<CommitOutcome>& outcome) {
    auto index = static_cast<std::size_t>(move.run);
    if (move.kind == 10 || move.rival == 1 || move.rival == 2) return;
    if (!outcome.ok() || *outcome != CommitOutcome::applied) scripts_[index] = stale_[index];
  }

 private:
  static RecordPut record_for(const Move& move) {
    std::string date = "2025-11-2" + std::to_string(move.detail % 3);
    std::string json = move.detail == 5 ? "" : "{\"kind\":" + std::to_string(move.kind) + "}";
    return record_put(std::to_string(move.detail), json, {{"date", date}});
  }

  Commit make(RunScript& author, const Move& move) {
    if (author.row.seq == 0) {
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
        commit.rows.close_approvals = true;
        return commit;
      }
      case 6: {
        author.row.epoch += 1;
        Commit commit = author.next();
        commit.guard->epoch -= 1;
        return commit;
      }
      default:
        return author.next();
    }
  }

  StandingClock& clock_;
  std::vector<RunScript> scripts_;
  std::vector<RunScript> stale_;
  std::optional<Commit> sent_[4];
};

std::string words_for(const Result<CommitOutcome>& outcome) {
  if (outcome.ok()) return std::to_string(static_cast<int>(*outcome));
  return std::string(name_of(outcome.error().code)) + ": " + outcome.error().message;
}

RC_GTEST_PROP(Stores, AnyHistoryLooksTheSameInAllOfThem, ()) {
  auto moves = *rc::gen::container<std::vector<Move>>(any_move());
  StandingClock clock;
  SeededRandom random;
  TemporaryFolder folder;
  auto memory = open_memory_store(clock, random);
  auto opened = open_sqlite_store(folder.file("store.db"), clock, random);
  RC_ASSERT(opened.ok());
  Caller in_memory(*memory);
  Caller in_sqlite(**opened);
  History history(clock);
  for (const Move& move : moves) {
    Commit commit = history.commit_for(move);
    auto expected = in_memory.try_commit(commit);
    auto found = in_sqlite.try_commit(commit);
    RC_ASSERT(words_for(found) == words_for(expected));
    history.settle(move, expected);
  }
  RC_ASSERT(in_sqlite.all() == in_memory.all());
}

}  // namespace
}  // namespace belay::conformance
