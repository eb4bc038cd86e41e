// The part of Replay that compares replayed commits with the recorded ones.

#include <algorithm>

#include "belay/detail/expiry_envelope.h"
#include "engine/next_task.h"
#include "engine/run_queries.h"
#include "events/commit_events.h"
#include "replay/divergence.h"
#include "replay/replay.h"

namespace belay {

using engine::NodeTask;

namespace {

// The text of the next tasks without due times, which depend on time and jitter, and without the
// materials, which are those of the program that executed the run.
std::string comparable_tasks(const std::string& stored, const Digest& version) {
  std::string text = engine::without_materials(stored, version);
  auto tasks = parse_json(text);
  if (!tasks.ok() || !tasks->as_array()) return text;
  for (Value& each : *tasks->as_array()) {
    if (each.as_object()) each.as_object()->erase("due");
  }
  return to_json(*tasks);
}

std::vector<std::string> texts_of(const std::vector<EventRow>& events, std::uint64_t seq) {
  std::vector<std::string> texts;
  for (const EventRow& row : events) {
    if (row.seq == seq && row.index > 0) texts.push_back(row.type + " " + row.body);
  }
  return texts;
}

std::vector<std::string> texts_of(const std::vector<OutboxRow>& messages, std::uint64_t seq) {
  std::vector<std::string> texts;
  for (const OutboxRow& row : messages) {
    // The message of an expiry is compared when its approval is requested.
    if (row.seq != seq || detail::is_expiry_message(row)) continue;
    auto body = json_in_envelope(row.envelope);
    texts.push_back(row.topic + " " + (body.ok() ? std::string(*body) : "unreadable"));
  }
  return texts;
}

// Removes the id of a turn of an agent that an older program recorded without one. `replayed`: the
// turn, or a list of turns.
void remove_unrecorded_id(const Value& recorded, Value& replayed) {
  constexpr std::string_view member = "message_id";
  if (Value::Object* turn = replayed.as_object()) {
    if (recorded.as_object() && !recorded.find(member)) turn->erase(std::string(member));
    return;
  }
  Value::Array* turns = replayed.as_array();
  const Value::Array* before = recorded.as_array();
  for (std::size_t i = 0; turns && before && i < std::min(turns->size(), before->size()); ++i) {
    if ((*turns)[i].as_object()) remove_unrecorded_id((*before)[i], (*turns)[i]);
  }
}

// Compares the contents of two envelopes.
bool is_same_value(std::string_view recorded, std::string_view replayed) {
  if (recorded == replayed) return true;
  auto before = parse_json(recorded);
  auto again = parse_json(replayed);
  if (!before.ok() || !again.ok()) return false;
  remove_unrecorded_id(*before, *again);
  return *before == *again;
}

std::string message_text(const ApprovalRow& approval) {
  auto terms = terms_of(approval);
  if (!terms.ok()) return "unreadable";
  if (!terms->on_expiry) return "none";
  return terms->on_expiry->topic + " " + to_json(terms->on_expiry->data);
}

void add(std::vector<std::string>& to, std::vector<std::string> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  return all.empty() ? "none" : all;
}

}  // namespace

void Replay::differs(std::string what, std::string recorded, std::string replayed,
                     std::string node) {
  if (divergence_) return;
  Divergence found;
  found.seq = target().seq;
  if (node.empty()) node = target().node;
  found.node = std::move(node);
  found.what = std::move(what);
  found.recorded = std::move(recorded);
  found.replayed = std::move(replayed);
  divergence_ = std::move(found);
}

// With Durability::exit, steps whose commit the recorded run deferred have no recorded commit.
bool Replay::is_passed_over(const CheckpointRow& replayed) const {
  if (!is_loose_ || is_final(replayed.status)) return false;
  return replayed.superstep < target().superstep || replayed.kind != target().kind;
}

void Replay::note_nodes() {
  if (run_.tasks.empty()) return;
  nodes_.clear();
  for (const NodeTask& task : run_.tasks) nodes_.push_back(task.node->name);
}

void Replay::compare(const Commit& commit) {
  const CheckpointRow& recorded = target();
  const CheckpointRow& replayed = *commit.rows.checkpoint;
  add(events_, texts_of(commit.rows.events, replayed.seq));
  add(messages_, texts_of(commit.rows.outbox, replayed.seq));
  if (is_passed_over(replayed)) return;
  // If the same nodes have ended, a changed state might have changed the kind of the commit: the
  // state is compared first, so that the report names the first difference.
  bool is_of_same_nodes = recorded.node == replayed.node;
  if (is_of_same_nodes) compare_state(commit.rows);
  expect("kind of commit", std::string(name_of(recorded.kind)),
         std::string(name_of(replayed.kind)));
  if (!is_loose_) expect("nodes", recorded.node, replayed.node);
  if (!is_of_same_nodes) compare_state(commit.rows);
  expect("events", joined(texts_of(recorded_.events, recorded.seq)),
         joined(std::exchange(events_, {})));
  expect("messages", joined(texts_of(recorded_.messages, recorded.seq)),
         joined(std::exchange(messages_, {})));
  for (const ApprovalRow& row : commit.rows.opened) {
    auto asked = std::find_if(recorded_.approvals.begin(), recorded_.approvals.end(),
                              [&](const auto& each) { return each.interrupt == row.interrupt; });
    if (asked == recorded_.approvals.end()) {
      differs("question", "none", row.question, row.node);
    } else {
      expect("message of the expiry", message_text(*asked), message_text(row), row.node);
    }
  }
  if (!is_loose_) {
    bool is_older = recorded.next_tasks.find("\"decisions\"") == std::string::npos;
    const Digest& version = recorded_.row.graph_hash;
    std::string tasks = comparable_tasks(replayed.next_tasks, version);
    expect("next tasks", comparable_tasks(recorded.next_tasks, version),
           is_older ? engine::without_decisions(tasks) : tasks,
           node_with_different_targets(graph_, nodes_, recorded.next_tasks, replayed.next_tasks));
  }
  expect("status", std::string(name_of(recorded.status)), std::string(name_of(replayed.status)));
  if (is_final(recorded.status)) {
    expect("outcome", recorded_.row.outcome, run_.row.outcome);
    compare_error();
  }
  if (divergence_) return;
  ++compared_;
  // A retry starts at its recorded due time.
  if (recorded.kind != CommitKind::attempt || run_.tasks.empty()) return;
  auto next = engine::next_tasks_from(recorded.next_tasks);
  if (next.ok() && next->tasks.size() == 1) run_.tasks.front().due = next->tasks.front().due;
}

// Compares the error code always, and the text only if a node returned the error: Belay's own
// messages can differ between versions, and a run recorded by an older version must still match.
void Replay::compare_error() {
  bool is_of_node = node_errors_.contains(run_.row.error);
  bool is_same = recorded_.row.error_code == run_.row.error_code &&
                 (!is_of_node || recorded_.row.error == run_.row.error);
  if (is_same) return;
  if (recorded_.row.error_code == run_.row.error_code)
    return differs("error", recorded_.row.error, run_.row.error);
  differs("error", recorded_.row.error_code + ": " + recorded_.row.error,
          run_.row.error_code + ": " + run_.row.error);
}

// Compares the channels that the recorded or the replayed commit has changed.
void Replay::compare_state(const CommitRows& rows) {
  const CheckpointRow& now = target();
  std::uint64_t before = compared_ == 0 ? 0 : recorded_.commits()[compared_ - 1].state_seq;
  std::set<std::string> changed;
  std::vector<ValueRow> recorded;
  for (const ValueRow& row : recorded_.values[{}]) {
    if (row.seq <= before || row.seq > now.state_seq) continue;
    recorded.push_back(row);
    changed.insert(row.channel);
    auto value = value_in(row.envelope);
    if (row.kind == WriteOp::reduce || !value.ok()) continue;
    engine::fold(row.kind, *std::move(value), (*state_.as_object())[row.channel]);
  }
  if (now.kind == CommitKind::failure || now.state_seq < now.seq) return;
  for (const ValueRow& row : rows.values) {
    if (row.checkpoint_ns.empty()) changed.insert(row.channel);
  }
  std::string node = node_with_different_writes(nodes_, recorded, std::exchange(written_, {}));
  for (const std::string& name : changed) {
    for (const ChannelType& channel : graph_.state->channels) {
      if (channel.name != name) continue;
      Encoder text;
      channel.encode(run_.state.get(), text, nullptr);
      auto value = parse_json(text.text);
      if (value.ok()) remove_unrecorded_id(state_[name], *value);
      expect("channel " + name, to_json(state_[name]), value.ok() ? to_json(*value) : text.problem,
             node);
    }
  }
}

// Compares the commits of subgraphs. If a commit is not recorded, the run diverged earlier, and the
// comparison of the run's own commits reports that.
void Replay::compare_inner(const CommitRows& rows) {
  for (const ValueRow& replayed : rows.values) {
    if (replayed.checkpoint_ns.empty()) written_.push_back(replayed);
  }
  for (const CheckpointRow& replayed : rows.inner_checkpoints) {
    const CheckpointRow* recorded = recorded_.checkpoint(replayed.checkpoint_ns, replayed.seq);
    if (!recorded || divergence_) continue;
    bool is_same = recorded->kind == replayed.kind && recorded->node == replayed.node;
    if (!is_same) {
      differs("nodes in " + replayed.checkpoint_ns,
              std::string(name_of(recorded->kind)) + " " + recorded->node,
              std::string(name_of(replayed.kind)) + " " + replayed.node, replayed.node);
    }
    const Digest& version = recorded_.row.graph_hash;
    std::string tasks = comparable_tasks(recorded->next_tasks, version);
    std::string again = comparable_tasks(replayed.next_tasks, version);
    if (tasks != again) {
      differs("next tasks in " + replayed.checkpoint_ns, tasks, again, replayed.node);
    }
  }
  for (const ValueRow& replayed : rows.values) {
    if (replayed.checkpoint_ns.empty() || replayed.kind == WriteOp::reduce) continue;
    for (const ValueRow& recorded : recorded_.values[replayed.checkpoint_ns]) {
      bool is_it = recorded.channel == replayed.channel && recorded.seq == replayed.seq &&
                   recorded.index == replayed.index && recorded.kind == replayed.kind;
      auto text = json_in_envelope(recorded.envelope);
      auto other = json_in_envelope(replayed.envelope);
      if (!is_it || !text.ok() || !other.ok() || is_same_value(*text, *other)) continue;
      differs("channel " + replayed.channel + " in " + replayed.checkpoint_ns, std::string(*text),
              std::string(*other),
              replayed.checkpoint_ns.substr(0, replayed.checkpoint_ns.find(':')));
    }
  }
}

}  // namespace belay
