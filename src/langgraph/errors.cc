#include "langgraph/errors.h"

#include "server/problem.h"

namespace belay::langgraph {
namespace {

using server::Call;
using server::Reply;

Reply reply_of_problem(http::Response response) {
  Reply reply;
  server::take_problem(std::move(response), reply);
  return reply;
}

// Reads a JSON object, whatever its Content-Type: clients of LangGraph send text/plain, too.
std::optional<Reply> read_object(Call& call) {
  call.body = Value(Value::Object{});
  if (call.request.body.empty()) return std::nullopt;
  auto json = parse_json(call.request.body);
  std::string().swap(call.request.body);  // frees its memory while the run is awaited
  if (!json.ok())
    return error_reply(400, std::string(name_of(json.error().code)), json.error().message);
  if (json->as_object()) {
    call.body = *std::move(json);
    return std::nullopt;
  }
  return error_reply(error(ErrorCode::invalid, "The body must be a JSON object, but is of kind " +
                                                   std::string(json->kind()) + "."));
}

Task<Result<Reply>> answer_with_errors(AgentServerPointer served, Answer answer, Call call) {
  auto reply = co_await answer(*served, std::move(call));
  if (!reply.ok()) co_return error_reply(reply.error());
  co_return std::move(reply);
}

constexpr std::chrono::milliseconds kBetweenChanges{5};

Task<Result<Reply>> change_with_errors(AgentServerPointer served, Answer change, Call call) {
  for (int attempt = 1;; ++attempt) {
    Call again = call;
    auto reply = co_await change(*served, std::move(again));
    if (reply.ok()) co_return std::move(reply);
    bool is_overtaken = reply.error().code == ErrorCode::conflict;
    if (!is_overtaken || attempt == limits::record_conflicts_max) {
      co_return error_reply(reply.error());
    }
    // The other request may have several commits to make.
    co_await sleep_for(kBetweenChanges);
  }
}

Error wrong_kind(std::string_view name, std::string_view expected) {
  return error(ErrorCode::invalid,
               "\"" + std::string(name) + "\" must be " + std::string(expected) + ".");
}

}  // namespace

server::Route protocol_route(std::string method, std::string path, std::string id,
                             std::string summary) {
  server::Route route = server::route_of(std::move(method), std::move(path), std::move(id),
                                         "LangGraph: " + std::move(summary));
  route.accepts_any_query = true;
  return route;
}

void accept_body(server::Route& route, Value properties, Value::Array required) {
  route.body = Value::object({{"type", "object"}, {"additionalProperties", true}});
  Value::Object& schema = *route.body.as_object();
  if (!properties.as_object()->empty()) schema.emplace("properties", std::move(properties));
  if (!required.empty()) schema.emplace("required", std::move(required));
  route.read = read_object;
}

server::Handle answering(AgentServerPointer served, Answer answer) {
  return [served = std::move(served), answer](Call call) {
    return answer_with_errors(served, answer, std::move(call));
  };
}

server::Handle changing(AgentServerPointer served, Answer change) {
  return [served = std::move(served), change](Call call) {
    return change_with_errors(served, change, std::move(call));
  };
}

server::Reply error_reply(const Error& failed) {
  Value more =
      Value::object({{"message", failed.message}, {"error", std::string(name_of(failed.code))}});
  return reply_of_problem(server::problem(failed, std::move(more)));
}

server::Reply error_reply(int status, std::string error_name, std::string message) {
  Value more = Value::object({{"message", message}, {"error", error_name}});
  return reply_of_problem(
      server::problem(status, std::move(error_name), std::move(message), std::move(more)));
}

Result<std::optional<std::string>> text_member(const Value& body, std::string_view name) {
  const Value& member = body[name];
  if (member.is_null()) return std::optional<std::string>();
  if (!member.as_string()) return wrong_kind(name, "a text");
  return std::optional(*member.as_string());
}

Result<std::optional<bool>> bool_member(const Value& body, std::string_view name) {
  const Value& member = body[name];
  if (member.is_null()) return std::optional<bool>();
  if (!member.as_bool()) return wrong_kind(name, "true or false");
  return std::optional(*member.as_bool());
}

Result<std::int64_t> int_member(const Value& body, std::string_view name, std::int64_t or_else,
                                std::int64_t least, std::int64_t most) {
  const Value& member = body[name];
  if (member.is_null()) return or_else;
  std::optional<std::int64_t> number = member.as_int();
  return server::within(name, number.value_or(least - 1), least, most);
}

Result<Value> object_member(const Value& body, std::string_view name) {
  const Value& member = body[name];
  if (member.is_null()) return Value(Value::Object{});
  if (!member.as_object()) return wrong_kind(name, "an object");
  return member;
}

Result<std::optional<std::vector<std::string>>> texts_member(const Value& body,
                                                             std::string_view name) {
  const Value& member = body[name];
  if (member.is_null()) return std::optional<std::vector<std::string>>();
  constexpr std::string_view kExpected = "an array of texts";
  if (!member.as_array()) return wrong_kind(name, kExpected);
  std::vector<std::string> texts;
  for (const Value& each : *member.as_array()) {
    if (!each.as_string()) return wrong_kind(name, kExpected);
    texts.push_back(*each.as_string());
  }
  return std::optional(std::move(texts));
}

}  // namespace belay::langgraph
