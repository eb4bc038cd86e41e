#include "runtime/start_records.h"

namespace belay {

Result<Done> check_record_users(const std::vector<RecordWrite>& records) {
  for (const RecordWrite& write : records) {
    if (!write.is_of_tenant) BELAY_CHECK(check_name("user of a record", write.user.text));
  }
  return Done{};
}

Result<Done> check_record_versions(Snapshot& view, const RunRow& wanted,
                                   const std::vector<RecordWrite>& records) {
  RunFilter own;
  own.tenant = wanted.tenant;
  own.run = wanted.run;
  BELAY_TRY(std::vector<RunRow> known, view.runs(own));
  if (!known.empty()) return Done{};
  for (const RecordWrite& write : records) {
    if (!write.expected_version) continue;
    RecordQuery query;
    query.tenant = wanted.tenant;
    query.collection = write.collection;
    if (!write.is_of_tenant) query.user = write.user;
    query.key = write.key;
    BELAY_TRY(std::vector<StoredRecord> found, view.records(query));
    std::uint64_t version = found.empty() ? 0 : found.front().version;
    if (version == *write.expected_version) continue;
    return error(ErrorCode::conflict, "The record \"" + write.key + "\" of the collection \"" +
                                          write.collection +
                                          "\" was changed since it was read. Read it again.");
  }
  return Done{};
}

}  // namespace belay
