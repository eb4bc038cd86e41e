#include "store/envelope_subject.h"

#include <algorithm>
#include <array>

namespace belay::store {
namespace {

constexpr std::string_view chain_subject = "chain hash";

std::string subject_of(std::string_view what, const CheckpointRow& checkpoint) {
  std::string subject(what);
  subject += ' ' + checkpoint.run.text();
  add(subject, checkpoint.checkpoint_ns);
  add(subject, checkpoint.seq);
  return subject + ' ' + checkpoint.id.text();
}

// The store itself changes `intended` to `uncertain` if a run ends while its effects are running.
EffectStatus as_sealed(EffectStatus status) {
  return status == EffectStatus::uncertain ? EffectStatus::intended : status;
}

}  // namespace

void add(std::string& subject, std::string_view text) {
  subject += ' ';
  subject += std::to_string(text.size());
  subject += ':';
  subject += text;
}

void add(std::string& subject, std::uint64_t number) {
  subject += ' ';
  subject += std::to_string(number);
}

void add(std::string& subject, std::int64_t number) {
  subject += ' ';
  subject += std::to_string(number);
}

void add(std::string& subject, Instant at) {
  add(subject, std::int64_t{at.time_since_epoch().count()});
}

void add(std::string& subject, const Uuid& id) { subject += ' ' + id.text(); }

Subject subject_of(const ValueRow& value) {
  std::string subject = "value " + value.run.text();
  if (value.thread.empty()) {
    add(subject, value.checkpoint_ns);
  } else {
    subject = "thread-value";
    add(subject, value.thread.text);
  }
  add(subject, value.channel);
  add(subject, value.seq);
  add(subject, value.index);
  add(subject, name_of(value.kind));
  return subject;
}

Subject subject_of(const TaskRow& task) {
  std::string subject = "task " + task.run.text();
  add(subject, task.checkpoint_ns);
  add(subject, task.superstep);
  add(subject, task.position);
  std::string bound = task.task.text();
  add(bound, name_of(task.status));
  return {std::move(subject), std::move(bound)};
}

// Without the attempt, because a late outcome does not have it: an effect is done only once.
Subject subject_of(const EffectRow& effect) {
  std::string subject = "effect " + effect.run.text() + " " + effect.task.text();
  add(subject, effect.name);
  std::string bound;
  add(bound, effect.node);
  add(bound, name_of(effect.effect_class));
  add(bound, name_of(as_sealed(effect.status)));
  if (effect.status != EffectStatus::done) add(bound, effect.attempt);
  return {std::move(subject), std::move(bound)};
}

Subject subject_of(const OutboxRow& message) {
  std::string subject = "outbox " + message.run.text();
  add(subject, message.seq);
  add(subject, message.index);
  return subject;
}

Subject subject_of_input(const RunId& run) { return "input " + run.text(); }

Subject subject_of_payload(const InterruptId& interrupt) { return "payload " + interrupt.text(); }

Subject subject_of_edited(const InterruptId& interrupt) { return "edited " + interrupt.text(); }

Subject subject_of_record(std::string_view collection, const UserId& user, std::string_view key) {
  std::string subject = "record";
  add(subject, collection);
  add(subject, user.text);
  add(subject, key);
  return subject;
}

Subject subject_of_blob(const Digest& id) { return "blob " + to_hex(id); }

Subject subject_of_tasks(const CheckpointRow& checkpoint) {
  return subject_of("next tasks", checkpoint);
}

// True if a next task has members that are not names. Found by their text: if a name matches too,
// the result is only unnecessary encryption.
bool holds_content(std::string_view next_tasks) {
  static constexpr std::array<std::string_view, 3> members{
      "\"input\":", "\"answers\":", "\"question\":"};
  return std::any_of(members.begin(), members.end(), [&](std::string_view member) {
    return next_tasks.find(member) != next_tasks.npos;
  });
}

// All data of a checkpoint except its hash. Next tasks that are sealed, or will be, are bound to it
// on their own; plaintext ones are included here.
Subject subject_of_chain(const CheckpointRow& checkpoint) {
  std::string bound = checkpoint.parent.text() + " " + checkpoint.session.text();
  add(bound, checkpoint.state_seq);
  add(bound, checkpoint.epoch);
  add(bound, name_of(checkpoint.kind));
  add(bound, checkpoint.node);
  add(bound, checkpoint.superstep);
  add(bound, checkpoint.retry_count);
  add(bound, name_of(checkpoint.status));
  add(bound, checkpoint.created_at);
  bool is_plain = checkpoint.next_tasks.empty() || checkpoint.next_tasks.starts_with('[');
  bool is_sealed = !is_plain || holds_content(checkpoint.next_tasks);
  add(bound, is_sealed ? std::string_view("sealed") : std::string_view(checkpoint.next_tasks));
  return {subject_of(chain_subject, checkpoint), std::move(bound)};
}

bool is_subject_of_chain(std::string_view subject) { return subject.starts_with(chain_subject); }

Subject subject_of_payload_hash(const InterruptId& interrupt) {
  return "payload hash " + interrupt.text();
}

Subject subject_of_edited_hash(const InterruptId& interrupt) {
  return "edited hash " + interrupt.text();
}

}  // namespace belay::store
