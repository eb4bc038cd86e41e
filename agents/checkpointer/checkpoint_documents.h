#pragma once
// agents/checkpointer/checkpoint_documents.h - the JSON documents of the checkpointer's routes, and
// their schemas.

#include <map>

#include "agents/checkpointer/read_checkpoints.h"
#include "agents/checkpointer/thread_operations.h"

namespace belay::checkpointer {

Value tuple_document(const LoadedTuple& tuple);
Value list_page_document(const ListPage& page);
Value history_page_document(const HistoryPage& page);
Value removed_document(const Removed& removed);
std::map<std::string, Value> checkpoint_schemas();

}  // namespace belay::checkpointer
