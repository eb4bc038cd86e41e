#include "a2a/agent_card.h"

#include <map>

#include "a2a/a2a_message.h"

namespace belay::a2a {
namespace {

std::string name_of_agent(const Value& agent) {
  const std::string* name = agent["name"].as_string();
  return name ? *name : std::string();
}

std::string description_of(const Value& agent) {
  const std::string* text = agent["description"].as_string();
  return text ? *text : "Runs the agent \"" + name_of_agent(agent) + "\".";
}

Value interface_of(const std::string& name, const CardParts& parts) {
  return Value::object({{"url", parts.base_url + address_of("/a2a/{agent}", name)},
                        {"protocolBinding", "JSONRPC"},
                        {"protocolVersion", kProtocolVersion}});
}

Value skill_of(const Value& agent) {
  std::string name = name_of_agent(agent);
  return Value::object({{"id", name},
                        {"name", name},
                        {"description", description_of(agent)},
                        {"tags", Value::Array{"agent"}}});
}

Value card_of(std::string name, std::string description, Value::Array interfaces,
              Value::Array skills, const CardParts& parts) {
  Value::Array modes{"text/plain", "application/json"};
  Value capabilities = Value::object({{"streaming", true},
                                      {"pushNotifications", parts.sends_notifications},
                                      {"extendedAgentCard", false}});
  Value::Object card{{"name", std::move(name)},
                     {"description", std::move(description)},
                     {"version", parts.version},
                     {"capabilities", std::move(capabilities)},
                     {"defaultInputModes", modes},
                     {"defaultOutputModes", modes},
                     {"supportedInterfaces", std::move(interfaces)},
                     {"skills", std::move(skills)}};
  if (parts.has_keys) {
    Value scheme =
        Value::object({{"httpAuthSecurityScheme", Value::object({{"scheme", "Bearer"}})}});
    card.emplace("securitySchemes", Value::object({{"bearer", std::move(scheme)}}));
    Value scopes = Value::object({{"list", Value::Array()}});
    Value schemes = Value::object({{"bearer", std::move(scopes)}});
    Value requirement = Value::object({{"schemes", std::move(schemes)}});
    card.emplace("securityRequirements", Value::Array{std::move(requirement)});
  }
  return Value(std::move(card));
}

}  // namespace

Value agent_card(const Value& agent, const CardParts& parts) {
  std::string name = name_of_agent(agent);
  Value::Array interfaces{interface_of(name, parts)};
  Value::Array skills{skill_of(agent)};
  return card_of(std::move(name), description_of(agent), std::move(interfaces), std::move(skills),
                 parts);
}

Value server_card(const Value::Array& agents, const CardParts& parts) {
  std::map<std::string, const Value*> by_name;
  for (const Value& agent : agents) by_name.emplace(name_of_agent(agent), &agent);
  auto chosen = agents.size() == 1 ? by_name.begin() : by_name.find(parts.default_agent);
  if (chosen != by_name.end()) return agent_card(*chosen->second, parts);
  Value::Array skills;
  for (const auto& [name, agent] : by_name) skills.push_back(skill_of(*agent));
  return card_of("belay",
                 "Durable agents. Each skill is an agent, whose card is at "
                 "/a2a/SKILL/.well-known/agent-card.json, with the id of the skill.",
                 Value::Array(), std::move(skills), parts);
}

}  // namespace belay::a2a
