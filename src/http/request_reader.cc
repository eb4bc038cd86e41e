#include "http/request_reader.h"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>

#include "http/ascii.h"
#include "http/compression.h"
#include "http/target.h"

namespace belay::http {
namespace {

namespace beast = boost::beast;
using BeastError = boost::system::error_code;
using Verb = beast::http::verb;
using Field = beast::http::field;
using Text = beast::string_view;

// The length of the end of every chunked body. Beast must not get fewer bytes of a chunked body:
// when it parses the last chunk's line for the second time, it asserts that so many exist (1.81).
constexpr std::size_t kLastChunkBytes = 5;
// The size line of a chunk with its extensions, or the trailers. Beast needs each of them complete.
constexpr std::size_t kChunkHeadBytesMax = 8 * 1024;
// All chunk extensions of one body. Clients do not use them, and they count against no other limit.
constexpr std::size_t kExtensionBytesMax = 16 * 1024;

std::string_view view(Text text) { return {text.data(), text.size()}; }

// Stops Beast; the reason is in the refusal.
BeastError stopped() { return beast::http::error::bad_value; }

// True if the request line ends in "HTTP/" and an unsupported version.
bool names_other_version(std::string_view head) {
  std::string_view line = head.substr(0, head.find('\r'));
  std::string_view version = line.substr(std::min(line.size(), line.rfind(' ') + 1));
  return version.size() == 8 && version.starts_with("HTTP/") && is_digit(version[5]) &&
         version[6] == '.' && is_digit(version[7]) && version != "HTTP/1.0" &&
         version != "HTTP/1.1";
}

Refusal explain(const BeastError& beast_error, const ServerLimits& limits, std::string_view head) {
  using E = beast::http::error;
  auto is = [&](E error) { return beast_error == error; };
  if (is(E::body_limit)) {
    return {413, "The body is longer than " + std::to_string(limits.body_bytes) + " bytes."};
  }
  if (is(E::bad_method)) return {400, "The request does not begin with a method."};
  if (is(E::bad_target)) return {400, "The request line has no valid target."};
  if (is(E::bad_version) && names_other_version(head)) {
    return {505, "The request is not of HTTP/1.0 or HTTP/1.1."};
  }
  if (is(E::bad_field)) return {400, "A header has an invalid name."};
  if (is(E::bad_value)) return {400, "A header has an invalid value."};
  if (is(E::bad_content_length) || is(E::multiple_content_length)) {
    return {400, "The Content-Length of the request must be one number."};
  }
  if (is(E::bad_transfer_encoding)) {
    return {400, "The request has both a Transfer-Encoding and a Content-Length, or two of them."};
  }
  if (is(E::bad_chunk) || is(E::bad_chunk_extension)) {
    return {400, "A chunk of the body is invalid."};
  }
  return {400, "The request is not valid HTTP."};
}

}  // namespace

// Beast's callbacks for the parts of a request.
struct RequestReader::Body final : beast::http::basic_parser<true> {
  explicit Body(const ServerLimits& server_limits) : limits(server_limits), scanner(limits) {
    header_limit(static_cast<std::uint32_t>(limits.head_bytes) + 1);
    body_limit(limits.body_bytes);
    eager(true);
  }

  void refuse(int status, std::string detail, BeastError& beast_error) {
    if (!refusal) refusal = Refusal{status, std::move(detail)};
    beast_error = stopped();
  }

  void on_request_impl(Verb /*verb*/, Text method, Text target, int version,
                       BeastError& beast_error) override {
    if (target.size() > limits.target_bytes) {
      std::string most = std::to_string(limits.target_bytes);
      return refuse(414, "The request's target is longer than " + most + " bytes.", beast_error);
    }
    request.method = view(method);
    request.raw_path = view(target);  // parsed at the end of the head, when Host is known
    http_1_0 = version < 11;
  }

  void on_field_impl(Field /*field*/, Text name, Text value, BeastError& beast_error) override {
    if (head_done) return;  // a trailer must not be treated as a header
    if (request.headers.size() == limits.headers) {
      std::string most = std::to_string(limits.headers);
      return refuse(431, "The request has more than " + most + " headers.", beast_error);
    }
    request.headers.push_back({std::string(view(name)), std::string(view(value))});
  }

