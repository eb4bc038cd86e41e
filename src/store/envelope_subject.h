#pragma once
// store/envelope_subject.h - which row an envelope belongs to, and what of that row it is bound to.
// Encryption binds its bytes to both: an envelope that is moved to another row does not open, nor
// does one beside which a status or another such word was changed.

#include <string>
#include <string_view>
#include <utility>

#include "belay/rows.h"

namespace belay::store {

struct Subject {
  Subject() = default;
  // Not explicit: most of what is sealed is bound to its row alone.
  Subject(std::string of_row) : row(std::move(of_row)) {}
  Subject(std::string_view of_row) : row(of_row) {}
  Subject(const char* of_row) : row(of_row) {}
  Subject(std::string of_row, std::string bound_to)
      : row(std::move(of_row)), bound(std::move(bound_to)) {}

  std::string row;    // names it, for good
  std::string bound;  // what stands beside it now; an older Belay bound nothing
};

// Texts with their lengths, so that "a" + "bc" is apart from "ab" + "c"; numbers as digits.
void add(std::string& subject, std::string_view text);
void add(std::string& subject, std::uint64_t number);
void add(std::string& subject, std::int64_t number);
void add(std::string& subject, Instant at);
void add(std::string& subject, const Uuid& id);

Subject subject_of(const ValueRow& value);
Subject subject_of(const TaskRow& task);
Subject subject_of(const EffectRow& effect);
Subject subject_of(const OutboxRow& message);
Subject subject_of_input(const RunId& run);
Subject subject_of_payload(const InterruptId& interrupt);
Subject subject_of_edited(const InterruptId& interrupt);
Subject subject_of_record(std::string_view collection, const UserId& user, std::string_view key);
Subject subject_of_blob(const Digest& id);
// Of what is no envelope by itself: the next tasks of a checkpoint, and digests.
Subject subject_of_tasks(const CheckpointRow& checkpoint);
Subject subject_of_chain(const CheckpointRow& checkpoint);
bool is_subject_of_chain(std::string_view subject);
// Whether next tasks are JSON and hold more than the names of nodes: what was sent to a task, what
// was answered, the digest of a question. With a key those are sealed.
bool holds_content(std::string_view next_tasks);
Subject subject_of_payload_hash(const InterruptId& interrupt);
Subject subject_of_edited_hash(const InterruptId& interrupt);

}  // namespace belay::store
