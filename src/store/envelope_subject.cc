#include "store/envelope_subject.h"

namespace belay::store {
namespace {

constexpr std::string_view chain_subject = "chain hash";

// Lengths keep "a" + "bc" apart from "ab" + "c".
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

std::string subject_of(std::string_view what, const CheckpointRow& checkpoint) {
  std::string subject(what);
  subject += ' ' + checkpoint.run.text();
  add(subject, checkpoint.space);
  add(subject, checkpoint.seq);
  return subject + ' ' + checkpoint.id.text();
}

}  // namespace

std::string subject_of(const ValueRow& value) {
  std::string subject = "value " + value.run.text();
  add(subject, value.space);
  add(subject, value.channel);
  add(subject, value.seq);
  add(subject, value.index);
  add(subject, name_of(value.kind));
  return subject;
}

std::string subject_of(const TaskRow& task) {
  std::string subject = "task " + task.run.text();
  add(subject, task.space);
  add(subject, task.superstep);
  add(subject, task.position);
  return subject;
}

std::string subject_of(const EffectRow& effect) {
  std::string subject = "effect " + effect.run.text() + " " + effect.task.text();
  add(subject, effect.name);
  return subject;
}

std::string subject_of(const OutboxRow& message) {
  std::string subject = "outbox " + message.run.text();
  add(subject, message.seq);
  add(subject, message.index);
  return subject;
}

std::string subject_of_input(const RunId& run) { return "input " + run.text(); }

std::string subject_of_payload(const InterruptId& interrupt) {
  return "payload " + interrupt.text();
}

std::string subject_of_edited(const InterruptId& interrupt) { return "edited " + interrupt.text(); }

std::string subject_of_record(std::string_view collection, const UserId& user,
                              std::string_view key) {
  std::string subject = "record";
  add(subject, collection);
  add(subject, user.text);
  add(subject, key);
  return subject;
}

std::string subject_of_blob(const Digest& id) { return "blob " + to_hex(id); }

std::string subject_of_tasks(const CheckpointRow& checkpoint) {
  return subject_of("next tasks", checkpoint);
}

std::string subject_of_chain(const CheckpointRow& checkpoint) {
  return subject_of(chain_subject, checkpoint);
}

bool is_subject_of_chain(std::string_view subject) { return subject.starts_with(chain_subject); }

std::string subject_of_payload_hash(const InterruptId& interrupt) {
  return "payload hash " + interrupt.text();
}

std::string subject_of_edited_hash(const InterruptId& interrupt) {
  return "edited hash " + interrupt.text();
}

}  // namespace belay::store
