// I2 and I3: a run's commits are one chain, written by one owner at a time.

#include <map>
#include <set>

#include "base/in_quotes.h"
#include "check/replay.h"
#include "check/rules.h"

namespace belay::check {
namespace {

void check_links(const RunContents& run, const SpaceContents& checkpoint_ns, Findings& findings) {
  // A pruned chain starts at its anchor, whose parent was deleted.
  bool is_pruned = !checkpoint_ns.checkpoints.empty() && checkpoint_ns.checkpoints.front().seq > 1;
  std::uint64_t expected = is_pruned ? checkpoint_ns.checkpoints.front().seq : 1;
  CheckpointId parent = is_pruned ? checkpoint_ns.checkpoints.front().parent : CheckpointId();
  std::uint64_t state_seq = 0;
  for (const CheckpointRow& checkpoint : checkpoint_ns.checkpoints) {
    std::string commit = commit_text(checkpoint);
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
    // state_seq is that of the commit itself, or does not change while a superstep is in progress.
    bool is_first = &checkpoint == &checkpoint_ns.checkpoints.front();
    if (checkpoint.state_seq != checkpoint.seq && checkpoint.state_seq != state_seq && !is_first) {
      findings.add(run, commit + " has the state of a commit that is neither it nor its parent's.");
    }
    state_seq = checkpoint.state_seq;
  }
}

void check_hashes(const RunContents& run, const SpaceContents& checkpoint_ns, Findings& findings) {
  Replay replay(run, checkpoint_ns);
  while (replay.next()) {
    if (replay.chain_hash() == replay.checkpoint().chain_hash) continue;
    findings.add(run, commit_text(replay.checkpoint()) +
                          " does not match its chain hash: stored bytes were changed.");
  }
}

void check_values(const RunContents& run, const SpaceContents& checkpoint_ns, Findings& findings) {
  std::map<std::string_view, std::pair<std::uint64_t, std::int64_t>> newest;
  std::set<std::uint64_t> seqs;  // the permitted seqs of values
  if (!checkpoint_ns.checkpoints.empty()) seqs.insert(1);
  for (const CheckpointRow& each : checkpoint_ns.checkpoints) seqs.insert(each.state_seq + 1);
  std::uint64_t anchor = 0;
  if (!checkpoint_ns.checkpoints.empty() && checkpoint_ns.checkpoints.front().seq > 1) {
    anchor = checkpoint_ns.checkpoints.front().state_seq;
  }
  for (const ValueRow& value : checkpoint_ns.values) {
    std::string name = "the value of \"" + value.channel + "\" at " + commit_text(value.seq);
    if (value.seq > anchor && !seqs.contains(value.seq)) {
      findings.add(run, name + " belongs to a commit that does not exist.");
    }
    auto& before = newest[value.channel];
    std::pair place(value.seq, value.index);
    if (before.first != 0 && place <= before) findings.add(run, name + " exists twice.");
    before = place;
    // An envelope type of a newer Belay is not damage.
    auto text = json_in_envelope(value.envelope);
    bool is_readable = text.ok() ? parse_json(*text).ok() : text.error().code != ErrorCode::corrupt;
    if (!is_readable) findings.add(run, name + " cannot be read.");
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
  Replay replay(run);
  while (replay.next()) continue;
  if (replay.tasks() && !replay.tasks()->tasks.empty()) {
    agree(row.node == nodes_text(*replay.tasks()), "node");
  }
  bool has_reason = row.status == RunStatus::paused || row.status == RunStatus::quarantined;
  if (row.reason.empty() == has_reason) {
    findings.add(run, "it is " + std::string(name_of(row.status)) +
                          (has_reason ? " without a reason." : ", but has a reason to wait."));
  }
  if (row.status == RunStatus::paused && !row.reason.empty() && !pause_reason(row)) {
    findings.add(run,
                 "it is paused for the reason " + in_quotes(row.reason) + ", which is unknown.");
  }
}

// All commits of an epoch have the same session. The commit by which a run loses its owner has no
// session.
void check_owner(const RunContents& run, const CheckpointRow& checkpoint,
                 std::map<std::uint64_t, SessionId>& owners, Findings& findings) {
  SessionId& owner = owners[checkpoint.epoch];
  if (owner.is_null()) owner = checkpoint.session;
  if (!checkpoint.session.is_null() && checkpoint.session != owner) {
    findings.add(run, commit_text(checkpoint) +
                          " is of another session than the other commits of its epoch.");
  }
}

// A decision or a timer claims a paused run. Of a running one, its owner writes the commit.
bool changes_owner(const RunRow& run, const CheckpointRow& checkpoint,
                   const CheckpointRow& before) {
  switch (checkpoint.kind) {
    case CommitKind::claim:
    case CommitKind::cancel:
    case CommitKind::quarantine:
    case CommitKind::consent:
      return true;
    case CommitKind::failure:
      // The claim of a run that waited for earlier runs of its thread, and could not begin.
      if (run.ordinal > 0 && checkpoint.superstep == 0) return true;
      [[fallthrough]];
    default:
      // A paused run has no owner: its next commit makes another session the owner.
      return before.status == RunStatus::paused;
  }
}

}  // namespace

void i2_one_unbroken_chain(const RunContents& run, const CheckScope&, Findings& findings) {
  for (const SpaceContents* checkpoint_ns : spaces_of(run)) {
    check_links(run, *checkpoint_ns, findings);
    check_hashes(run, *checkpoint_ns, findings);
    check_values(run, *checkpoint_ns, findings);
  }
  check_row(run, findings);
}

void i3_one_owner_at_a_time(const RunContents& run, const CheckScope&, Findings& findings) {
  std::map<std::uint64_t, SessionId> owners;
  const CheckpointRow* before = nullptr;
  for (const CheckpointRow& checkpoint : run.checkpoints) {
    std::string commit = commit_text(checkpoint.seq);
    std::uint64_t expected = before ? before->epoch : checkpoint.seq > 1 ? checkpoint.epoch : 1;
    bool changes = before && changes_owner(run.row, checkpoint, *before);
    if (changes) ++expected;
    if (checkpoint.epoch != expected) {
      findings.add(run, commit + ", a " + std::string(name_of(checkpoint.kind)) +
                            ", has the epoch " + std::to_string(checkpoint.epoch) + " instead of " +
                            std::to_string(expected) + ".");
    }
    check_owner(run, checkpoint, owners, findings);
    before = &checkpoint;
  }
  // The commits of a subgraph belong to the run's owner.
  for (const auto& [name, checkpoint_ns] : run.inner) {
    std::uint64_t epoch = 1;
    for (const CheckpointRow& checkpoint : checkpoint_ns.checkpoints) {
      if (checkpoint.epoch < epoch || checkpoint.epoch > run.row.epoch) {
        findings.add(run, commit_text(checkpoint) + " has the epoch " +
                              std::to_string(checkpoint.epoch) + " after " + std::to_string(epoch) +
                              ".");
      }
      epoch = checkpoint.epoch;
      check_owner(run, checkpoint, owners, findings);
    }
  }
}

}  // namespace belay::check
