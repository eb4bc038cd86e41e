// The routes of A2A: one address for each agent, and the cards.

#include "a2a/a2a_answer.h"
#include "a2a/a2a_endpoint.h"
#include "a2a/a2a_options.h"

namespace belay::a2a {
namespace {

using server::Call;
using server::Reply;
using server::Route;

// A message about a task answers an approval of it.
bool starts_a_task(const Call& call) {
  const Value& method = call.body["method"];
  bool sends = method == Value("SendMessage") || method == Value("SendStreamingMessage");
  const Value& task = call.body["params"]["message"]["taskId"];
  return sends && (task.is_null() || task == Value(""));
}

std::string version_of(const Call& call) {
  std::string_view header = call.request.header(kVersionHeader);
  auto parameter = call.query.find(kVersionHeader);
  bool is_parameter = header.empty() && parameter != call.query.end();
  return is_parameter ? parameter->second : std::string(header);
}

Task<Result<Reply>> answer_call(std::shared_ptr<A2aEndpoint> endpoint, Call call) {
  A2aRequest request;
  request.agent = call.path.at("agent");
  std::string version = version_of(call);
  Value document = std::move(call.body);
  auto refused = read_request(std::move(document), version, request);
  if (refused) co_return *std::move(refused);
  co_return co_await endpoint->answer(std::move(call), std::move(request));
}

Value request_schema() {
  Value text = Value::object({{"type", "string"}});
  Value number = Value::object({{"type", "integer"}});
  Value id = Value::object({{"anyOf", Value::Array{text, std::move(number)}}});
  Value properties = Value::object({{"id", std::move(id)},
                                    {"jsonrpc", Value::object({{"const", "2.0"}})},
                                    {"method", std::move(text)},
                                    {"params", Value::object({{"type", "object"}})}});
  return Value::object({{"type", "object"},
                        {"properties", std::move(properties)},
                        {"required", Value::Array{"jsonrpc", "id", "method"}}});
}

Route call_route(const std::shared_ptr<A2aEndpoint>& endpoint) {
  Route route = server::route_of("POST", "/a2a/{agent}", "callA2a",
                                 "A request of the Agent2Agent protocol to an agent");
  Value text = Value::object({{"type", "string"}});
  Parameter version = query_parameter(std::string(kVersionHeader), "The header of this name", text);
  Parameter header = query_parameter(std::string(kVersionHeader), "1.0; without it: 0.3", text);
  Parameter last = query_parameter(
      "Last-Event-ID", "Id of the last event of an interrupted stream of a task", std::move(text));
  header.in = Parameter::In::header;
  last.in = Parameter::In::header;
  route.parameters = {std::move(version), std::move(header), std::move(last)};
  route.body = request_schema();
  route.answers = {{200, "The response", ""},
                   {200, "Responses about a task, as it changes", "", "text/event-stream"}};
  route.read = read_body;
  route.begins_run_by = starts_a_task;
  route.finds_run = finds_task;
  route.handle = [endpoint](Call call) { return answer_call(endpoint, std::move(call)); };
  return route;
}

// The parts that the routes of cards have in common.
Route card_route_of(const std::string& path, const std::string& id, const std::string& summary) {
  Route route = server::route_of("GET", path, id, summary);
  route.parameters = {server::known_tag_parameter()};
  route.answers = {{200, "The card, with its ETag", ""}, {304, "Unchanged", ""}};
  return route;
}

Route card_route(const std::shared_ptr<A2aEndpoint>& endpoint) {
  Route route = card_route_of("/a2a/{agent}/.well-known/agent-card.json", "getAgentCard",
                              "The A2A card of an agent");
  route.handle = [endpoint](Call call) {
    std::string agent = call.path.at("agent");
    return endpoint->card(std::move(call), std::move(agent));
  };
  return route;
}

Route server_card_route(const std::shared_ptr<A2aEndpoint>& endpoint) {
  Route route = card_route_of("/.well-known/agent-card.json", "getServerCard",
                              "The A2A card of this server, with its agents as skills");
  route.handle = [endpoint](Call call) { return endpoint->card(std::move(call), std::string()); };
  return route;
}

}  // namespace

std::vector<Route> a2a_routes(server::ApiContext& world, A2aOptions options) {
  auto endpoint = std::make_shared<A2aEndpoint>(world, std::move(options));
  // The loop does not run yet. A program that only describes its routes never runs it.
  world.parts.executor.post([weak = std::weak_ptr(endpoint)] {
    if (auto served = weak.lock()) served->start_delivery();
  });
  std::vector<Route> routes;
  routes.push_back(call_route(endpoint));
  routes.push_back(card_route(endpoint));
  routes.push_back(server_card_route(endpoint));
  return routes;
}

std::vector<std::string> collections() {
  return {std::string(A2aAnswer::collection), std::string(A2aPush::collection),
          std::string(A2aPushCount::collection)};
}

}  // namespace belay::a2a
