// Routes of assistants: search, graph and schemas; creation, versions and deletion.

#include <algorithm>

#include "http/ascii.h"
#include "langgraph/assistants.h"
#include "langgraph/records.h"
#include "langgraph/search.h"

namespace belay::langgraph {
namespace {

using server::Call;
using server::Reply;
using server::Route;

constexpr std::int64_t kVersionsMax = 1'000;  // of an assistant

struct AssistantFilter {
  std::string graph_id, name;
  Value metadata;
};

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), http::lower);
  return text;
}

Result<AssistantFilter> assistant_filter_in(const Value& body) {
  AssistantFilter filter;
  BELAY_TRY(auto graph, text_member(body, "graph_id"));
  BELAY_TRY(auto name, text_member(body, "name"));
  BELAY_TRY(filter.metadata, object_member(body, "metadata"));
  filter.graph_id = std::move(graph).value_or("");
  filter.name = lower_case(std::move(name).value_or(""));
  return filter;
}

bool matches(const Assistant& assistant, const AssistantFilter& filter) {
  bool is_of_graph = filter.graph_id.empty() || assistant.graph_id == filter.graph_id;
  return is_of_graph && lower_case(assistant.name).find(filter.name) != std::string::npos &&
         contains_value(assistant.metadata, filter.metadata);
}

Task<Result<std::vector<Assistant>>> matching_assistants(const Call& call) {
  BELAY_CO_TRY(AssistantFilter filter, assistant_filter_in(call.body));
  BELAY_CO_TRY(std::vector<Assistant> all, co_await all_assistants(call));
  std::erase_if(all, [&filter](const Assistant& each) { return !matches(each, filter); });
  co_return std::move(all);
}

// The text by which a search sorts; ids make the order of equal ones definite.
std::pair<std::string, std::string> sort_key(const Assistant& assistant, std::string_view by) {
  if (by == "graph_id") return {assistant.graph_id, assistant.id};
  if (by == "name") return {assistant.name, assistant.id};
  if (by == "created_at") return {to_text(assistant.created_at), assistant.id};
  if (by == "updated_at") return {to_text(assistant.updated_at), assistant.id};
  return {assistant.id, assistant.id};
}

Task<Result<Reply>> search_assistants(AgentServer&, Call call) {
  BELAY_CO_TRY(SearchPage page, search_page_in(call.body, {"created_at", "updated_at", "graph_id",
                                                           "name", "assistant_id"}));
  BELAY_CO_TRY(std::vector<Assistant> all, co_await matching_assistants(call));
  std::sort(all.begin(), all.end(), [&page](const Assistant& a, const Assistant& b) {
    auto one = sort_key(a, page.sort_by), other = sort_key(b, page.sort_by);
    return page.is_descending ? other < one : one < other;
  });
  PageSlice slice = slice_of(page, all.size());
  Value::Array documents;
  for (std::size_t i = slice.begin; i < slice.end; ++i) {
    documents.push_back(selected(page, assistant_document(all[i])));
  }
  co_return page_reply(page, all.size(), std::move(documents));
}

Task<Result<Reply>> count_assistants(AgentServer&, Call call) {
  BELAY_CO_TRY(std::vector<Assistant> all, co_await matching_assistants(call));
  co_return server::reply_with(Value(static_cast<std::uint64_t>(all.size())));
}

Task<Result<Assistant>> named_assistant(AgentServer& served, const Call& call) {
  std::string id = call.path.at("assistantId");
  co_return co_await find_assistant(served.world, call, std::move(id));
}

Task<Result<Reply>> show_assistant(AgentServer& served, Call call) {
  BELAY_CO_TRY(Assistant assistant, co_await named_assistant(served, call));
  co_return server::reply_with(assistant_document(assistant));
}

using AgentView = Value (*)(const Value& agent);

Task<Result<Reply>> show_agent(AgentServer& served, Call call, AgentView view) {
  BELAY_CO_TRY(Assistant assistant, co_await named_assistant(served, call));
  std::string graph = assistant.graph_id;
  BELAY_CO_TRY(Value agent, co_await agent_named(call, std::move(graph)));
  co_return server::reply_with(view(agent));
}

Task<Result<Reply>> show_graph(AgentServer& served, Call call) {
  return show_agent(served, std::move(call), graph_document);
}
Task<Result<Reply>> show_schemas(AgentServer& served, Call call) {
  return show_agent(served, std::move(call), schemas_document);
}
// The document of an agent does not contain the graphs of its subgraph nodes.
Task<Result<Reply>> show_subgraphs(AgentServer& served, Call call) {
  AgentView none = [](const Value&) { return Value(Value::Object{}); };
  return show_agent(served, std::move(call), none);
}

