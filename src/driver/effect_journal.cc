#include "driver/effect_journal.h"

namespace belay {
namespace {

// Adds a row. It replaces an earlier row of the same effect.
void put(std::vector<EffectRow>& rows, EffectRow row) {
  for (EffectRow& known : rows) {
    if (known.name != row.name) continue;
    known = std::move(row);
    return;
  }
  rows.push_back(std::move(row));
}

}  // namespace

const EffectRow* EffectJournal::find(const TaskId& task, std::string_view name) const {
  auto rows = rows_.find(task);
  if (rows == rows_.end()) return nullptr;
  for (const EffectRow& row : rows->second) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::size_t EffectJournal::count(const TaskId& task) const {
  auto rows = rows_.find(task);
  return rows == rows_.end() ? 0 : rows->second.size();
}

void EffectJournal::remember(EffectRow row) {
  TaskId task = row.task;
  put(rows_[task], std::move(row));
}

bool EffectJournal::may_begin(const TaskId& task, std::string_view name) {
  return may_begin_.erase({task, std::string(name)}) > 0;
}

Task<Result<Done>> EffectJournal::request(std::vector<EffectRow> rows) {
  Request request;
  request.rows = rows;
  auto recorded = request.recorded;
  requests_.push_back(std::move(request));
  wake_();
  // Remembered only after the commit: an effect is permitted only when its intent is durable.
  auto answer = co_await recorded;
  if (!answer.ok()) co_return std::move(answer);
  for (EffectRow& row : rows) remember(std::move(row));
  co_return std::move(answer);
}

void TaskJournal::keep(EffectRow row) {
  journal_.remember(row);
  put(kept_, std::move(row));
}

}  // namespace belay
