#pragma once
// store/sqlite/record_index.h - what records are searched by: the rows of `record_index`, and the
// list of them that stands with the record.
//
// Threading: the writer's thread only.

#include <string>
#include <utility>
#include <vector>

#include "belay/rows.h"
#include "store/sqlite/connection.h"

namespace belay::sqlite {

// JSON: a list of [field, value].
std::string text_of_index(const std::vector<std::pair<std::string, std::string>>& indexed);

// Of `put` its collection, user, key and what is indexed.
Result<Done> put_index(Connection& connection, std::int64_t tenant, const RecordPut& put);
// `indexed` is the list that stands with the record.
Result<Done> forget_index(Connection& connection, std::int64_t tenant, const RecordPut& put,
                          const std::string& indexed);

}  // namespace belay::sqlite
