#pragma once
// store/row_part.h - what of a row is sealed as one: its texts, which seal_store() hides, and all
// else that nobody without the key may change.
//
// A part has one seal, in a column of its own. With a key its texts are empty in the store, and the
// seal holds them; without one the seal is empty and the texts stand in their columns.

#include <optional>
#include <string>
#include <vector>

#include "store/envelope_subject.h"

namespace belay::store {

struct RowPart {
  Subject subject;
  std::string* seal = nullptr;
  std::vector<std::string*> texts = {};
};

// They point into the row, which outlives them.
RowPart part_of(ThreadRow& row);
RowPart part_of(RunRow& row);        // what changes with every commit
RowPart start_part_of(RunRow& row);  // what never does
RowPart part_of(EventRow& row);
RowPart question_part_of(ApprovalRow& row);
RowPart decision_part_of(ApprovalRow& row);
RowPart part_of(OutboxRow& row);
// The indexed fields of a record: their names and values in turn.
RowPart index_part_of(std::string_view collection, const UserId& user, std::string_view key,
                      std::vector<std::string>& names_and_values, std::string& seal);

// The record that such a part is of, from its subject; nothing for another part.
struct RecordName {
  std::string collection;
  UserId user;
  std::string key;
};
std::optional<RecordName> record_of_index(std::string_view subject);

// One indexed field of a record.
struct RecordField {
  std::string_view collection;
  const UserId& user;
  std::string_view name;
  std::string_view value;
};

// Whether it has been decided: only then it has a decision part. A store closes an approval without
// one, and so nobody may make use of that.
inline bool is_decided(ApprovalStatus status) {
  return status != ApprovalStatus::open && status != ApprovalStatus::closed;
}

// As re-encryption gets to see it.
StoredEnvelope stored_part(std::uint64_t place, const RowPart& part);
// What Rewrite::before is of: the bytes, and of a part also what they are bound to and the texts.
Digest digest_of(const StoredEnvelope& stored);

}  // namespace belay::store