  void on_header_impl(BeastError& beast_error) override {
    head_done = true;
    if (auto found = check_head()) refuse(found->status, std::move(found->detail), beast_error);
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>& length,
                         BeastError& /*error*/) override {
    if (length) announced = static_cast<std::size_t>(*length);  // not above the limit
  }

  std::size_t on_body_impl(Text piece, BeastError& beast_error) override {
    add(view(piece), beast_error);
    return piece.size();
  }

  void on_chunk_header_impl(std::uint64_t /*size*/, Text extensions,
                            BeastError& beast_error) override {
    extension_bytes += extensions.size();
    if (!extensions.empty() && extensions.front() != ';') {
      return refuse(400, "A chunk's size is followed by a space.", beast_error);
    }
    if (extension_bytes > kExtensionBytesMax) {
      refuse(400, "The chunk extensions of the body are too long.", beast_error);
    }
  }

  std::size_t on_chunk_body_impl(std::uint64_t /*remaining*/, Text piece,
                                 BeastError& beast_error) override {
    add(view(piece), beast_error);
    return piece.size();
  }

  void on_finish_impl(BeastError& beast_error) override {
    if (inflater && !inflater->at_end()) {
      refuse(400, "The gzip body is truncated.", beast_error);
    }
  }

  void on_response_impl(int /*status*/, Text /*reason*/, int /*version*/,
                        BeastError& /*error*/) override {}

  std::optional<Refusal> check_head();
  std::optional<Refusal> check_framing() const;
  std::optional<Refusal> check_host();
  std::optional<Refusal> check_coding();
  void add(std::string_view piece, BeastError& beast_error);
  std::size_t count(std::string_view name) const;

  const ServerLimits& limits;
  HeadScanner scanner;
  Request request;
  std::optional<Refusal> refusal;
  std::unique_ptr<Inflater> inflater;
  std::size_t announced = 0;  // Content-Length
  std::size_t extension_bytes = 0;
  bool head_done = false;
  bool http_1_0 = false;
};

std::size_t RequestReader::Body::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::count_if(request.headers.begin(), request.headers.end(),
                    [&](const Header& header) { return equal_letters(header.name, name); }));
}

std::optional<Refusal> RequestReader::Body::check_head() {
  if (auto refusal_of_framing = check_framing()) return refusal_of_framing;
  if (auto refusal_of_host = check_host()) return refusal_of_host;
  Result<Target> target =
      http::parse_target(request.method, request.raw_path, request.header("Host"));
  if (!target) return Refusal{400, target.error().message};
  request.path = std::move(target->path);
  request.raw_path = std::move(target->raw_path);
  request.query = std::move(target->query);
  std::string_view expects = request.header("Expect");
  if (!expects.empty() && !http_1_0 && !equal_letters(expects, "100-continue")) {
    return Refusal{417, "The request expects something other than 100-continue."};
  }
  return check_coding();
}

// Every recipient of the same bytes must find the same end of the body (request smuggling).
std::optional<Refusal> RequestReader::Body::check_framing() const {
  std::size_t codings = count("Transfer-Encoding");
  if (codings > 0 && (codings > 1 || http_1_0 || count("Content-Length") > 0 ||
                      !equal_letters(request.header("Transfer-Encoding"), "chunked"))) {
    return Refusal{400, "The Transfer-Encoding of the request must be \"chunked\" only."};
  }
  std::string_view length = request.header("Content-Length");
  std::size_t lengths = count("Content-Length");
  if (lengths > 1 || (lengths == 1 && (length.empty() || !std::all_of(length.begin(), length.end(),
                                                                      http::is_digit)))) {
    return Refusal{400, "The Content-Length of the request must be one number."};
  }
  return std::nullopt;
}

std::optional<Refusal> RequestReader::Body::check_host() {
  std::size_t hosts = count("Host");
  if (hosts > 1) return Refusal{400, "The request has more than one Host header."};
  if (hosts == 0 && !http_1_0) return Refusal{400, "The request has no Host header."};
  if (hosts == 1 && !is_host(request.header("Host"))) {
    return Refusal{400, "The Host header of the request has no host."};
  }
  return std::nullopt;
}

