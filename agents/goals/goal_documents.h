#pragma once
// goals/goal_documents.h - the documents of goals and their steps, and changes to a goal.

#include "agents/goals/records.h"
#include "belay/value.h"

namespace belay::goals {

Result<Value> goal_document(const Goal& goal);
Result<Value> step_document(const GoalStep& step);

// Sets the members that `changes` has: {"objective", "params": {...}, "memory", "status",
// "priority"}. A null restores the default. `invalid` for a value of another type.
Result<Done> apply_changes(Goal& goal, const Value& changes);

// JSON Schemas of the documents, and of the body with which a goal is created or changed.
Value goal_schema();
Value step_schema();
Value goal_body_schema(bool requires_objective);
// A list of documents of the schema `item`, and `next`.
Value page_schema(std::string_view member, std::string_view item);

}  // namespace belay::goals
