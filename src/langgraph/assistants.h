#pragma once
// langgraph/assistants.h - assistants: a graph, with a configuration.
//
// Each agent of the server is a system assistant, which cannot be changed. Its id is the UUID
// version 5 of the agent's name, and the name itself is accepted wherever an assistant is named. A
// user can create further assistants; each change of one makes a new version. These are records of
// the user.
//
// Threading: on the executor that awaits.

#include "langgraph/agent_server.h"

namespace belay::langgraph {

struct Assistant {
  std::string id;        // a UUID
  std::string graph_id;  // the name of the agent
  Value config;          // an object, as are the next two
  Value context;
  Value metadata;
  std::int64_t version = 1;
  std::string name;
  std::string description;  // empty: none
  Instant created_at{};     // of a system assistant: 1970
  Instant updated_at{};
  bool is_system = false;
};

// A created assistant, and its version in use.
struct AssistantRecord {
  static constexpr std::string_view collection = "langgraph_assistants";

  std::string id{};
  std::string graph_id{};
  Value config = Value::Object();
  Value context = Value::Object();
  Value metadata = Value::Object();
  std::int64_t version = 1;  // in use
  std::int64_t newest = 1;   // the number of versions
  std::string name{}, description{};
  Instant created_at{}, updated_at{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple{&AssistantRecord::graph_id}; }
};

// A version; its members are those of the assistant when it was made.
struct AssistantVersionRecord {
  static constexpr std::string_view collection = "langgraph_assistant_versions";

  AssistantRecord assistant{};

  std::string key() const;
  static auto indexed() { return std::tuple(); }
};

// The id of the system assistant of a graph: the UUID version 5 of its name (RFC 9562), in the
// namespace 6ba7b821-9dad-11d1-80b4-00c04fd430c8.
std::string system_assistant_id(std::string_view graph_id);

// Returns the assistant with the id, or the system assistant of the graph. `not_found` with the
// text that clients match: `No assistant found for "x". ...`.
Task<Result<Assistant>> find_assistant(server::ApiContext& world, const server::Call& call,
                                       std::string id_or_graph);
Error no_assistant(std::string_view id_or_graph);

// All assistants that the caller can use.
Task<Result<std::vector<Assistant>>> all_assistants(const server::Call& call);
// The document of Service::agents() for a graph; `not_found` if the server has none of this name.
Task<Result<Value>> agent_named(const server::Call& call, std::string graph_id);

Assistant assistant_of(AssistantRecord record);
// The document `Assistant` of the protocol.
Value assistant_document(const Assistant& assistant);
// The document `Graph`: nodes and edges of an agent.
Value graph_document(const Value& agent);
// The document `GraphSchema`.
Value schemas_document(const Value& agent);

}  // namespace belay::langgraph
