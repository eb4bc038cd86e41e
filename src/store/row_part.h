#pragma once
// store/row_part.h - the part of a row that is sealed as a unit: its texts, which
// make_encrypted_store() hides, and the other values that must not be changed without the key.
//
// A part has one seal, in a separate column. If there is a key, the seal contains the texts and
// their columns are empty; if there is no key, the seal is empty and the columns contain the texts.

#include <optional>
#include <string>
#include <vector>

#include "belay/store_filters.h"
#include "store/envelope_subject.h"

namespace belay::store {

struct RowPart {
  Subject subject;
  std::string* seal = nullptr;
  std::vector<std::string*> texts = {};
};

// The results point into the row, which must outlive them.
RowPart part_of(ThreadRow& row);
// True for the part of a thread: the seals of Belays whose threads had no titles contain no texts.
bool may_lack_texts(std::string_view subject);
RowPart part_of(RunRow& row);        // the values that change with every commit
RowPart start_part_of(RunRow& row);  // the values that never change
RowPart part_of(EventRow& row);
RowPart question_part_of(ApprovalRow& row);
RowPart decision_part_of(ApprovalRow& row);
RowPart part_of(OutboxRow& row);
// The indexed fields of a record: names and values alternate.
RowPart index_part_of(std::string_view collection, const UserId& user, std::string_view key,
                      std::vector<std::string>& names_and_values, std::string& seal);

// The record of an index part, parsed from its subject; nullopt for another part.
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

// True if it is decided: only then does it have a decision part. A store closes approvals without
// that part, and therefore no code may rely on the part of a closed one.
inline bool is_decided(ApprovalStatus status) {
  return status != ApprovalStatus::open && status != ApprovalStatus::closed;
}

// Converts a part to the form that re-encryption reads.
StoredEnvelope stored_part(std::uint64_t place, const RowPart& part);
// Digest for Rewrite::before: covers the bytes, and for a part also its bound values and texts.
Digest digest_of(const StoredEnvelope& stored);

}  // namespace belay::store