std::optional<Refusal> RequestReader::Body::check_coding() {
  if (count("Content-Encoding") == 0) return std::nullopt;
  std::string_view coding = request.header("Content-Encoding");
  bool is_gzip = equal_letters(coding, "gzip") || equal_letters(coding, "x-gzip");
  if (count("Content-Encoding") > 1 || (!is_gzip && !equal_letters(coding, "identity"))) {
    return Refusal{415, "Unsupported Content-Encoding. Use gzip, or none."};
  }
  if (is_gzip) inflater = std::make_unique<Inflater>(limits.body_bytes);
  std::erase_if(request.headers, [](const Header& header) {
    return equal_letters(header.name, "Content-Encoding");
  });
  return std::nullopt;
}

void RequestReader::Body::add(std::string_view piece, BeastError& beast_error) {
  if (!inflater) {
    // Grows with the received bytes, up to the announced length: the capacity counts against the
    // total of buffered bytes.
    std::size_t needed = request.body.size() + piece.size();
    if (needed > request.body.capacity() && needed <= announced) {
      // A new string: growing the existing one would allocate twice its size.
      std::string grown;
      grown.reserve(std::min(announced, std::max(needed, 2 * request.body.capacity())));
      grown.append(request.body);
      request.body = std::move(grown);
    }
    request.body.append(piece);
    return;
  }
  switch (inflater->add(piece, request.body)) {
    case Inflater::Outcome::fine:
      return;
    case Inflater::Outcome::corrupt:
      return refuse(400, "The body is not gzip, contrary to its Content-Encoding.", beast_error);
    case Inflater::Outcome::too_large: {
      std::string most = std::to_string(limits.body_bytes);
      return refuse(413, "The body is longer than " + most + " bytes, decompressed.", beast_error);
    }
  }
}

RequestReader::RequestReader(const ServerLimits& limits) : body_(std::make_unique<Body>(limits)) {}
RequestReader::~RequestReader() = default;

std::size_t RequestReader::take(std::string_view bytes) { return take_some(bytes, false); }
std::size_t RequestReader::take_head(std::string_view bytes) { return take_some(bytes, true); }

std::size_t RequestReader::take_some(std::string_view bytes, bool only_head) {
  if (!body_->head_done) {
    body_->refusal = body_->scanner.look(bytes);
    if (body_->refusal || body_->scanner.size() == 0) return 0;
  }
  // Only the head first: the bytes after it can belong to the body or to the next request.
  std::size_t taken = 0;
  BeastError beast_error;
  while (taken < bytes.size() && !body_->is_done()) {
    std::size_t most = body_->head_done ? bytes.size() - taken : body_->scanner.size();
    if (body_->head_done && body_->chunked() && most < kLastChunkBytes) break;
    std::size_t step =
        body_->put(boost::asio::const_buffer(bytes.data() + taken, most), beast_error);
    taken += step;
    if (beast_error || step == 0 || (only_head && body_->head_done)) break;
  }
  if (beast_error && beast_error != beast::http::error::need_more && !body_->refusal) {
    body_->refusal = explain(beast_error, body_->limits, bytes);
  }
  bool is_whole = !only_head && !body_->is_done();
  if (!body_->refusal && is_whole && bytes.size() - taken > kChunkHeadBytesMax) {
    body_->refusal = Refusal{400, "A chunk's head or the trailers of the body are too long."};
  }
  return taken;
}

bool RequestReader::head_done() const { return body_->head_done; }
bool RequestReader::complete() const { return body_->is_done() && !body_->refusal; }
const std::optional<Refusal>& RequestReader::refusal() const { return body_->refusal; }
bool RequestReader::keeps_alive() const { return body_->keep_alive(); }
bool RequestReader::is_http_1_0() const { return body_->http_1_0; }
Request& RequestReader::request() { return body_->request; }

bool RequestReader::expects_continue() const {
  return !body_->http_1_0 && !body_->is_done() && !body_->request.header("Expect").empty();
}

bool RequestReader::accepts_gzip() const {
  return http::accepts_gzip(body_->request.header("Accept-Encoding"));
}

std::size_t RequestReader::buffered_bytes() const {
  const std::string& body = body_->request.body;
  std::size_t of_body = body.capacity() > std::string().capacity() ? body.capacity() : 0;
  return of_body + (body_->head_done ? body_->scanner.size() : 0);
}

}  // namespace belay::http