// Returns the record of the created assistant that the path names; `conflict` for a system
// assistant.
Task<Result<Versioned<AssistantRecord>>> record_to_change(AgentServer& served, const Call& call) {
  BELAY_CO_TRY(Assistant assistant, co_await named_assistant(served, call));
  if (assistant.is_system) {
    co_return error(ErrorCode::conflict,
                    "The assistant of the graph \"" + assistant.graph_id +
                        "\" belongs to the server and cannot be changed. Create another one.");
  }
  auto records = records_of(call.service, call.who, call.who.user);
  std::string key = assistant.id;
  BELAY_CO_TRY(auto found, co_await records->get_versioned<AssistantRecord>(std::move(key)));
  if (!found) co_return no_assistant(assistant.id);
  co_return *std::move(found);
}

// Applies the members of a body. Metadata is merged into that of the assistant.
Result<Done> apply_members(const Value& body, AssistantRecord& record) {
  BELAY_TRY(auto graph, text_member(body, "graph_id"));
  BELAY_TRY(auto name, text_member(body, "name"));
  BELAY_TRY(auto description, text_member(body, "description"));
  BELAY_TRY(Value metadata, object_member(body, "metadata"));
  BELAY_TRY(Value config, object_member(body, "config"));
  BELAY_TRY(Value context, object_member(body, "context"));
  if (graph) record.graph_id = *std::move(graph);
  if (name) record.name = *std::move(name);
  if (description) record.description = *std::move(description);
  if (!body["config"].is_null()) record.config = std::move(config);
  if (!body["context"].is_null()) record.context = std::move(context);
  Value::Object& members = *record.metadata.as_object();
  for (auto& [key, value] : *metadata.as_object()) members.insert_or_assign(key, std::move(value));
  return Done{};
}

// Saves the assistant, and its version if it is new.
Task<Result<Reply>> save_assistant(const Call& call, AssistantRecord record, std::uint64_t expected,
                                   bool is_new_version) {
  std::vector<RecordWrite> writes;
  BELAY_CO_CHECK(add_write(writes, record, call.who.user, expected));
  if (is_new_version) {
    AssistantVersionRecord version{record};
    BELAY_CO_CHECK(add_write(writes, version, call.who.user));
  }
  BELAY_CO_CHECK(co_await call.service.save_records(call.who, std::move(writes)));
  co_return server::reply_with(assistant_document(assistant_of(std::move(record))));
}

Task<Result<Reply>> create_assistant(AgentServer& served, Call call) {
  AssistantRecord record;
  record.name = "Untitled";
  BELAY_CO_CHECK(apply_members(call.body, record));
  BELAY_CO_TRY(auto wanted, text_member(call.body, "assistant_id"));
  BELAY_CO_TRY(auto if_exists, text_member(call.body, "if_exists"));
  bool keeps_existing = if_exists == "do_nothing";
  if (if_exists && !keeps_existing && *if_exists != "raise") {
    co_return error(ErrorCode::invalid, "\"if_exists\" must be raise or do_nothing.");
  }
  Uuid id = random_uuid(served.world.parts.random);
  if (wanted) {
    auto given = uuid_from(*wanted);
    if (!given) co_return error(ErrorCode::invalid, "\"assistant_id\" must be a UUID.");
    id = *given;
  }
  std::string graph = record.graph_id;
  if (graph.empty()) co_return error(ErrorCode::invalid, "\"graph_id\" is missing.");
  BELAY_CO_CHECK(co_await agent_named(call, std::move(graph)));
  record.id = id.text();
  std::string named = record.id;
  auto existing = co_await find_assistant(served.world, call, std::move(named));
  if (existing.ok() && keeps_existing) {
    co_return server::reply_with(assistant_document(*existing));
  }
  if (existing.ok()) {
    co_return error(ErrorCode::conflict, "Assistant " + record.id + " already exists.");
  }
  if (existing.error().code != ErrorCode::not_found) co_return std::move(existing).error();
  record.created_at = record.updated_at = served.world.parts.clock.now();
  co_return co_await save_assistant(call, std::move(record), 0, true);
}

using AssistantChange = Task<Result<AssistantRecord>> (*)(const Call& call, AssistantRecord record);

