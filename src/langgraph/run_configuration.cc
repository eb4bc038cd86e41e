#include "langgraph/run_configuration.h"

#include <algorithm>
#include <array>

namespace belay::langgraph {
namespace {

constexpr std::array<std::string_view, 3> kSecretHeaders{"x-api-key", "x-tenant-id",
                                                         "x-service-key"};
// Parts of the names of headers with which proxies pass the credentials of a person.
constexpr std::array<std::string_view, 6> kSecretParts{"token",  "secret", "auth",
                                                       "cookie", "oidc",   "jwt"};

void overlay(Value::Object& config, const Value& over) {
  if (!over.as_object()) return;
  for (const auto& [name, value] : *over.as_object()) {
    Value& member = config[name];
    bool merges = name == "configurable" && member.as_object() && value.as_object();
    if (!merges) {
      member = value;
      continue;
    }
    for (const auto& [inner, each] : *value.as_object()) {
      member.as_object()->insert_or_assign(inner, each);
    }
  }
}

// Sets the member to the objects, each of which comes before the one that follows it; a member of
// another kind remains, and is refused later.
void merge_member(Value& body, std::string_view name, const std::vector<const Value*>& lower) {
  const Value own = std::as_const(body)[name];
  if (!own.is_null() && !own.as_object()) return;
  Value::Object merged;
  for (const Value* each : lower) overlay(merged, *each);
  overlay(merged, own);
  if (!merged.empty()) body.as_object()->insert_or_assign(std::string(name), std::move(merged));
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

bool is_copied(std::string_view header) {
  bool is_secret =
      std::find(kSecretHeaders.begin(), kSecretHeaders.end(), header) != kSecretHeaders.end() ||
      std::any_of(kSecretParts.begin(), kSecretParts.end(),
                  [header](std::string_view part) { return header.find(part) != header.npos; });
  return (header.starts_with("x-") && !is_secret) || header == "user-agent";
}

}  // namespace

void merge_configuration(Value& body, const Assistant& assistant, const ThreadView* thread) {
  const Value none;
  const Value& of_thread = thread && thread->record ? thread->record->config : none;
  merge_member(body, "config", {&assistant.config, &of_thread});
  merge_member(body, "context", {&assistant.context});
}

std::string configuration_text(const Value& body, const Assistant& assistant,
                               const ThreadView* thread, const UserId& user,
                               const std::vector<http::Header>& headers) {
  Value::Object configurable;
  if (const Value::Object* given = body["config"]["configurable"].as_object()) {
    configurable = *given;
  }
  for (const http::Header& each : headers) {
    std::string name = lower_case(each.name);
    // Bytes that are not UTF-8 cannot be stored.
    bool is_text = is_copied(name) && parse_json(to_json(Value(each.value))).ok();
    if (is_text) configurable.insert_or_assign(std::move(name), each.value);
  }
  configurable.insert_or_assign("assistant_id", assistant.id);
  configurable.insert_or_assign("graph_id", assistant.graph_id);
  configurable.insert_or_assign("langgraph_auth_user_id", user.text);
  configurable.emplace("user_id", user.text);
  configurable.erase("thread_id");
  if (thread) configurable.emplace("thread_id", thread->id.text);
  Value::Object all;
  all.insert_or_assign("configurable", std::move(configurable));
  if (const Value::Object* context = body["context"].as_object()) {
    all.insert_or_assign("context", *context);
  }
  return to_json(Value(std::move(all)));
}

}  // namespace belay::langgraph
