// The checks of a WebSocket handshake (RFC 6455, section 4.2.1), before Beast answers it.

#include "http/ascii.h"
#include "server/problem.h"
#include "server/web_socket.h"

namespace belay::server {
namespace {

constexpr std::string_view kHandshakeCode = "http";
constexpr std::size_t kKeyLength = 24;  // of 16 bytes in base64

// True if a comma-separated header contains the token, ignoring case.
bool lists_token(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    std::size_t end = std::min(list.find(','), list.size());
    if (http::equal_letters(http::trimmed(list.substr(0, end)), token)) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool is_handshake_key(std::string_view key) {
  auto is_base64 = [](char c) { return http::is_letter_or_digit(c) || c == '+' || c == '/'; };
  return key.size() == kKeyLength && key.ends_with("==") &&
         std::all_of(key.begin(), key.end() - 2, is_base64);
}

http::Response upgrade_required(std::string detail) {
  http::Response response = problem(426, std::string(kHandshakeCode), std::move(detail));
  response.headers.push_back({"Upgrade", "websocket"});
  response.headers.push_back({"Sec-WebSocket-Version", "13"});
  return response;
}

}  // namespace

std::optional<http::Response> check_handshake(const http::Request& head) {
  if (!lists_token(head.header("Upgrade"), "websocket")) {
    return upgrade_required("This address accepts WebSocket connections only.");
  }
  if (head.header("Sec-WebSocket-Version") != "13") {
    return upgrade_required("This address accepts version 13 of WebSocket only.");
  }
  bool is_valid = head.method == "GET" && lists_token(head.header("Connection"), "upgrade") &&
                  is_handshake_key(head.header("Sec-WebSocket-Key"));
  if (is_valid) return std::nullopt;
  return problem(400, std::string(kHandshakeCode),
                 "Invalid WebSocket handshake: expected GET with \"Connection: Upgrade\" and a "
                 "Sec-WebSocket-Key of 16 bytes in base64.");
}

}  // namespace belay::server