Task<Result<Reply>> change_assistant(AgentServer& served, Call call, AssistantChange change) {
  BELAY_CO_TRY(Versioned<AssistantRecord> found, co_await record_to_change(served, call));
  std::int64_t newest = found.record.newest;
  Value before = assistant_document(assistant_of(found.record));
  BELAY_CO_TRY(AssistantRecord record, co_await change(call, std::move(found.record)));
  Value after = assistant_document(assistant_of(record));
  if (after == before) co_return server::reply_with(std::move(after));
  record.updated_at = served.world.parts.clock.now();
  bool is_new_version = record.newest != newest;
  co_return co_await save_assistant(call, std::move(record), found.version, is_new_version);
}

Task<Result<AssistantRecord>> with_members(const Call& call, AssistantRecord record) {
  Value before = assistant_document(assistant_of(record));
  std::string graph_before = record.graph_id;
  BELAY_CO_CHECK(apply_members(call.body, record));
  if (record.graph_id != graph_before) {
    std::string graph = record.graph_id;
    BELAY_CO_CHECK(co_await agent_named(call, std::move(graph)));
  }
  if (assistant_document(assistant_of(record)) == before) co_return std::move(record);
  if (record.newest >= kVersionsMax) {
    co_return error(ErrorCode::exhausted,
                    "The assistant has " + std::to_string(kVersionsMax) + " versions.");
  }
  record.version = ++record.newest;
  co_return std::move(record);
}

Task<Result<Reply>> update_assistant(AgentServer& served, Call call) {
  return change_assistant(served, std::move(call), with_members);
}

// The versions, oldest first.
Task<Result<UserRecords<AssistantVersionRecord>>> versions_of(const Call& call, std::string id) {
  RecordFilter filter;
  std::string prefix = id + ":";
  filter.after = id;
  co_return co_await read_records<AssistantVersionRecord>(call.service, call.who, call.who.user,
                                                          std::move(filter), std::move(prefix));
}

Task<Result<Reply>> list_versions(AgentServer& served, Call call) {
  BELAY_CO_TRY(SearchPage page, search_page_in(call.body, {}));
  BELAY_CO_TRY(Value metadata, object_member(call.body, "metadata"));
  BELAY_CO_TRY(Assistant assistant, co_await named_assistant(served, call));
  std::vector<Assistant> versions;
  if (assistant.is_system) versions.push_back(assistant);
  std::string id = assistant.id;
  BELAY_CO_TRY(auto stored, co_await versions_of(call, std::move(id)));
  for (auto& each : stored.records) {
    versions.push_back(assistant_of(std::move(each.record.assistant)));
  }
  std::reverse(versions.begin(), versions.end());
  std::erase_if(versions, [&metadata](const Assistant& each) {
    return !contains_value(each.metadata, metadata);
  });
  PageSlice slice = slice_of(page, versions.size());
  Value::Array documents;
  for (std::size_t i = slice.begin; i < slice.end; ++i) {
    documents.push_back(assistant_document(versions[i]));
  }
  co_return page_reply(page, versions.size(), std::move(documents));
}

Task<Result<AssistantRecord>> with_version(const Call& call, AssistantRecord record) {
  BELAY_CO_TRY(std::int64_t version, int_member(call.body, "version", 0, 1, kVersionsMax));
  if (version == 0) co_return error(ErrorCode::invalid, "\"version\" is missing.");
  AssistantVersionRecord wanted{record};
  wanted.assistant.version = version;
  auto records = records_of(call.service, call.who, call.who.user);
  std::string key = wanted.key();
  BELAY_CO_TRY(auto stored, co_await records->get<AssistantVersionRecord>(std::move(key)));
  if (!stored) {
    co_return error(ErrorCode::not_found,
                    "Assistant " + record.id + " has no version " + std::to_string(version) + ".");
  }
  AssistantRecord other = std::move(stored->assistant);
  other.newest = record.newest;
  other.updated_at = record.updated_at;
  co_return std::move(other);
}

Task<Result<Reply>> set_latest(AgentServer& served, Call call) {
  return change_assistant(served, std::move(call), with_version);
}

