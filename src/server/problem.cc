#include "server/problem.h"

#include <algorithm>

namespace belay::server {
namespace {

constexpr std::chrono::milliseconds kRetryDefault{1'000};
// Fixed text for end users; the rest of the message is for the operator of the server.
constexpr std::string_view kAway = "Database temporarily unavailable. ";

std::string seconds_text(std::chrono::milliseconds wait) {
  // Rounded up: never less than the requested delay.
  auto seconds = (std::max<std::int64_t>(wait.count(), 1) + 999) / 1000;
  return std::to_string(seconds);
}

}  // namespace

std::string_view reason_of(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 426:
      return "Upgrade Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return status < 500 ? "Bad Request" : "Internal Server Error";
  }
}

int status_of(const Error& failed) {
  switch (failed.code) {
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::conflict:
    case ErrorCode::cancelled:
      return 409;
    case ErrorCode::invalid:
    case ErrorCode::exhausted:
      return 422;
    case ErrorCode::unavailable:
      return failed.retry_after ? 429 : 503;
    case ErrorCode::uncertain:
      return 503;
    case ErrorCode::corrupt:
      return 500;
    case ErrorCode::forbidden:
      return 403;
  }
  return 500;
}

http::Response problem(int status, std::string code, std::string detail, Value details) {
  Value::Object members;
  if (Value::Object* more = details.as_object()) members = std::move(*more);
  members.insert_or_assign("type", "about:blank");
  members.insert_or_assign("title", reason_of(status));
  members.insert_or_assign("status", status);
  members.insert_or_assign("code", std::move(code));
  members.insert_or_assign("detail", std::move(detail));
  http::Response response;
  response.status = status;
  response.headers.push_back({"Content-Type", "application/problem+json"});
  response.headers.push_back({"Cache-Control", "no-store"});
  response.headers.push_back({"X-Content-Type-Options", "nosniff"});
  response.body = to_json(Value(std::move(members)));
  return response;
}

http::Response problem(const Error& failed, Value details) {
  int status = status_of(failed);
  // Only 503 has this prefix; a 429 names its limit: see status_of().
  std::string detail = (status == 503 ? std::string(kAway) : std::string()) + failed.message;
  auto response =
      problem(status, std::string(name_of(failed.code)), std::move(detail), std::move(details));
  if (status == 429 || status == 503) {
    response.headers.push_back(
        {"Retry-After", seconds_text(failed.retry_after.value_or(kRetryDefault))});
  }
  return response;
}

}  // namespace belay::server
