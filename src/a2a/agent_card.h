#pragma once
// a2a/agent_card.h - the cards by which clients of A2A find agents.
//
// Threading: values; any thread.

#include <string>

#include "belay/value.h"

namespace belay::a2a {

struct CardParts {
  std::string base_url;  // of this server: "https://agents.example.com"
  std::string version;
  bool has_keys = false;  // callers need a bearer token
  bool sends_notifications = false;
  std::string default_agent;  // empty: none
};

// The card of one agent; `agent`: a document of Service::agents().
Value agent_card(const Value& agent, const CardParts& parts);
// The card of the server: that of its default agent, or of its only one. A server with several
// agents and without a default has a card without interfaces, of which each skill is an agent:
// clients would send messages to an arbitrary one of several interfaces.
Value server_card(const Value::Array& agents, const CardParts& parts);

}  // namespace belay::a2a
