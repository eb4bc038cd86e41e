// Requests of HTTP/1.1: any bytes, in any pieces, are rejected with a status and a sentence or are
// a valid request, independent of the pieces.

#include "http/request_reader.h"

#include <algorithm>
#include <optional>

#include "belay/value.h"
#include "http/ascii.h"
#include "tests/fuzz/target.h"

namespace {

using namespace belay;

struct Reading {
  std::optional<http::Request> request;
  std::optional<http::Refusal> refusal;
  std::size_t taken = 0;
};

Reading read(std::string_view bytes, std::size_t step, const http::ServerLimits& limits) {
  http::RequestReader reader(limits);
  Reading reading;
  std::size_t come = 0;
  while (come < bytes.size() && !reader.complete() && !reader.refusal()) {
    come = std::min(bytes.size(), come + step);
    std::string_view rest = bytes.substr(reading.taken, come - reading.taken);
    std::size_t taken = reader.take(rest);
    fuzz::require(taken <= rest.size(), "no more is taken than is there");
    reading.taken += taken;
  }
  reading.refusal = reader.refusal();
  if (reader.complete()) reading.request = std::move(reader.request());
  return reading;
}

bool is_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char letter) {
    return (letter >= 0 && letter < ' ' && letter != '\t') || letter == 0x7f;
  });
}

void require_sound_request(const http::Request& request, const http::ServerLimits& limits) {
  fuzz::require(http::is_token(request.method), "a method is a token");
  fuzz::require(request.path.starts_with('/') || request.path == "*", "a path begins with /");
  fuzz::require(!first_invalid_utf8(request.path), "a path is UTF-8");
  fuzz::require(request.path.find('\0') == std::string::npos, "a path holds no NUL");
  fuzz::require(request.body.size() <= limits.body_bytes, "a body is within its limit");
  fuzz::require(request.headers.size() <= limits.headers, "headers are within their limit");
  for (const http::Header& header : request.headers) {
    fuzz::require(http::is_token(header.name), "a header's name is a token");
    fuzz::require(is_line(header.value), "a header's value is one line");
  }
  for (const std::string& segment : http::path_segments(request.raw_path)) {
    fuzz::require(segment != "..", "no segment leads upwards");
  }
  auto parameters = http::query_parameters(request.query);
  if (!parameters) fuzz::require_sound(parameters.error());
}

}  // namespace

BELAY_FUZZ_TARGET(HttpRequest, "http_request") {
  const http::ServerLimits limits{
      .head_bytes = 1'024, .target_bytes = 256, .headers = 10, .body_bytes = 512};
  std::size_t step = 1 + fuzz::take_byte(input) % 16;
  if (input.empty()) return;
  Reading whole = read(input, input.size(), limits);
  Reading pieces = read(input, step, limits);
  // An invalid request can be rejected earlier or later, depending on its pieces: the extensions of
  // a chunk are checked when its line is complete.
  fuzz::require(whole.request.has_value() == pieces.request.has_value(), "pieces: read alike");
  if (whole.refusal) {
    constexpr int kStatuses[] = {400, 413, 414, 415, 417, 431, 505};
    fuzz::require(std::count(std::begin(kStatuses), std::end(kStatuses), whole.refusal->status) > 0,
                  "a refusal has a status of the list");
    fuzz::require_sound(error(ErrorCode::invalid, whole.refusal->detail));
  }
  if (whole.request && pieces.request) {
    require_sound_request(*whole.request, limits);
    fuzz::require(whole.request->body == pieces.request->body, "pieces: the same body");
    fuzz::require(whole.taken == pieces.taken, "pieces: the same end");
  }
}
