#pragma once
// store/sqlite/record_index.h - writes the rows of `record_index`, by which records are searched,
// and the list of them that is stored with the record.
//
// Threading: the writer's thread only.

#include <string>
#include <utility>
#include <vector>

#include "belay/record.h"
#include "store/sqlite/connection.h"

namespace belay::sqlite {

// Returns JSON: a list of [field, value].
std::string text_of_index(const std::vector<std::pair<std::string, std::string>>& indexed);

// Uses the collection, user, key and indexed fields of `put`.
Result<Done> put_index(Connection& connection, std::int64_t tenant, const RecordPut& put);
// `indexed` is the list stored with the record.
Result<Done> forget_index(Connection& connection, std::int64_t tenant, const RecordPut& put,
                          const std::string& indexed);

}  // namespace belay::sqlite
