#include "store/commit_check.h"

#include <algorithm>
#include <tuple>

#include "belay/detail/expiry_envelope.h"
#include "belay/value.h"

namespace belay::store {
namespace {

Error refuse(std::string_view why) {
  return error(ErrorCode::invalid, "A commit is malformed: " + std::string(why) + ".");
}

bool same_place(const ValueRow& a, const ValueRow& b) {
  return a.seq == b.seq && a.index == b.index && a.channel == b.channel &&
         a.checkpoint_ns == b.checkpoint_ns && a.thread == b.thread;
}

bool is_before(const ValueRow* a, const ValueRow* b) {
  return std::tie(a->seq, a->index, a->channel, a->checkpoint_ns, a->thread) <
         std::tie(b->seq, b->index, b->channel, b->checkpoint_ns, b->thread);
}

// Compares all pairs of up to 8 values; sorts more.
bool any_value_twice(const std::vector<ValueRow>& values) {
  if (values.size() <= 8) {
    for (auto value = values.begin(); value != values.end(); ++value) {
      if (std::any_of(values.begin(), value,
                      [&](const ValueRow& other) { return same_place(other, *value); })) {
        return true;
      }
    }
    return false;
  }
  std::vector<const ValueRow*> sorted;
  sorted.reserve(values.size());
  for (const ValueRow& value : values) sorted.push_back(&value);
  if (!std::is_sorted(sorted.begin(), sorted.end(), is_before)) {
    std::sort(sorted.begin(), sorted.end(), is_before);
  }
  return std::adjacent_find(sorted.begin(), sorted.end(),
                            [](auto* a, auto* b) { return same_place(*a, *b); }) != sorted.end();
}

bool is_plain_text(std::string_view text) {
  return !first_invalid_utf8(text) && text.find('\0') == std::string_view::npos;
}

constexpr int ordinal_bits = 31;
constexpr std::uint64_t local_seq_mask = (std::uint64_t{1} << 32) - 1;

// Checks a value of a thread's state. `seq` is the last seq that it can have within its run. A
// pending write does not contain its run: the store writes its values to the thread of that run.
Result<Done> check_thread_value(const ValueRow& value, std::uint64_t seq, const CommitRows& rows,
                                bool imports) {
  std::string the_value = "the value of channel \"" + value.channel + "\" ";
  if (!value.run.is_null() || !value.checkpoint_ns.empty()) {
    return refuse(the_value + "is one of a thread, and names a run or a subgraph's space");
  }
  if (!rows.run) {
    std::uint64_t local = value.seq & local_seq_mask;
    if (value.seq > local_seq_mask && local > 0 && local <= seq) return Done{};
    return refuse(the_value + "has a seq beyond the commit");
  }
  if (rows.run->ordinal == 0 || value.thread != rows.run->thread) {
    return refuse(the_value + "names another thread");
  }
  std::uint64_t before = imports ? 0 : value_seq(*rows.run, 0);
  if (value.seq > before && value.seq <= value_seq(*rows.run, seq)) return Done{};
  return refuse(the_value + "has a seq beyond the commit");
}

Result<Done> check_value(const ValueRow& value, const RunId& run, std::uint64_t seq,
                         const CommitRows& rows) {
  if (value.run != run) {
    return refuse("the value of channel \"" + value.channel + "\" names another run");
  }
  if (value.seq == 0 || (value.checkpoint_ns.empty() && value.seq > seq)) {
    return refuse("the value of channel \"" + value.channel + "\" has a seq beyond the commit");
  }
  if (rows.run && rows.run->ordinal > 0 && value.checkpoint_ns.empty()) {
    return refuse("the value of channel \"" + value.channel +
                  "\" is of a later run of a thread, and does not name the thread");
  }
  return Done{};
}

// Checks the rows that pending writes and other commits of a run have in common. `seq` is that of
// the commit, or of the commit that the pending write precedes. Namespaces of subgraphs have their
// own seqs. A commit partway through a superstep (one with tasks) can contain the pending writes of
// completed tasks, whose seq is one higher.
Result<Done> check_children(const RunId& run, std::uint64_t seq, const CommitRows& rows,
                            bool imports = false) {
  std::uint64_t is_ahead = rows.checkpoint && !rows.tasks.empty() ? 1 : 0;
  for (const ValueRow& value : rows.values) {
    if (value.thread.empty()) {
      BELAY_CHECK(check_value(value, run, seq + is_ahead, rows));
    } else {
      BELAY_CHECK(check_thread_value(value, seq + is_ahead, rows, imports));
    }
  }
  if (any_value_twice(rows.values)) return refuse("a channel has two values");
  for (const TaskRow& task : rows.tasks) {
    if (task.run != run) return refuse("a task names another run");
  }
  for (const EffectRow& effect : rows.effects) {
    if (effect.run != run) return refuse("the effect \"" + effect.name + "\" names another run");
  }
  for (const CheckpointRow& checkpoint : rows.inner_checkpoints) {
    if (checkpoint.run != run || checkpoint.checkpoint_ns.empty()) {
      return refuse("a subgraph's checkpoint names another run, or no space");
    }
  }
  return Done{};
}

// Checks an imported run with all of its commits.
Result<Done> check_import(const RunRow& run, const CommitRows& rows) {
  BELAY_CHECK(check_children(run.run, run.seq, rows, true));
  // The values of its thread's state are those of all runs of the thread.
  if (run.ordinal > 0 && !rows.thread) return refuse("an import of a later run brings no thread");
  std::uint64_t seq = run.seq - rows.earlier.size();
  if (rows.earlier.size() >= run.seq) return refuse("an import has more checkpoints than commits");
  for (const CheckpointRow& earlier : rows.earlier) {
    if (earlier.run != run.run || !earlier.checkpoint_ns.empty() || earlier.seq != seq++) {
      return refuse("an import's checkpoints are of another run, or have a gap");
    }
  }
  std::pair<std::uint64_t, std::int64_t> last{0, -1};
  for (const EventRow& event : rows.events) {
    std::pair<std::uint64_t, std::int64_t> place{event.seq, event.index};
    if (event.run != run.run || event.seq > run.seq || place <= last) {
      return refuse("an import's events are of another run, or out of order");
    }
    last = place;
  }
  last = {0, -1};
  for (const OutboxRow& message : rows.outbox) {
    std::pair<std::uint64_t, std::int64_t> place{message.seq, message.index};
    if (message.run != run.run || message.seq > run.seq || place <= last) {
      return refuse("an import's messages are of another run, or out of order");
    }
    last = place;
  }
  for (const ApprovalRow& approval : rows.opened) {
    if (approval.tenant != run.tenant || approval.run != run.run || approval.seq > run.seq) {
      return refuse("an import's approval names another run");
    }
  }
  return Done{};
}

// The message of the expiry that the same commit records.
bool is_of_expiry(const OutboxRow& message, const CommitRows& rows) {
  return rows.decided && rows.decided->status == ApprovalStatus::expired &&
         message.run == rows.decided->run && message.seq == rows.decided->seq &&
         message.index == detail::expiry_message_index(rows.decided->interrupt);
}

Result<Done> check_advance(const RunRow& run, const CommitRows& rows) {
  if (!rows.earlier.empty()) return refuse("only an import brings earlier checkpoints");
  BELAY_CHECK(check_children(run.run, run.seq, rows));
  std::int64_t last_index = -1;
  for (const EventRow& event : rows.events) {
    if (event.run != run.run || event.seq != run.seq) {
      return refuse("an event names another run or seq");
    }
    if (event.index <= last_index) return refuse("events are not in the order of their index");
    last_index = event.index;
  }
  last_index = -1;
  for (const OutboxRow& message : rows.outbox) {
    if (is_of_expiry(message, rows)) continue;
    if (message.run != run.run || message.seq != run.seq) {
      return refuse("a message names another run or seq");
    }
    if (message.index <= last_index) return refuse("messages are not in the order of their index");
    last_index = message.index;
  }
  for (const ApprovalRow& approval : rows.opened) {
    if (approval.tenant != run.tenant || approval.run != run.run || approval.thread != run.thread ||
        approval.user != run.user || approval.graph != run.graph || approval.seq != run.seq) {
      return refuse("an opened approval names another run, thread, user, graph or seq");
    }
  }
  return Done{};
}

// A pending write does not change the run's row.
Result<Done> check_pending(const Commit& commit, const CommitRows& rows) {
  const RunGuard& guard = *commit.run_guard;
  if (rows.run || rows.checkpoint || rows.thread || !rows.events.empty() || rows.decided ||
      rows.ends_run || !rows.outbox.empty() || !rows.earlier.empty()) {
    return refuse("a pending write must not advance its run, decide, or send messages");
  }
  for (const RecordPut& put : rows.records) {
    if (put.expected_version) return refuse("a pending write expects no version of a record");
  }
  if (commit.approval_guard || commit.if_expired)
    return refuse("a pending write guards no approval");
  if (guard.seq == 0) return refuse("a pending write requires a run that has started");
  BELAY_CHECK(check_children(guard.pending_for, guard.seq + 1, rows));
  for (const ApprovalRow& approval : rows.opened) {
    if (approval.tenant != commit.tenant || approval.run != guard.pending_for ||
        approval.seq > guard.seq + 1) {
      return refuse("an opened approval names another run, or a seq beyond the commit");
    }
  }
  return Done{};
}

Result<Done> check_run_rows(const Commit& commit, const CommitRows& rows) {
  const RunGuard& guard = *commit.run_guard;
  if (!guard.pending_for.is_null()) return check_pending(commit, rows);
  if (!rows.run || !rows.checkpoint) return refuse("a guarded one needs a run and a checkpoint");
  const RunRow& run = *rows.run;
  const CheckpointRow& checkpoint = *rows.checkpoint;
  if (run.tenant != commit.tenant) return refuse("the run is another tenant's");
  if (commit.imports ? guard.seq != 0 || guard.epoch != 0 : run.seq != guard.seq + 1) {
    return refuse("the run's seq does not follow the guard's");
  }
  if (run.epoch < guard.epoch) return refuse("the run's epoch is below the guard's");
  if (checkpoint.run != run.run || checkpoint.seq != run.seq) {
    return refuse("the checkpoint is of another run or seq");
  }
  if (!checkpoint.checkpoint_ns.empty()) return refuse("the checkpoint is of a subgraph's space");
  if (checkpoint.state_seq > checkpoint.seq) return refuse("the checkpoint's state is beyond it");
  if (checkpoint.id != run.checkpoint) return refuse("the run names another checkpoint");
  if (checkpoint.status != run.status) return refuse("the checkpoint has another run status");
  if (rows.ends_run && !is_final(run.status)) return refuse("it ends a run that has not ended");
  bool is_later = run.ordinal != 0 && !commit.imports;
  if (rows.thread && (guard.seq != 0 || is_later || rows.thread->thread != run.thread)) {
    return refuse("a thread can only be created by its first run's first commit");
  }
  if (run.ordinal < 0 || run.ordinal >> ordinal_bits != 0) {
    return refuse("the run's ordinal is out of range");
  }
  return commit.imports ? check_import(run, rows) : check_advance(run, rows);
}

Result<Done> check_unguarded(const Commit& commit, const CommitRows& rows) {
  if (rows.run || rows.checkpoint || !rows.values.empty() || !rows.events.empty() ||
      !rows.opened.empty() || rows.ends_run || !rows.tasks.empty() ||
      !rows.inner_checkpoints.empty() || !rows.earlier.empty()) {
    return refuse("one without a guard must not write rows of a run");
  }
  if (!commit.message_guard) {
    bool is_expiry = rows.outbox.size() <= 1 &&
                     std::all_of(rows.outbox.begin(), rows.outbox.end(),
                                 [&](const auto& message) { return is_of_expiry(message, rows); });
    if (!is_expiry) return refuse("it changes a message that it does not guard");
    return Done{};
  }
  const OutboxGuard& guard = *commit.message_guard;
  if (rows.outbox.size() != 1 || rows.outbox[0].run != guard.run ||
      rows.outbox[0].seq != guard.seq || rows.outbox[0].index != guard.index) {
    return refuse("one that guards a message must contain the new row of this message");
  }
  return Done{};
}

Result<Done> check_texts(const ThreadRow& thread) {
  if (is_plain_text(thread.title) && is_plain_text(thread.metadata)) return Done{};
  return refuse("the title or metadata of the thread \"" + thread.thread.text +
                "\" is not UTF-8, or contains U+0000");
}

Result<Done> check_threads(const Commit& commit, const CommitRows& rows) {
  if (rows.thread) {
    if (rows.thread->tenant != commit.tenant) return refuse("the thread is another tenant's");
    BELAY_CHECK(check_texts(*rows.thread));
  }
  if (!rows.thread_edit) return Done{};
  if (rows.thread_edit->row.tenant != commit.tenant) {
    return refuse("the edited thread is another tenant's");
  }
  if (commit.approval_guard || commit.message_guard) {
    return refuse("one that edits a thread must not guard an approval or a message");
  }
  return check_texts(rows.thread_edit->row);
}

Result<Done> check_rows(const Commit& commit, const CommitRows& rows) {
  for (const RecordPut& put : rows.records) {
    if (!put.user.empty()) BELAY_CHECK(check_name("user of a record", put.user.text));
    BELAY_CHECK(check_name("collection of a record", put.collection));
    BELAY_CHECK(check_name("key of a record", put.key));
    for (const auto& [field, value] : put.indexed) {
      if (!is_plain_text(field) || !is_plain_text(value)) {
        return refuse("an indexed field of the record \"" + put.key +
                      "\" is not UTF-8, or contains U+0000");
      }
      if (is_ordered(field) && value.size() > limits::sort_value_bytes_max) {
        return refuse("the value of an ordered index of the record \"" + put.key +
                      "\" is longer than " + std::to_string(limits::sort_value_bytes_max) +
                      " bytes");
      }
    }
  }
  BELAY_CHECK(check_threads(commit, rows));
  if (rows.decided &&
      (!commit.approval_guard || rows.decided->interrupt != commit.approval_guard->interrupt)) {
    return refuse("it decides an approval that it does not guard");
  }
  if (commit.run_guard) {
    bool tidies = rows.preserve || rows.thread_edit || !rows.prune.empty() ||
                  !rows.rewrites.empty() || !rows.delete_blobs.empty() || !rows.queues.empty();
    if (tidies) {
      return refuse(
          "one with a guard must not preserve, edit a thread, prune, rewrite or set a queue");
    }
    return check_run_rows(commit, rows);
  }
  return check_unguarded(commit, rows);
}

Result<Done> check_places(const Commit& commit) {
  bool begins = commit.run_guard && commit.run_guard->pending_for.is_null() && !commit.imports;
  if (!commit.concurrency.empty() && !begins) {
    return refuse("it has a concurrency guard, but starts no run");
  }
  for (const ConcurrencyGuard& guard : commit.concurrency) {
    if (guard.limit == 0) return refuse("a concurrency guard has the limit 0");
  }
  for (const QueueRow& queue : commit.rows.queues) {
    if (queue.tenant != commit.tenant) return refuse("a queue is another tenant's");
    if (queue.name.empty()) return refuse("a queue has no name");
  }
  return Done{};
}

// The first commit of a later run of a thread, and no other one, guards the thread.
Result<Done> check_thread_guard(const Commit& commit) {
  bool is_first = commit.run_guard && commit.run_guard->pending_for.is_null() && !commit.imports &&
                  commit.run_guard->seq == 0 && commit.run_guard->epoch == 0;
  bool is_later = is_first && commit.rows.run && commit.rows.run->ordinal > 0;
  if (is_later && !commit.thread_guard) {
    return refuse("the first commit of a later run does not guard its thread");
  }
  if (!commit.thread_guard) return Done{};
  if (!is_later) return refuse("it guards a thread, but is not the first commit of a later run");
  if (commit.thread_guard->thread != commit.rows.run->thread) {
    return refuse("it guards another thread than that of its run");
  }
  return Done{};
}

}  // namespace

Result<Done> check_commit(const Commit& commit) {
  if (commit.run_guard && commit.message_guard) return refuse("it guards both a run and a message");
  if (commit.imports && (!commit.run_guard || commit.approval_guard || commit.if_expired ||
                         !commit.run_guard->pending_for.is_null())) {
    return refuse("an import is the first commit of a run, and guards no approval");
  }
  if (commit.run_guard && commit.approval_guard && commit.approval_guard->run_is_active) {
    return refuse("a decision for an active run must not guard the run");
  }
  BELAY_CHECK(check_places(commit));
  BELAY_CHECK(check_thread_guard(commit));
  BELAY_CHECK(check_rows(commit, commit.rows));
  if (!commit.if_expired) return Done{};
  if (!commit.approval_guard || commit.approval_guard->expiry != ApprovalGuard::Expiry::ahead) {
    return refuse("it contains rows for an expiry, but guards no approval's expiry");
  }
  if (commit.rows.run && commit.if_expired->run &&
      commit.if_expired->run->run != commit.rows.run->run) {
    return refuse("its two outcomes are of different runs");
  }
  return check_rows(commit, *commit.if_expired);
}

Error no_such_thread(const ThreadId& thread) {
  return error(ErrorCode::invalid,
               "The thread \"" + thread.text + "\" does not exist. Create it with its first run.");
}

Error approval_exists(const InterruptId& interrupt) {
  return error(ErrorCode::conflict,
               "Approval " + interrupt.text() + " already exists. Use a new id.");
}

}  // namespace belay::store
