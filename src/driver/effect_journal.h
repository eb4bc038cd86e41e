#pragma once
// driver/effect_journal.h - what is recorded of a run's effects, while a driver works on it.
//
// Threading: the executor's thread.

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "belay/context.h"

namespace belay {

class EffectJournal {
 public:
  // Rows that a node wants to be recorded before it goes on.
  struct Request {
    std::vector<EffectRow> rows;
    Completion<Result<Done>> recorded;
  };

  // `wake` has the driver look at the requests.
  explicit EffectJournal(std::function<void()> wake) : wake_(std::move(wake)) {}

  const EffectRow* find(const TaskId& task, std::string_view name) const;
  void remember(EffectRow row);
  std::size_t count(const TaskId& task) const;
  void forget(const TaskId& task) { rows_.erase(task); }

  // The node of `task` may begin the effect whose intent it has just had recorded.
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

// The journal as one attempt of one task has it.
class TaskJournal final : public Journal {
 public:
  TaskJournal(EffectJournal& journal, TaskId task) : journal_(journal), task_(task) {}

  const EffectRow* find(std::string_view name) const override { return journal_.find(task_, name); }
  // What is kept for the node's commit goes along.
  Task<Result<Done>> write(EffectRow row) override {
    std::vector<EffectRow> rows = take_kept();
    rows.push_back(std::move(row));
    return journal_.request(std::move(rows));
  }
  void keep(EffectRow row) override;
  bool may_begin(std::string_view name) override { return journal_.may_begin(task_, name); }

  // What is to be recorded with the node's commit.
  std::vector<EffectRow> take_kept() { return std::exchange(kept_, {}); }

 private:
  EffectJournal& journal_;
  TaskId task_;
  std::vector<EffectRow> kept_;
};

}  // namespace belay
