#include "store/commit_check.h"

#include <algorithm>

#include "belay/value.h"

namespace belay::store {
namespace {

Error refuse(std::string_view why) {
  return error(ErrorCode::invalid, "A commit is malformed: " + std::string(why) + ".");
}

// Adjacent in sorted order, or quadratic for the few channels that a state has.
bool any_channel_twice(const std::vector<ValueRow>& values) {
  auto same = [](const ValueRow& a, const ValueRow& b) {
    return a.channel == b.channel && a.space == b.space;
  };
  if (values.size() <= 8) {
    for (auto value = values.begin(); value != values.end(); ++value) {
      if (std::any_of(values.begin(), value, [&](auto& other) { return same(other, *value); })) {
        return true;
      }
    }
    return false;
  }
  std::vector<const ValueRow*> sorted;
  for (const ValueRow& value : values) sorted.push_back(&value);
  std::sort(sorted.begin(), sorted.end(), [](const ValueRow* a, const ValueRow* b) {
    return std::pair<std::string_view, std::string_view>(a->channel, a->space) <
           std::pair<std::string_view, std::string_view>(b->channel, b->space);
  });
  return std::adjacent_find(sorted.begin(), sorted.end(),
                            [&](auto* a, auto* b) { return same(*a, *b); }) != sorted.end();
}

bool is_plain_text(std::string_view text) {
  return !first_invalid_utf8(text) && text.find('\0') == std::string_view::npos;
}

Result<Done> check_children(const RunRow& run, const CommitRows& rows) {
  for (const ValueRow& value : rows.values) {
    if (value.run != run.run || value.seq != run.seq) {
      return refuse("the value of channel \"" + value.channel + "\" names another run or seq");
    }
  }
  if (any_channel_twice(rows.values)) return refuse("a channel has two values");
  std::int64_t last_index = -1;
  for (const EventRow& event : rows.events) {
    if (event.run != run.run || event.seq != run.seq) {
      return refuse("an event names another run or seq");
    }
    if (event.index <= last_index) return refuse("events are not in the order of their index");
    last_index = event.index;
  }
  for (const ApprovalRow& approval : rows.opened) {
    if (approval.tenant != run.tenant || approval.run != run.run || approval.thread != run.thread ||
        approval.user != run.user || approval.graph != run.graph || approval.seq != run.seq) {
      return refuse("an opened approval names another run, thread, user, graph or seq");
    }
  }
  return Done{};
}

Result<Done> check_run_rows(const Commit& commit, const CommitRows& rows) {
  const RunGuard& guard = *commit.guard;
  if (!rows.run || !rows.checkpoint) return refuse("a guarded one needs a run and a checkpoint");
  const RunRow& run = *rows.run;
  const CheckpointRow& checkpoint = *rows.checkpoint;
  if (run.tenant != commit.tenant) return refuse("the run is another tenant's");
  if (run.seq != guard.seq + 1) return refuse("the run's seq does not follow the guard's");
  if (run.epoch < guard.epoch) return refuse("the run's epoch is below the guard's");
  if (checkpoint.run != run.run || checkpoint.seq != run.seq) {
    return refuse("the checkpoint is of another run or seq");
  }
  if (checkpoint.id != run.checkpoint) return refuse("the run names another checkpoint");
  if (checkpoint.status != run.status) return refuse("the checkpoint says another run status");
  if (rows.thread && (guard.seq != 0 || rows.thread->thread != run.thread)) {
    return refuse("a thread can only be created by its first run's first commit");
  }
  return check_children(run, rows);
}

Result<Done> check_rows(const Commit& commit, const CommitRows& rows) {
  for (const RecordPut& put : rows.records) {
    for (const auto& [field, value] : put.indexed) {
      if (!is_plain_text(field) || !is_plain_text(value)) {
        return refuse("an indexed field of the record \"" + put.key +
                      "\" is not UTF-8, or contains U+0000");
      }
    }
  }
  if (rows.thread && rows.thread->tenant != commit.tenant) {
    return refuse("the thread is another tenant's");
  }
  if (rows.decided && (!commit.approval || rows.decided->interrupt != commit.approval->interrupt)) {
    return refuse("it decides an approval that it does not guard");
  }
  if (commit.guard) return check_run_rows(commit, rows);
  if (rows.run || rows.checkpoint || !rows.values.empty() || !rows.events.empty() ||
      !rows.opened.empty() || rows.close_approvals) {
    return refuse("one without a guard can't write anything of a run");
  }
  return Done{};
}

}  // namespace

Result<Done> check_commit(const Commit& commit) {
  BELAY_CHECK(check_rows(commit, commit.rows));
  if (!commit.when_expired) return Done{};
  if (!commit.approval || commit.approval->expiry != ApprovalGuard::Expiry::ahead) {
    return refuse("it says what to write on expiry, but guards no approval's expiry");
  }
  if (commit.guard && commit.when_expired->run && commit.rows.run &&
      commit.when_expired->run->run != commit.rows.run->run) {
    return refuse("its two outcomes are of different runs");
  }
  return check_rows(commit, *commit.when_expired);
}

Error no_such_thread(const ThreadId& thread) {
  return error(ErrorCode::invalid,
               "The thread \"" + thread.text + "\" does not exist; create it with its first run.");
}

Error approval_exists(const InterruptId& interrupt) {
  return error(ErrorCode::conflict,
               "An approval with the id " + interrupt.text() + " exists; ask under a new id.");
}

}  // namespace belay::store
