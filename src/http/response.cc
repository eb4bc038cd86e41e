#include "http/response.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "belay/value.h"
#include "http/ascii.h"

namespace belay::http {
namespace {

struct Reason {
  int status;
  std::string_view phrase;
};
constexpr auto kReasons = std::to_array<Reason>({
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {425, "Too Early"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
});

std::string_view reason_of(int status) {
  auto found = std::find_if(kReasons.begin(), kReasons.end(),
                            [&](const Reason& reason) { return reason.status == status; });
  return found == kReasons.end() ? std::string_view() : found->phrase;
}

// True for characters that a header line may contain: no control character except the tab.
bool is_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char letter) {
    return (letter < 0 || letter >= ' ' || letter == '\t') && letter != 0x7f;
  });
}

bool is_the_servers(std::string_view name) {
  return equal_letters(name, "Content-Length") || equal_letters(name, "Transfer-Encoding") ||
         equal_letters(name, "Connection");
}

void add_line(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string head_of(const Response& response, const Framing& framing, std::string_view date) {
  std::string head;
  head.reserve(256);
  head.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  head.append(reason_of(response.status)).append("\r\n");
  bool dated = false;
  for (const Header& header : response.headers) {
    if (!is_token(header.name) || !is_value(header.value) || is_the_servers(header.name)) continue;
    dated = dated || equal_letters(header.name, "Date");
    add_line(head, header.name, header.value);
  }
  if (!dated) add_line(head, "Date", date);
  if (framing.length) add_line(head, "Content-Length", std::to_string(*framing.length));
  if (framing.chunked) add_line(head, "Transfer-Encoding", "chunked");
  if (!framing.keep_alive) {
    add_line(head, "Connection", "close");
  } else if (framing.http_1_0) {
    add_line(head, "Connection", "keep-alive");
  }
  head.append("\r\n");
  return head;
}

bool has_body(int status) { return status != 204 && status != 304; }

std::string http_date(Instant instant) {
  static constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  auto day = std::chrono::floor<std::chrono::days>(instant);
  std::chrono::year_month_day date(day);
  std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(instant - day));
  std::string text = kDays[std::chrono::weekday(day).c_encoding()];
  auto add = [&](std::string_view before, auto number) {
    auto value = static_cast<int>(number);
    text.append(before);
    text.push_back(static_cast<char>('0' + value / 10));
    text.push_back(static_cast<char>('0' + value % 10));
  };
  add(", ", static_cast<unsigned>(date.day()));
  text.append(" ").append(kMonths[static_cast<unsigned>(date.month()) - 1]).append(" ");
  text.append(std::to_string(static_cast<int>(date.year())));
  add(" ", time.hours().count());
  add(":", time.minutes().count());
  add(":", time.seconds().count());
  text.append(" GMT");
  return text;
}

std::string chunk_head(std::size_t size) {
  std::array<char, 16> digits;
  char* end = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16).ptr;
  return std::string(digits.data(), end).append("\r\n");
}

std::string chunk_of(std::string_view piece) {
  std::string chunk = chunk_head(piece.size());
  chunk.reserve(chunk.size() + piece.size() + 2);
  chunk.append(piece).append("\r\n");
  return chunk;
}

Response problem_response(int status, std::string_view detail) {
  Response response{.status = status};
  response.headers.push_back({"Content-Type", "application/problem+json"});
  response.body = R"({"type":"about:blank","title":)";
  write_json_string(reason_of(status), response.body);
  response.body += ",\"status\":" + std::to_string(status) + ",\"detail\":";
  write_json_string(detail, response.body);
  response.body += "}\n";
  return response;
}

}  // namespace belay::http