Task<Result<Reply>> delete_assistant(AgentServer& served, Call call) {
  auto asked = call.query.find("delete_threads");
  if (asked != call.query.end() && asked->second == "true") {
    co_return error(ErrorCode::invalid,
                    "\"delete_threads\" is not supported. Delete the threads first: search them by "
                    "the metadata assistant_id.");
  }
  BELAY_CO_TRY(Versioned<AssistantRecord> found, co_await record_to_change(served, call));
  std::string id = found.record.id;
  BELAY_CO_TRY(auto versions, co_await versions_of(call, std::move(id)));
  std::vector<RecordWrite> writes;
  writes.push_back(record_erasure(AssistantRecord::collection, call.who.user, found.record.id));
  for (const auto& each : versions.records) {
    writes.push_back(
        record_erasure(AssistantVersionRecord::collection, call.who.user, each.record.key()));
  }
  BELAY_CO_CHECK(co_await call.service.save_records(call.who, std::move(writes)));
  co_return server::reply_with(Value(Value::Array{Value(found.record.id)}));
}

Value members_schema() {
  Value text = Value::object({{"type", "string"}});
  Value object = Value::object({{"type", "object"}});
  return Value::object({{"graph_id", text},
                        {"assistant_id", text},
                        {"config", object},
                        {"context", object},
                        {"metadata", std::move(object)},
                        {"if_exists", text},
                        {"name", text},
                        {"description", std::move(text)}});
}

Route reading(const AgentServerPointer& served, std::string path, std::string id,
              std::string summary, Answer answer) {
  Route route = protocol_route("GET", std::move(path), std::move(id), std::move(summary));
  route.answers = {{200, "Found"}};
  route.handle = answering(served, answer);
  return route;
}

Route posting(const AgentServerPointer& served, std::string path, std::string id,
              std::string summary, Value properties, Answer answer) {
  Route route = protocol_route("POST", std::move(path), std::move(id), std::move(summary));
  accept_body(route, std::move(properties));
  route.answers = {{200, "Done"}};
  route.handle = answering(served, answer);
  return route;
}

Value search_members() {
  Value text = Value::object({{"type", "string"}});
  return search_properties({{"graph_id", text},
                            {"name", std::move(text)},
                            {"metadata", Value::object({{"type", "object"}})}});
}

}  // namespace

std::vector<Route> assistant_routes(const AgentServerPointer& served) {
  const std::string one = "/assistants/{assistantId}";
  std::vector<Route> routes;
  routes.push_back(posting(served, "/assistants/search", "agentServerSearchAssistants",
                           "A page of the assistants", search_members(), search_assistants));
  routes.push_back(posting(served, "/assistants/count", "agentServerCountAssistants",
                           "The number of assistants", search_members(), count_assistants));
  routes.push_back(reading(served, one, "agentServerGetAssistant", "An assistant", show_assistant));
  routes.push_back(reading(served, one + "/graph", "agentServerGetGraph",
                           "Nodes and edges of an assistant's graph", show_graph));
  routes.push_back(reading(served, one + "/schemas", "agentServerGetSchemas",
                           "JSON Schemas of an assistant's graph", show_schemas));
  routes.push_back(reading(served, one + "/subgraphs", "agentServerGetSubgraphs",
                           "Schemas of the subgraphs: none", show_subgraphs));
  routes.push_back(reading(served, one + "/subgraphs/{namespace}", "agentServerGetSubgraph",
                           "Schemas of the subgraphs of a namespace: none", show_subgraphs));
  routes.push_back(posting(served, one + "/versions", "agentServerListVersions",
                           "Versions of an assistant, newest first", search_properties({}),
                           list_versions));
  routes.push_back(posting(served, "/assistants", "agentServerCreateAssistant",
                           "Creation of an assistant", members_schema(), create_assistant));
  routes.back().permission = Permission::run;
  routes.back().handle = changing(served, create_assistant);
  routes.push_back(posting(
      served, one + "/latest", "agentServerSetLatestVersion", "Selection of the version in use",
      Value::object({{"version", Value::object({{"type", "integer"}})}}), set_latest));
  routes.back().permission = Permission::run;
  routes.back().handle = changing(served, set_latest);
  routes.push_back(posting(served, one, "agentServerUpdateAssistant",
                           "A new version of an assistant", members_schema(), update_assistant));
  routes.back().handle = changing(served, update_assistant);
  routes.back().method = "PATCH";
  routes.back().permission = Permission::run;
  routes.push_back(reading(served, one, "agentServerDeleteAssistant", "Deletion of an assistant",
                           delete_assistant));
  routes.back().method = "DELETE";
  routes.back().permission = Permission::run;
  return routes;
}

}  // namespace belay::langgraph
