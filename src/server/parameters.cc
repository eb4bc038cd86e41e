// Parameters that several routes share.

#include <charconv>

#include "base/percent_encoding.h"
#include "server/routes.h"

namespace belay::server {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<std::int64_t> number_from(std::string_view text) {
  std::int64_t number = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Route route_of(std::string method, std::string path, std::string id, std::string summary) {
  Route route;
  route.method = std::move(method);
  route.path = std::move(path);
  route.id = std::move(id);
  route.summary = std::move(summary);
  return route;
}

Reply reply_with(Value document) {
  Reply reply;
  reply.document = std::move(document);
  return reply;
}

Handle with(ApiContext& world, Task<Result<Reply>> (*answer)(ApiContext& served, Call call)) {
  return [&world, answer](Call call) { return answer(world, std::move(call)); };
}

Result<std::int64_t> within(std::string_view name, std::int64_t number, std::int64_t least,
                            std::int64_t most) {
  if (number >= least && number <= most) return number;
  return error(ErrorCode::invalid, "\"" + std::string(name) + "\" must be a number from " +
                                       std::to_string(least) + " to " + std::to_string(most) + ".");
}

bool bool_parameter(const StringMap& query, std::string_view name) {
  auto found = query.find(name);
  return found != query.end() && found->second == "true";
}

Parameter named_user_parameter() {
  return query_parameter("userId", "Only rows of this user", Value::object({{"type", "string"}}));
}

Result<std::optional<UserId>> named_user_in(const RouteRequest& call) {
  auto found = call.query.find("userId");
  if (found == call.query.end()) return std::optional<UserId>();
  BELAY_CHECK(check_name("userId", found->second));
  return std::optional(UserId(found->second));
}

Parameter run_parameter() {
  return query_parameter("run", "Run of the thread; its current run if omitted",
                         Value::object({{"type", "string"}, {"format", "uuid"}}));
}

Parameter known_tag_parameter() {
  Parameter parameter = query_parameter("If-None-Match", "ETag of an earlier response",
                                        Value::object({{"type", "string"}}));
  parameter.in = Parameter::In::header;
  return parameter;
}

bool names_tag(std::string_view header, std::string_view tag) {
  return header == "*" || header.find(tag) != header.npos;
}

void set_tag(const Call& call, std::string tag, Reply& reply) {
  constexpr int kNotModified = 304;
  if (names_tag(call.request.header("If-None-Match"), tag)) reply.status = kNotModified;
  reply.headers.push_back({"ETag", std::move(tag)});
}

Parameter idempotency_key_parameter(std::string help) {
  Parameter key =
      query_parameter("Idempotency-Key", std::move(help), Value::object({{"type", "string"}}));
  key.in = Parameter::In::header;
  return key;
}

ThreadId thread_in(const RouteRequest& call) { return ThreadId(call.path.at("threadId")); }

Result<std::optional<Uuid>> id_parameter(const RouteRequest& call, std::string_view name,
                                         std::string_view what) {
  auto found = call.query.find(name);
  if (found == call.query.end()) return std::optional<Uuid>();
  auto id = uuid_from(found->second);
  if (id) return id;
  return error(ErrorCode::invalid,
               '"' + std::string(name) + "\" must be " + std::string(what) + ".");
}

Result<std::optional<RunId>> named_run_in(const RouteRequest& call) {
  auto found = call.query.find("run");
  if (found == call.query.end()) return std::optional<RunId>();
  auto id = uuid_from(found->second);
  if (id) return std::optional(RunId(*id));
  return error(ErrorCode::not_found, "Unknown run \"" + found->second.substr(0, 40) + "\".");
}

Preference preference_of(const http::Request& request) {
  constexpr std::int64_t kSecondsMax = 86'400;
  Preference preference;
  std::string_view rest = request.header("Prefer");
  while (!rest.empty()) {
    std::size_t end = std::min(rest.find(','), rest.size());
    std::string_view one = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (one == "respond-async") preference.is_async = true;
    if (!one.starts_with("wait=")) continue;
    auto seconds = number_from(one.substr(5));
    if (seconds && *seconds >= 0 && *seconds <= kSecondsMax) {
      preference.wait = std::chrono::seconds(*seconds);
    }
  }
  return preference;
}

Reply view_reply(ApiContext& world, const RunView& view) {
  Reply reply = reply_with(run_document(view, world.options.extras));
  reply.is_kept = view.row.status != RunStatus::queued;
  return reply;
}

Reply run_reply(ApiContext& world, const RunView& view) {
  Reply reply;
  bool has_ended = is_final(view.row.status);
  reply.status = has_ended ? 200 : 202;
  reply.document = run_document(view, world.options.extras);
  if (!has_ended) {
    reply.headers.push_back({"Location", "/api/threads/" + percent_encoded(view.row.thread.text)});
  }
  return reply;
}

}  // namespace belay::server
