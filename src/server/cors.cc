#include "server/cors.h"

#include <algorithm>

#include "http/ascii.h"

namespace belay::server {
namespace {

constexpr std::string_view kAnyOrigin = "*";
constexpr std::size_t kOriginBytesMax = 300;
constexpr std::size_t kHeaderNamesBytesMax = 1'000;
constexpr const char* kSharedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE";
// The headers that a page can read, in addition to those that every page can.
constexpr const char* kExposedHeaders =
    "Content-Location, Location, Retry-After, X-Pagination-Next, X-Pagination-Total";
constexpr const char* kPreflightSeconds = "600";

bool is_of_origin(char c) {
  return http::is_letter_or_digit(c) || std::string_view("+-._:[]").find(c) != std::string::npos;
}

bool is_origin(std::string_view text) {
  std::size_t scheme = text.find("://");
  if (text.size() > kOriginBytesMax || scheme == text.npos || scheme == 0) return false;
  std::string_view host = text.substr(scheme + 3);
  text = text.substr(0, scheme);
  return !host.empty() && std::all_of(host.begin(), host.end(), is_of_origin) &&
         std::all_of(text.begin(), text.end(), is_of_origin);
}

// True for a list of names of headers: the preflight response repeats it.
bool is_header_list(std::string_view text) {
  auto is_permitted = [](char c) { return is_of_origin(c) || c == ',' || c == ' '; };
  return text.size() <= kHeaderNamesBytesMax && std::all_of(text.begin(), text.end(), is_permitted);
}

}  // namespace

CrossOrigin::CrossOrigin(std::vector<std::string> origins) : origins_(std::move(origins)) {
  allows_any_ = std::find(origins_.begin(), origins_.end(), kAnyOrigin) != origins_.end();
}

bool CrossOrigin::allows(std::string_view origin) const {
  if (origin.empty()) return false;
  auto is_same = [origin](const std::string& each) { return http::equal_letters(each, origin); };
  return allows_any_ || std::any_of(origins_.begin(), origins_.end(), is_same);
}

std::optional<http::Response> CrossOrigin::preflight(const http::Request& head) const {
  bool is_preflight =
      head.method == "OPTIONS" && !head.header("Access-Control-Request-Method").empty();
  if (!is_preflight || !allows(head.header("Origin"))) return std::nullopt;
  http::Response response;
  response.status = 204;
  response.headers.push_back({"Access-Control-Allow-Methods", kSharedMethods});
  std::string_view names = head.header("Access-Control-Request-Headers");
  if (!names.empty() && is_header_list(names)) {
    response.headers.push_back({"Access-Control-Allow-Headers", std::string(names)});
  }
  response.headers.push_back({"Access-Control-Max-Age", kPreflightSeconds});
  add_headers(head.header("Origin"), response);
  return response;
}

void CrossOrigin::add_headers(std::string_view origin, http::Response& response) const {
  if (origins_.empty()) return;
  // Caches must not give the response for one origin to a page of another.
  if (!allows_any_) response.headers.push_back({"Vary", "Origin"});
  if (!allows(origin)) return;
  response.headers.push_back(
      {"Access-Control-Allow-Origin", std::string(allows_any_ ? kAnyOrigin : origin)});
  response.headers.push_back({"Access-Control-Expose-Headers", kExposedHeaders});
}

Result<Done> check_origins(const std::vector<std::string>& origins) {
  for (const std::string& each : origins) {
    if (each == kAnyOrigin || is_origin(each)) continue;
    return error(ErrorCode::invalid, "Invalid origin \"" + each.substr(0, kOriginBytesMax) +
                                         "\": expected SCHEME://HOST[:PORT], such as "
                                         "http://localhost:3000, or * for any.");
  }
  return Done{};
}

}  // namespace belay::server
