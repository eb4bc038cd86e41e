#pragma once
// store/envelope_subject.h - names the row of an envelope, and the row's data to which it is bound.
// Encryption binds its bytes to both: an envelope moved to another row does not open, and neither
// does one whose row has a changed status or similar value.

#include <string>
#include <string_view>
#include <utility>

#include "belay/rows.h"

namespace belay::store {

struct Subject {
  Subject() = default;
  // Not explicit: most sealed values are bound only to their row.
  Subject(std::string of_row) : row(std::move(of_row)) {}
  Subject(std::string_view of_row) : row(of_row) {}
  Subject(const char* of_row) : row(of_row) {}
  Subject(std::string of_row, std::string bound_to)
      : row(std::move(of_row)), bound(std::move(bound_to)) {}

  std::string row;    // permanent name of the row
  std::string bound;  // current values that are bound too; older Belays bound none
};

// Adds a text with its length, so that "a" + "bc" differs from "ab" + "c"; numbers as digits.
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
// Subjects of values that are not envelopes: the next tasks of a checkpoint, and digests.
Subject subject_of_tasks(const CheckpointRow& checkpoint);
Subject subject_of_chain(const CheckpointRow& checkpoint);
bool is_subject_of_chain(std::string_view subject);
// True if the next tasks are JSON and contain more than names of nodes: a task's input, an
// interrupt's response, the digest of a question. With a key, such next tasks are sealed.
bool holds_content(std::string_view next_tasks);
Subject subject_of_payload_hash(const InterruptId& interrupt);
Subject subject_of_edited_hash(const InterruptId& interrupt);

}  // namespace belay::store
