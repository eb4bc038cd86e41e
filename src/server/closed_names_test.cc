// The description and the C++ enumerations have the same names.

#include "server/closed_names.h"

#include <gtest/gtest.h>

#include <set>

#include "belay/event.h"
#include "belay/schedule.h"
#include "belay/service.h"
#include "belay/thread.h"
#include "server/openapi.h"
#include "service/json_encode.h"
#include "service/why.h"

namespace belay::server {
namespace {

// The names to which a member of a response refers.
std::vector<std::string> described_names(std::string_view component, std::string_view member) {
  Value schemas = answer_schemas();
  Value schema = schemas[component]["properties"][member];
  if (const Value::Array* choices = schema["anyOf"].as_array()) schema = Value(choices->front());
  const std::string* reference = schema["$ref"].as_string();
  std::vector<std::string> names;
  if (!reference) return names;
  const Value& set = schemas[reference->substr(reference->rfind('/') + 1)];
  for (const Value& each : *set["enum"].as_array()) names.push_back(*each.as_string());
  return names;
}

// Expects the names of all enumerators, in their order, with the last one.
template <typename E>
void expect_names(std::string_view component, std::string_view member, E last,
                  std::string_view (*name)(E) = &name_of, std::vector<std::string> more = {}) {
  std::vector<std::string> expected;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    expected.emplace_back(name(static_cast<E>(i)));
  }
  std::vector<std::string> described = expected;
  described.insert(described.end(), more.begin(), more.end());
  EXPECT_EQ(described_names(component, member), described) << component << "." << member;
  std::set<std::string> different(expected.begin(), expected.end());
  EXPECT_EQ(different.size(), expected.size()) << component << "." << member;
  EXPECT_FALSE(different.contains("unknown") || different.contains("")) << component;
  // Another enumerator after the last one is not in `expected`.
  std::size_t count = 0;
  for (std::size_t i = 0; i < reflect::enumerator_names<E>.size(); ++i) {
    if (codec::has_name<E>(i)) ++count;
  }
  EXPECT_EQ(count, expected.size()) << component << "." << member;
}

TEST(ClosedNames, AreThoseOfTheEnumerations) {
  for (const char* component : {"History", "Checkpoint", "StandingRun", "Why"}) {
    expect_names(component, "status", RunStatus::quarantined);
  }
  for (const char* component : {"Run", "ThreadRun"}) {
    expect_names(component, "storedStatus", RunStatus::quarantined);
    expect_names(component, "status", RunStatus::quarantined, &name_of, {"code_gone"});
  }
  for (const char* component : {"Thread", "ThreadDetails"}) {
    expect_names(component, "status", ThreadStatus::error, &name_of, {"code_gone"});
  }
  for (const char* component : {"Effect", "RecordedCall"}) {
    expect_names(component, "class", EffectClass::unkeyed);
    expect_names(component, "status", EffectStatus::skipped);
  }
  for (const char* component : {"Decision", "LostDecision"}) {
    expect_names(component, "result", DecisionResult::Kind::closed);
    expect_names(component, "answer", DecisionResult::Kind::closed, &former_name_of);
  }
  for (const char* component : {"Why", "WaitCause", "WaitCount"}) {
    expect_names(component, "cause", WaitCause::damage);
  }
  expect_names("Approval", "status", ApprovalStatus::closed);
  expect_names("Checkpoint", "kind", CommitKind::consent);
  expect_names("Error", "code", ErrorCode::forbidden);
  expect_names("Event", "kind", EventKind::debug);
  expect_names("Message", "status", OutboxStatus::given_up);
  expect_names("Schedule", "overlap", Overlap::cancel_other);
  expect_names("SteeringMessage", "use", SteeringUse::after_answer);
}

TEST(ClosedNames, OfProblemsAreTheErrorCodesAndHttp) {
  std::vector<std::string> expected = described_names("Error", "code");
  expected.emplace_back("http");
  EXPECT_EQ(described_names("Problem", "code"), expected);
  EXPECT_EQ(described_names("LostDecision", "code"), expected);
}

TEST(ClosedNames, AreAllReferredTo) {
  Value schemas = answer_schemas();
  std::string text = to_json(schemas);
  for (const auto& [name, schema] : closed_names()) {
    // Only the body of a start refers to these.
    if (name == "BusyThread") continue;
    EXPECT_NE(text.find("#/components/schemas/" + name + "\""), text.npos) << name;
  }
}

TEST(ClosedNames, NoMemberWithTheNameOfASetAcceptsAnyText) {
  // Free texts, and names that programs choose.
  const std::set<std::string> open = {"Held.reason",    "Run.reason",          "ThreadRun.reason",
                                      "History.reason", "ScheduleTick.reason", "Schedule.reason",
                                      "Health.reason"};
  Value schemas = answer_schemas();
  for (const auto& [component, schema] : *schemas.as_object()) {
    const Value::Object* members = schema["properties"].as_object();
    if (!members) continue;
    for (const char* member :
         {"status", "kind", "class", "code", "reason", "cause", "use", "overlap", "decision"}) {
      auto found = members->find(member);
      if (found == members->end() || open.contains(component + "." + member)) continue;
      if (found->second["type"] == Value("integer")) continue;  // the status of HTTP
      EXPECT_FALSE(described_names(component, member).empty()) << component << "." << member;
    }
  }
}

}  // namespace
}  // namespace belay::server
