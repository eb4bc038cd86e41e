#include "store/sqlite/record_index.h"

#include "belay/value.h"

namespace belay::sqlite {

std::string text_of_index(const std::vector<std::pair<std::string, std::string>>& indexed) {
  std::string text = "[";
  for (const auto& [field, value] : indexed) {
    text += text.size() == 1 ? "[" : ",[";
    write_json_string(field, text);
    text += ',';
    write_json_string(value, text);
    text += ']';
  }
  return text + ']';
}

Result<Done> put_index(Connection& connection, std::int64_t tenant, const RecordPut& put) {
  for (const auto& [field, value] : put.indexed) {
    BELAY_TRY(Statement entry,
              connection.prepare("INSERT OR IGNORE INTO record_index (tenant_id, collection,"
                                 " user_id, field, value, key) VALUES (?, ?, ?, ?, ?, ?)"));
    entry.bind(tenant).bind(put.collection).bind(put.user.text);
    entry.bind(field).bind(value).bind(put.key);
    BELAY_CHECK(connection.run(std::move(entry)));
  }
  return Done{};
}

Result<Done> forget_index(Connection& connection, std::int64_t tenant, const RecordPut& put,
                          const std::string& indexed) {
  BELAY_TRY(Statement entries,
            connection.prepare("DELETE FROM record_index WHERE tenant_id = ? AND collection = ?"
                               " AND user_id = ? AND (field, value) IN"
                               " (SELECT e.value ->> 0, e.value ->> 1 FROM json_each(?) e)"
                               " AND key = ?"));
  entries.bind(tenant).bind(put.collection).bind(put.user.text).bind(indexed).bind(put.key);
  BELAY_CHECK(connection.run(std::move(entries)));
  return Done{};
}

}  // namespace belay::sqlite
