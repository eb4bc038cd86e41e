#include "agents/research/graph/neo4j_query.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "belay/value.h"

namespace belay::research {
namespace {

constexpr std::size_t kReplyBytesMax = 256 * 1024;
constexpr std::size_t kDatabaseBytesMax = 63;
constexpr std::size_t kCodeBytesMax = 100;
constexpr std::int64_t kRetryAfterSecondsMax = 3600;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_control);
}

// Returns the part of the URL between the scheme and the path, without a slash at its end; nullopt
// for another form.
std::optional<std::string_view> authority_of(std::string_view url) {
  for (std::string_view scheme : {"https://", "http://"}) {
    if (!url.starts_with(scheme)) continue;
    std::string_view rest = url.substr(scheme.size());
    if (rest.ends_with('/')) rest.remove_suffix(1);
    bool is_plain = !rest.empty() && std::all_of(rest.begin(), rest.end(), [](char c) {
      return is_letter_or_digit(c) || std::string_view(".-_:[]").find(c) != std::string_view::npos;
    });
    if (is_plain) return rest;
  }
  return std::nullopt;
}

bool is_this_machine(std::string_view authority) {
  std::string_view host = authority.starts_with('[') ? authority.substr(0, authority.find(']') + 1)
                                                     : authority.substr(0, authority.find(':'));
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

bool is_database_name(std::string_view name) {
  return !name.empty() && name.size() <= kDatabaseBytesMax && is_letter_or_digit(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
         });
}

std::string origin_of(const Neo4jOptions& options) {
  std::string_view url = options.url;
  if (url.ends_with('/')) url.remove_suffix(1);
  return std::string(url);
}

std::string authorization_of(const Neo4jOptions& options) {
  if (!options.token.empty()) return "Bearer " + options.token;
  if (options.user.empty()) return {};
  return "Basic " + base64_text(options.user + ":" + options.password);
}

Error unusable(const std::string& why) {
  return error(ErrorCode::invalid, "The settings of Neo4j cannot be used: " + why + ".");
}

// The codes of the array `errors`; nullopt if the body is not a response of this API.
std::optional<std::vector<std::string>> codes_in(std::string_view body) {
  auto document = parse_json(body);
  if (!document.ok() || !document->as_object()) return std::nullopt;
  std::vector<std::string> codes;
  const Value* errors = document->find("errors");
  if (!errors) {
    bool is_result = document->find("data") || document->find("bookmarks");
    if (!is_result) return std::nullopt;
    return codes;
  }
  const Value::Array* list = errors->as_array();
  if (!list) return std::nullopt;
  for (const Value& each : *list) {
    const std::string* code = each["code"].as_string();
    codes.push_back(code ? *code : std::string("without a code"));
  }
  return codes;
}

// The clients of Neo4j repeat these two as well: the cluster has another leader, or the login must
// be renewed.
bool is_transient(std::string_view code) {
  return code.starts_with("Neo.TransientError.") || code == "Neo.ClientError.Cluster.NotALeader" ||
         code == "Neo.ClientError.Security.AuthorizationExpired";
}

// A text of another server could contain anything.
std::string shown_code(std::string_view code) {
  std::string shown;
  for (char c : code.substr(0, kCodeBytesMax)) {
    shown += is_letter_or_digit(c) || c == '.' || c == ' ' ? c : '?';
  }
  return shown;
}

std::optional<std::chrono::milliseconds> retry_after_of(const HttpReply& reply) {
  std::string_view text = reply.header("Retry-After");
  std::int64_t seconds = 0;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (text.empty() || fault != std::errc() || end != text.data() + text.size() || seconds < 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(std::min(seconds, kRetryAfterSecondsMax));
}

ErrorCode permanent_code(int status) {
  if (status == 401 || status == 403) return ErrorCode::forbidden;
  return status == 404 ? ErrorCode::not_found : ErrorCode::invalid;
}

}  // namespace

Result<Done> check_neo4j(const Neo4jOptions& options) {
  std::optional<std::string_view> authority = authority_of(options.url);
  if (!authority) {
    return unusable("the URL must be https://HOST:PORT, without user, path and query");
  }
  if (!is_database_name(options.database)) return unusable("the name of the database is invalid");
  for (const std::string* secret : {&options.user, &options.password, &options.token}) {
    if (has_control_character(*secret)) return unusable("the login has a control character");
  }
  if (options.user.find(':') != std::string::npos) return unusable("the user has a colon");
  if (!options.user.empty() && !options.token.empty()) {
    return unusable("it has both a user and a token");
  }
  bool is_encrypted = options.url.starts_with("https://") || is_this_machine(*authority);
  if (!authorization_of(options).empty() && !is_encrypted && !options.permits_plain_text) {
    return unusable(
        "a login over http:// to another machine is not encrypted. Use https://, or "
        "permit plain text");
  }
  return Done{};
}

std::string neo4j_place(const Neo4jOptions& options) {
  return origin_of(options) + ", " + options.database;
}

HttpCall neo4j_call(const Neo4jOptions& options, const CypherRequest& request) {
  HttpCall call;
  call.method = "POST";
  call.url = origin_of(options) + "/db/" + options.database + "/query/v2";
  call.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  std::string authorization = authorization_of(options);
  if (!authorization.empty()) call.headers.push_back({"Authorization", std::move(authorization)});
  call.body = to_json(
      Value::object({{"parameters", request.parameters}, {"statement", request.statement}}));
  call.timeout = options.timeout;
  call.body_bytes_max = kReplyBytesMax;
  return call;
}

Result<Done> neo4j_verdict(const Neo4jOptions& options, const HttpReply& reply) {
  std::optional<std::vector<std::string>> codes = codes_in(reply.body);
  bool is_success = reply.status >= 200 && reply.status < 300;
  if (is_success && codes && codes->empty()) return Done{};
  bool is_busy = reply.status == 408 || reply.status == 429 || reply.status >= 500;
  bool are_transient =
      codes && !codes->empty() && std::all_of(codes->begin(), codes->end(), is_transient);
  std::string why =
      "Neo4j at " + neo4j_place(options) + " responded with status " + std::to_string(reply.status);
  if (codes && !codes->empty()) {
    why += ": " + shown_code(codes->front());
  } else if (is_success) {
    why += " and a body that is not of its Query API";
  }
  bool is_temporary = is_busy || are_transient;
  Error fault =
      error(is_temporary ? ErrorCode::unavailable : permanent_code(reply.status), why + ".");
  if (is_temporary) fault.retry_after = retry_after_of(reply);
  return fault;
}

Task<Result<Done>> send_to_neo4j(std::shared_ptr<const Neo4jOptions> options, CypherRequest request,
                                 HttpAccess& http) {
  HttpCall call = neo4j_call(*options, request);
  BELAY_CO_TRY(HttpReply reply, co_await http.send(std::move(call)));
  co_return neo4j_verdict(*options, reply);
}

std::string base64_text(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = (group << 8) | (k < left ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= left ? kDigits[(group >> (18 - 6 * k)) & 63] : '=';
    }
  }
  return text;
}

}  // namespace belay::research
