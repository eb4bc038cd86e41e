#include "server/closed_names.h"

#include "belay/event.h"
#include "belay/schedule.h"
#include "belay/service.h"
#include "belay/thread.h"
#include "service/json_encode.h"
#include "service/why.h"

namespace belay::server {
namespace {

Value names_schema(Value::Array names) {
  return Value::object({{"type", "string"}, {"enum", std::move(names)}});
}

// `name`: the function that returns the name of an enumerator in documents.
template <typename E>
Value::Array names_of(std::string_view (*name)(E)) {
  Value::Array names;
  for (std::size_t i = 0; i < reflect::enumerator_names<E>.size(); ++i) {
    if (codec::has_name<E>(i)) names.emplace_back(name(static_cast<E>(i)));
  }
  return names;
}

template <typename E>
Value schema_of_names() {
  return names_schema(names_of<E>(&name_of));
}

// The status of a run or thread as shown: that of the store, or that its code is gone.
template <typename E>
Value shown_status() {
  Value::Array names = names_of<E>(&name_of);
  names.emplace_back("code_gone");
  return names_schema(std::move(names));
}

// The error codes of responses: those of errors, and the code of requests that are not valid HTTP.
Value problem_codes() {
  Value::Array names = names_of<ErrorCode>(&name_of);
  names.emplace_back("http");
  return names_schema(std::move(names));
}

}  // namespace

std::map<std::string, Value> closed_names() {
  return {
      {"ApprovalStatus", schema_of_names<ApprovalStatus>()},
      {"BusyThread", schema_of_names<BusyThread>()},
      {"CallKind", names_schema({"model", "cost", "effect"})},
      {"CommitKind", schema_of_names<CommitKind>()},
      {"DecisionVerdict", schema_of_names<DecisionResult::Kind>()},
      {"EffectClass", schema_of_names<EffectClass>()},
      {"EffectStatus", schema_of_names<EffectStatus>()},
      {"ErrorCode", schema_of_names<ErrorCode>()},
      {"EventKind", schema_of_names<EventKind>()},
      {"FormerVerdict", names_schema(names_of<DecisionResult::Kind>(&former_name_of))},
      {"HealthStatus", names_schema({"ok", "unavailable"})},
      {"MessageStatus", schema_of_names<OutboxStatus>()},
      {"Overlap", schema_of_names<Overlap>()},
      {"ProblemCode", problem_codes()},
      {"RunStatus", schema_of_names<RunStatus>()},
      {"ShownRunStatus", shown_status<RunStatus>()},
      {"ShownThreadStatus", shown_status<ThreadStatus>()},
      {"SteeringUse", schema_of_names<SteeringUse>()},
      {"TickOutcome", names_schema({"started", "buffered", "skipped", "missed", "failed"})},
      {"WaitCauseName", schema_of_names<WaitCause>()},
  };
}

}  // namespace belay::server
