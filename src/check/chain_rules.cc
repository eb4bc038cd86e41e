// I2 and I3: a run's commits are one chain, written by one owner at a time.

#include <map>

#include "check/replay.h"
#include "check/rules.h"

namespace belay::check {
namespace {

void check_links(const RunContents& run, Findings& findings) {
  // A chain that was pruned begins at its anchor, which names a parent that is gone.
  bool is_pruned = !run.checkpoints.empty() && run.checkpoints.front().seq > 1;
  std::uint64_t expected = is_pruned ? run.checkpoints.front().seq : 1;
  CheckpointId parent = is_pruned ? run.checkpoints.front().parent : CheckpointId();
  for (const CheckpointRow& checkpoint : run.checkpoints) {
    std::string commit = commit_text(checkpoint.seq);
    if (checkpoint.seq < expected) {
      findings.add(run, "there are two checkpoints of " + commit + ".");
    } else if (checkpoint.seq > expected) {
      findings.add(run, commit_text(expected) + " is missing before " + commit + ".");
    }
    expected = checkpoint.seq + 1;
    if (checkpoint.parent != parent) {
      findings.add(run, commit + " names another parent than the commit before it.");
    }
    if (!parent.is_null() && checkpoint.id <= parent) {
      findings.add(run, "the id of " + commit + " does not sort after that of its parent.");
    }
    parent = checkpoint.id;
  }
}

void check_hashes(const RunContents& run, Findings& findings) {
  Replay replay(run);
  while (replay.next()) {
    if (replay.chain_hash() == replay.checkpoint().chain_hash) continue;
    findings.add(run, commit_text(replay.checkpoint().seq) +
                          " does not fit its chain hash: stored bytes were changed.");
  }
}

void check_values(const RunContents& run, Findings& findings) {
  std::map<std::pair<std::string_view, std::string_view>, std::pair<std::uint64_t, std::int64_t>>
      newest;
  // A superstep under way keeps what its finished tasks wrote for the next commit.
  std::uint64_t last_seq = run.row.seq + (is_final(run.row.status) ? 0 : 1);
  for (const ValueRow& value : run.values) {
    std::string name = "the value of \"" + value.channel + "\" at " + commit_text(value.seq);
    if (value.seq == 0 || (value.space.empty() && value.seq > last_seq)) {
      findings.add(run, name + " is of a commit that is not there.");
    }
    auto& before = newest[{value.space, value.channel}];
    std::pair place(value.seq, value.index);
    if (before.first != 0 && place <= before) findings.add(run, name + " is there twice.");
    before = place;
    // A type that this Belay is too old for is not damage.
    auto text = json_in_envelope(value.envelope);
    bool is_readable = text.ok() ? parse_json(*text).ok() : text.error().code != ErrorCode::corrupt;
    if (!is_readable) findings.add(run, name + " can't be read.");
  }
}

void check_row(const RunContents& run, Findings& findings) {
  const RunRow& row = run.row;
  if (run.checkpoints.empty()) return findings.add(run, "it has no checkpoint.");
  const CheckpointRow& newest = run.checkpoints.back();
  auto agree = [&](bool same, std::string_view what) {
    if (!same) {
      findings.add(run, "its " + std::string(what) + " is not that of its newest checkpoint, " +
                            commit_text(newest.seq) + ".");
    }
  };
  agree(row.seq == newest.seq, "seq");
  agree(row.checkpoint == newest.id, "checkpoint");
  agree(row.epoch == newest.epoch, "epoch");
  agree(row.session == newest.session, "session");
  agree(row.status == newest.status, "status");
  agree(row.retry_count == newest.retry_count, "retryCount");
  agree(row.updated_at == newest.created_at, "time");
  auto next = engine::next_task_from(newest.next_tasks);
  if (next.ok() && next->task) agree(row.node == next->task->node, "node");
}

bool changes_owner(const CheckpointRow& checkpoint, const CheckpointRow& before) {
  switch (checkpoint.kind) {
    case CommitKind::claim:
    case CommitKind::decision:
    case CommitKind::expiry:
    case CommitKind::cancel:
    case CommitKind::release:
    case CommitKind::quarantine:
    case CommitKind::timer:
      return true;
    case CommitKind::failure:
      // Nobody works on a paused run: a decision that fails takes it over.
      return before.status == RunStatus::paused;
    case CommitKind::input:
    case CommitKind::node:
    case CommitKind::attempt:
    case CommitKind::pause:
    case CommitKind::fork:
      return false;
  }
  return false;
}

}  // namespace

void i2_one_unbroken_chain(const RunContents& run, const CheckScope&, Findings& findings) {
  check_links(run, findings);
  check_hashes(run, findings);
  check_values(run, findings);
  check_row(run, findings);
}

void i3_one_owner_at_a_time(const RunContents& run, const CheckScope&, Findings& findings) {
  std::map<std::uint64_t, SessionId> owners;
  const CheckpointRow* before = nullptr;
  for (const CheckpointRow& checkpoint : run.checkpoints) {
    std::string commit = commit_text(checkpoint.seq);
    std::uint64_t expected = before ? before->epoch : checkpoint.seq > 1 ? checkpoint.epoch : 1;
    if (before && changes_owner(checkpoint, *before)) ++expected;
    if (checkpoint.epoch != expected) {
      findings.add(run, commit + ", a " + std::string(name_of(checkpoint.kind)) +
                            ", has the epoch " + std::to_string(checkpoint.epoch) +
                            " in place of " + std::to_string(expected) + ".");
    }
    // The commit that gives a run up names nobody.
    SessionId& owner = owners[checkpoint.epoch];
    if (owner.is_null()) owner = checkpoint.session;
    if (!checkpoint.session.is_null() && checkpoint.session != owner) {
      findings.add(run, commit + " is of another session than the other commits of its epoch.");
    }
    before = &checkpoint;
  }
}

}  // namespace belay::check
