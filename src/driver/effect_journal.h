#pragma once
// driver/effect_journal.h - the in-memory journal of the effects of a run that is executed.
//
// Threading: the executor's thread.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "belay/context.h"

namespace belay {

class EffectJournal {
 public:
  // Rows that must be durable before a node continues.
  struct Request {
    std::vector<EffectRow> rows;
    Completion<Result<Done>> recorded;
  };

  // `wake` notifies the driver of new requests.
  explicit EffectJournal(std::function<void()> wake) : wake_(std::move(wake)) {}

  const EffectRow* find(const TaskId& task, std::string_view name) const;
  void remember(EffectRow row);
  std::size_t count(const TaskId& task) const;
  void forget(const TaskId& task) { rows_.erase(task); }

  // The intent of this effect was committed for the attempt in progress: may_begin() then returns
  // true, once. Without that, an intent in the journal means that an earlier attempt might have
  // called the effect, which is therefore uncertain.
  void let_begin(const TaskId& task, std::string name) {
    may_begin_.emplace(task, std::move(name));
  }
  bool may_begin(const TaskId& task, std::string_view name);

  Task<Result<Done>> request(std::vector<EffectRow> rows);
  void add_request(Request request) { requests_.push_back(std::move(request)); }
  bool has_requests() const { return !requests_.empty(); }
  std::deque<Request> take_requests() { return std::exchange(requests_, {}); }

 private:
  std::function<void()> wake_;
  std::map<TaskId, std::vector<EffectRow>> rows_;
  std::set<std::pair<TaskId, std::string>> may_begin_;
  std::deque<Request> requests_;
};

// The journal as seen by one attempt of a task.
class TaskJournal final : public Journal {
 public:
  // The arguments must outlive it.
  TaskJournal(EffectJournal& journal, TaskId task, Clock& clock)
      : journal_(journal), task_(task), clock_(clock) {}

  const EffectRow* find(std::string_view name) const override { return journal_.find(task_, name); }
  // Also writes the rows that were kept for the node's commit.
  Task<Result<Done>> write(EffectRow row) override {
    std::vector<EffectRow> rows = take_kept();
    rows.push_back(std::move(row));
    return journal_.request(std::move(rows));
  }
  void keep(EffectRow row) override;
  bool may_begin(std::string_view name) override { return journal_.may_begin(task_, name); }
  std::optional<Instant> present() const override { return clock_.now(); }

  // Returns and clears the rows for the node's commit.
  std::vector<EffectRow> take_kept() { return std::exchange(kept_, {}); }

 private:
  EffectJournal& journal_;
  TaskId task_;
  Clock& clock_;
  std::vector<EffectRow> kept_;
};

}  // namespace belay
