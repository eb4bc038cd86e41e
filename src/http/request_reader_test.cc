// Long on purpose: tables of requests, sound and malformed, through the same few functions.
#include "http/request_reader.h"

#include <gtest/gtest.h>

#include <array>

#include "http/compression.h"

namespace belay::http {
namespace {

struct Reading {
  std::optional<Request> request;
  int refused = 0;
  std::string detail;
  std::size_t taken = 0;
};

// Passes the bytes as they would arrive from a socket, `step` at a time.
Reading read(std::string_view bytes, std::size_t step, const ServerLimits& limits = {}) {
  RequestReader reader(limits);
  Reading reading;
  std::size_t come = 0;
  while (come < bytes.size() && !reader.complete() && !reader.refusal()) {
    come = std::min(bytes.size(), come + step);
    reading.taken += reader.take(bytes.substr(reading.taken, come - reading.taken));
  }
  if (reader.complete()) reading.request = std::move(reader.request());
  if (reader.refusal()) {
    reading.refused = reader.refusal()->status;
    reading.detail = reader.refusal()->detail;
  }
  return reading;
}

// Reads the bytes in one piece, and byte by byte, with equal results.
Reading read_both_ways(std::string_view bytes, const ServerLimits& limits = {}) {
  Reading whole = read(bytes, bytes.size(), limits);
  Reading single = read(bytes, 1, limits);
  EXPECT_EQ(whole.refused, single.refused) << bytes;
  EXPECT_EQ(whole.request.has_value(), single.request.has_value()) << bytes;
  if (whole.request && single.request) {
    EXPECT_EQ(whole.request->body, single.request->body);
    EXPECT_EQ(whole.taken, single.taken);
  }
  return whole;
}

std::string get(std::string_view target, std::string_view headers = "Host: a\r\n") {
  return "GET " + std::string(target) + " HTTP/1.1\r\n" + std::string(headers) + "\r\n";
}

std::string post(std::string_view headers, std::string_view body) {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

std::string chunked(std::string_view body) { return post("Transfer-Encoding: chunked\r\n", body); }

struct Malformed {
  std::string name;
  std::string bytes;
  int status;
};

std::vector<Malformed> malformed_framings() {
  const std::string five = "5\r\nhello\r\n0\r\n\r\n";
  return {
      {"CL and TE", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", five), 400},
      {"TE and CL", post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", five), 400},
      {"two CLs that differ", post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!"), 400},
      {"two equal CLs", post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"), 400},
      {"a list of CLs", post("Content-Length: 5, 5\r\n", "hello"), 400},
      {"CL that is no number", post("Content-Length: five\r\n", "hello"), 400},
      {"CL with a sign", post("Content-Length: +5\r\n", "hello"), 400},
      {"negative CL", post("Content-Length: -5\r\n", "hello"), 400},
      {"hexadecimal CL", post("Content-Length: 0x5\r\n", "hello"), 400},
      {"CL with a space within", post("Content-Length: 1 0\r\n", "hello"), 400},
      {"empty CL", post("Content-Length:\r\n", "hello"), 400},
      {"CL beyond 64 bits", post("Content-Length: 99999999999999999999\r\n", ""), 400},
      {"two TEs", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", five), 400},
      {"TE identity", post("Transfer-Encoding: identity\r\n", five), 400},
      {"TE gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n", five), 400},
      {"TE chunked, gzip", post("Transfer-Encoding: chunked, gzip\r\n", five), 400},
      {"TE chunked, chunked", post("Transfer-Encoding: chunked, chunked\r\n", five), 400},
      {"TE xchunked", post("Transfer-Encoding: xchunked\r\n", five), 400},
      {"TE with a vertical tab", post("Transfer-Encoding: \vchunked\r\n", five), 400},
      {"TE in quotes", post("Transfer-Encoding: \"chunked\"\r\n", five), 400},
      {"TE folded", post("Transfer-Encoding:\r\n chunked\r\n", five), 400},
      {"TE with a space before its colon", post("Transfer-Encoding : chunked\r\n", five), 400},
      {"TE in HTTP/1.0", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + five,
       400},
  };
}

std::vector<Malformed> malformed_lines() {
  return {
      {"folded header", get("/", "Host: a\r\nX: b\r\n c\r\n"), 400},
      {"folded with a tab", get("/", "Host: a\r\nX: b\r\n\tc\r\n"), 400},
      {"space before the first header", get("/", " Host: a\r\n"), 400},
      {"bare LF after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", 400},
      {"bare LF after a header", "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n", 400},
      {"bare LFs everywhere", "GET / HTTP/1.1\nHost: a\n\n", 400},
      {"bare CR in a value", get("/", "Host: a\r\nX: b\rc\r\n"), 400},
      {"bare CR after a header", "GET / HTTP/1.1\r\nHost: a\rX: y\r\n\r\n", 400},
      {"two empty lines first", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
  };
}

std::vector<Malformed> malformed_headers() {
  const std::string nul(1, '\0');
  return {
      {"space before the colon", get("/", "Host : a\r\n"), 400},
      {"no colon", get("/", "Host: a\r\nnonsense\r\n"), 400},
      {"empty name", get("/", "Host: a\r\n: b\r\n"), 400},
      {"bracket in a name", get("/", "Host: a\r\nX(y): b\r\n"), 400},
      {"UTF-8 in a name", get("/", "Host: a\r\nX\xc3\xa4: b\r\n"), 400},
      {"NUL in a value", get("/", "Host: a\r\nX: b" + nul + "c\r\n"), 400},
      {"NUL in a name", get("/", "Host: a\r\nX" + nul + ": c\r\n"), 400},
      {"control character in a value",
       get("/",
           "Host: a\r\nX: b\x01"
           "c\r\n"),
       400},
      {"DEL in a value", get("/", "Host: a\r\nX: b\x7f\r\n"), 400},
      {"escape in a value", get("/", "Host: a\r\nX: \x1b[31m\r\n"), 400},
  };
}

std::vector<Malformed> malformed_hosts() {
  return {
      {"no Host", get("/", "X: y\r\n"), 400},
      {"two Hosts", get("/", "Host: a\r\nHost: a\r\n"), 400},
      {"empty Host", get("/", "Host:\r\n"), 400},
      {"Host with a path", get("/", "Host: a/b\r\n"), 400},
      {"Host with a user", get("/", "Host: user@a\r\n"), 400},
      {"Host with a space", get("/", "Host: a b\r\n"), 400},
      {"Host with a wrong port", get("/", "Host: a:80x\r\n"), 400},
      {"Host with an open bracket", get("/", "Host: [::1\r\n"), 400},
  };
}

std::vector<Malformed> malformed_request_lines() {
  return {
      {"method with a bracket", "G[T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"method with a control character", "G\x02T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"method without an end", std::string(100, 'A'), 400},
      {"no method", " / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"TLS hello", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), 400},
      {"two spaces before the target", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"two spaces before the version", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"space behind the version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
      {"tab for a space", "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"no version", "GET /\r\nHost: a\r\n\r\n", 400},
      {"another protocol", "GET / HTTQ/1.1\r\nHost: a\r\n\r\n", 400},
      {"version without its point", "GET / HTTP/11\r\nHost: a\r\n\r\n", 400},
      {"small letters in the version", "GET / http/1.1\r\nHost: a\r\n\r\n", 400},
      {"HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"HTTP/0.9", "GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505},
      {"HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505},
      {"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
  };
}

std::vector<Malformed> malformed_targets() {
  return {
      {"relative target", get("a/b"), 400},
      {"authority form", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", 400},
      {"authority form in a GET", get("a:80"), 400},
      {"asterisk in a GET", get("*"), 400},
      {"absolute form of another host", get("http://b/"), 400},
      {"absolute form with a user", get("http://u@a/"), 400},
      {"absolute form without a host", get("http:///x"), 400},
      {"another scheme", get("ftp://a/"), 400},
      {"fragment", get("/a#b"), 400},
      {"raw UTF-8", get("/\xc3\xa4"), 400},
      {"broken percent", get("/%zz"), 400},
      {"cut percent", get("/a%4"), 400},
      {"NUL in the path", get("/a%00b"), 400},
      {"invalid UTF-8 in the path", get("/%ff"), 400},
      {"overlong UTF-8 in the path", get("/%c0%af"), 400},
      {"dot segment", get("/a/../b"), 400},
      {"encoded dot segment", get("/a/%2e%2e/b"), 400},
      {"dot segment behind an encoded slash", get("/a%2f..%2fb"), 400},
      {"single dot at the end", get("/a/."), 400},
  };
}

std::vector<Malformed> malformed_chunks() {
  return {
      {"chunk size that is no number", chunked("g\r\nhello\r\n0\r\n\r\n"), 400},
      {"negative chunk size", chunked("-5\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size with 0x", chunked("0x5\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size beyond 64 bits", chunked("10000000000000005\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size behind a space", chunked(" 5\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk size before a space", chunked("5 \r\nhello\r\n0\r\n\r\n"), 400},
      {"empty chunk size", chunked("\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk that is longer than its size", chunked("5\r\nhello!\r\n0\r\n\r\n"), 400},
      {"chunk without its CR LF", chunked("5\r\nhello0\r\n\r\n"), 400},
      {"bare LF behind a chunk's size", chunked("5\nhello\r\n0\r\n\r\n"), 400},
      {"bare LF behind a chunk", chunked("5\r\nhello\n0\r\n\r\n"), 400},
      {"bare CR in a chunk's extension", chunked("5;a\rb\r\nhello\r\n0\r\n\r\n"), 400},
      {"bare LF in a chunk's extension", chunked("5;a\nb\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk extension without a name", chunked("5;=b\r\nhello\r\n0\r\n\r\n"), 400},
      {"chunk extension without an end", chunked("5;" + std::string(20'000, 'a')), 400},
      {"bare LF in the trailers", chunked("0\r\nX: y\nZ: a\r\n\r\n"), 400},
      {"TE in the trailers", chunked("0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400},
      {"CL in the trailers", chunked("0\r\nContent-Length: 5\r\n\r\n"), 400},
      {"trailers without an end", chunked("0\r\nX: " + std::string(20'000, 'a')), 400},
  };
}

std::vector<Malformed> malformed_limits() {
  return {
      {"target of 9 KiB", get("/" + std::string(9 * 1024, 'a')), 414},
      {"target without an end", "GET /" + std::string(9 * 1024, 'a'), 414},
      {"head of 17 KiB", get("/", "Host: a\r\nX: " + std::string(17 * 1024, 'a') + "\r\n"), 431},
      {"head without an end", "GET / HTTP/1.1\r\nX: " + std::string(17 * 1024, 'a'), 431},
      {"CL of 2 MiB", post("Content-Length: 2097152\r\n", ""), 413},
      {"chunk of 2 MiB", chunked("200000\r\n"), 413},
  };
}

std::vector<Malformed> malformed_others() {
  return {
      {"unknown coding of the body", post("Content-Encoding: br\r\nContent-Length: 1\r\n", "x"),
       415},
      {"two codings of the body",
       post("Content-Encoding: gzip\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n", "x"), 415},
      {"unknown expectation", post("Expect: a-gift\r\nContent-Length: 1\r\n", "x"), 417},
      {"body that is no gzip", post("Content-Encoding: gzip\r\nContent-Length: 5\r\n", "hello"),
       400},
  };
}

TEST(HttpRequests, RefusesWhatIsMalformed) {
  for (auto requests : {malformed_framings, malformed_lines, malformed_headers, malformed_hosts,
                        malformed_request_lines, malformed_targets, malformed_chunks,
                        malformed_limits, malformed_others}) {
    for (const Malformed& malformed : requests()) {
      Reading reading = read_both_ways(malformed.bytes);
      EXPECT_EQ(reading.refused, malformed.status) << malformed.name << ": " << reading.detail;
      EXPECT_TRUE(reading.refused == 0 || reading.detail.ends_with('.')) << malformed.name;
    }
  }
}

TEST(HttpRequests, TheRefusalNamesThePartThatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> all = {
      {"G[T / HTTP/1.1\r\nHost: a\r\n\r\n", "method"},
      {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "target"},
      {get("/a\xc3"), "target"},
      {get("/a\x01"), "control character"},
      {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", "HTTP/1.0 or HTTP/1.1"},
      {get("/", "Host : a\r\n"), "invalid name"},
      {get("/", "Host: a\r\nX: b\x01\r\n"), "control character"},
      {post("Content-Length: x\r\n", "hello"), "Content-Length"},
      {post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "hello"), "Transfer-Encoding"},
      {chunked("5\r\nhelloX\r\n0\r\n\r\n"), "chunk"},
      {chunked("x\r\nhello\r\n0\r\n\r\n"), "chunk"},
  };
  for (const auto& [bytes, part] : all) {
    Reading reading = read_both_ways(bytes);
    EXPECT_NE(reading.refused, 0) << part;
    EXPECT_NE(reading.detail.find(part), std::string::npos) << part << ": " << reading.detail;
  }
}

TEST(HttpRequests, TakesWhatIsSound) {
  struct Sound {
    std::string name;
    std::string bytes;
    std::string method, path, query, body;
  };
  const std::vector<Sound> all = {
      {"plain", get("/"), "GET", "/", "", ""},
      {"query", get("/a?x=%20&y"), "GET", "/a", "x=%20&y", ""},
      {"encoded", get("/%C3%A4/b%2Fc%20d"), "GET", "/\xc3\xa4/b/c d", "", ""},
      {"empty segments", get("//a//"), "GET", "//a//", "", ""},
      {"dots in a name", get("/a..b/.c/..."), "GET", "/a..b/.c/...", "", ""},
      {"absolute form", get("http://A/b?c", "Host: a\r\n"), "GET", "/b", "c", ""},
      {"absolute form without a path", get("http://a?c"), "GET", "/", "c", ""},
      {"asterisk", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS", "*", "", ""},
      {"method of its own", "BREW-2 / HTTP/1.1\r\nHost: a\r\n\r\n", "BREW-2", "/", "", ""},
      {"HTTP/1.0 without Host", "GET / HTTP/1.0\r\n\r\n", "GET", "/", "", ""},
      {"port", get("/", "Host: a:8080\r\n"), "GET", "/", "", ""},
      {"IPv6", get("/", "Host: [::1]:8080\r\n"), "GET", "/", "", ""},
      {"no space behind a colon", get("/", "Host:a\r\n"), "GET", "/", "", ""},
      {"obs-text in a value", get("/", "Host: a\r\nX: \xe4\r\n"), "GET", "/", "", ""},
      {"length", post("Content-Length: 5\r\n", "hello"), "POST", "/", "", "hello"},
      {"length with zeros", post("Content-Length: 0005\r\n", "hello"), "POST", "/", "", "hello"},
      {"no body", post("Content-Length: 0\r\n", ""), "POST", "/", "", ""},
      {"chunks", chunked("5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"), "POST", "/", "", "hello!"},
      {"hexadecimal chunk", chunked("00a\r\n0123456789\r\n0\r\n\r\n"), "POST", "/", "",
       "0123456789"},
      {"chunk extensions", chunked("5;a=b;c=\"d\"\r\nhello\r\n0;e\r\n\r\n"), "POST", "/", "",
       "hello"},
      {"no chunk but the last", chunked("0\r\n\r\n"), "POST", "/", "", ""},
      {"TE in capitals", post("Transfer-Encoding: CHUNKED\r\n", "0\r\n\r\n"), "POST", "/", "", ""},
      {"identity", post("Content-Encoding: identity\r\nContent-Length: 1\r\n", "x"), "POST", "/",
       "", "x"},
  };
  for (const Sound& sound : all) {
    Reading reading = read_both_ways(sound.bytes);
    ASSERT_TRUE(reading.request) << sound.name << ": " << reading.detail;
    EXPECT_EQ(reading.request->method, sound.method) << sound.name;
    EXPECT_EQ(reading.request->path, sound.path) << sound.name;
    EXPECT_EQ(reading.request->query, sound.query) << sound.name;
    EXPECT_EQ(reading.request->body, sound.body) << sound.name;
    EXPECT_EQ(reading.taken, sound.bytes.size()) << sound.name;
  }
}

TEST(HttpRequests, LeavesTheNextRequestAlone) {
  std::string one = post("Content-Length: 5\r\n", "hello");
  EXPECT_EQ(read(one + get("/"), 10'000).taken, one.size());
  std::string two = chunked("5\r\nhello\r\n0\r\nX: y\r\n\r\n");
  EXPECT_EQ(read(two + get("/"), 10'000).taken, two.size());
  EXPECT_EQ(read(get("/") + "garbage", 10'000).taken, get("/").size());
}

TEST(HttpRequests, KeepTrailersOutOfTheHeaders) {
  Reading reading = read_both_ways(chunked("0\r\nAuthorization: Bearer x\r\n\r\n"));
  ASSERT_TRUE(reading.request) << reading.detail;
  EXPECT_EQ(reading.request->header("authorization"), "");
  EXPECT_EQ(reading.request->headers.size(), 2u);
}

TEST(HttpRequests, HaveAsManyHeadersAsAreAllowedAndNoMore) {
  auto with = [](int count) {
    std::string headers = "Host: a\r\n";
    for (int i = 1; i < count; ++i) headers += "X" + std::to_string(i) + ": y\r\n";
    return get("/", headers);
  };
  EXPECT_TRUE(read_both_ways(with(100)).request);
  EXPECT_EQ(read_both_ways(with(101)).refused, 431);
}

TEST(HttpRequests, MayFillEachLimitToItsLastByte) {
  ServerLimits limits{.head_bytes = 200, .target_bytes = 20, .body_bytes = 10};
  EXPECT_TRUE(read_both_ways(get("/" + std::string(19, 'a')), limits).request);
  EXPECT_EQ(read_both_ways(get("/" + std::string(20, 'a')), limits).refused, 414);
  std::string empty = get("/", "Host: a\r\nX: \r\n");
  std::string full = get("/", "Host: a\r\nX: " + std::string(200 - empty.size(), 'a') + "\r\n");
  EXPECT_TRUE(read_both_ways(full, limits).request);
  std::string over = get("/", "Host: a\r\nX: " + std::string(201 - empty.size(), 'a') + "\r\n");
  EXPECT_EQ(read_both_ways(over, limits).refused, 431);
  EXPECT_TRUE(read_both_ways(post("Content-Length: 10\r\n", "0123456789"), limits).request);
  EXPECT_EQ(read_both_ways(post("Content-Length: 11\r\n", "0123456789a"), limits).refused, 413);
  EXPECT_TRUE(read_both_ways(chunked("5\r\nhello\r\n5\r\nhello\r\n0\r\n\r\n"), limits).request);
  EXPECT_EQ(read_both_ways(chunked("5\r\nhello\r\n6\r\nhello!\r\n0\r\n\r\n"), limits).refused, 413);
}

TEST(HttpRequests, CountsChunkExtensionsOfOneBodyTogether) {
  std::string body;
  for (int i = 0; i < 100; ++i) body += "1;a=" + std::string(1'000, 'b') + "\r\nx\r\n";
  EXPECT_EQ(read_both_ways(chunked(body + "0\r\n\r\n")).refused, 400);
}

std::string gzip(std::string_view text) {
  Response response;
  response.body = text;
  compress(response);
  EXPECT_TRUE(find_header(response.headers, "Content-Encoding"));
  return response.body;
}

std::string gzip_request(const std::string& packed) {
  return post("Content-Encoding: gzip\r\nContent-Length: " + std::to_string(packed.size()) + "\r\n",
              packed);
}

TEST(HttpRequests, DecompressesABody) {
  std::string text(5'000, 'a');
  std::string packed = gzip(text);
  Reading reading = read_both_ways(gzip_request(packed));
  ASSERT_TRUE(reading.request) << reading.detail;
  EXPECT_EQ(reading.request->body, text);
  EXPECT_EQ(reading.request->header("Content-Encoding"), "");
  // gzip files may be concatenated (RFC 1952, section 2.2).
  reading = read_both_ways(gzip_request(packed + packed));
  ASSERT_TRUE(reading.request) << reading.detail;
  EXPECT_EQ(reading.request->body, text + text);
}

TEST(HttpRequests, RefusesABodyThatDecompressesWithoutEnd) {
  std::string bomb = gzip(std::string(100 * 1024 * 1024, '\0'));
  ASSERT_LT(bomb.size(), 1024u * 1024);
  Reading reading = read(gzip_request(bomb), 64 * 1024);
  EXPECT_EQ(reading.refused, 413);
  ServerLimits limits{.body_bytes = 5'000};
  EXPECT_TRUE(read_both_ways(gzip_request(gzip(std::string(5'000, 'a'))), limits).request);
  EXPECT_EQ(read_both_ways(gzip_request(gzip(std::string(5'001, 'a'))), limits).refused, 413);
}

TEST(HttpRequests, RefusesADamagedOrCutGzip) {
  std::string packed = gzip(std::string(5'000, 'a'));
  EXPECT_EQ(read_both_ways(gzip_request(packed.substr(0, packed.size() - 1))).refused, 400);
  EXPECT_EQ(read_both_ways(gzip_request(packed + "x")).refused, 400);
  packed[packed.size() - 6] ^= 1;  // part of its checksum
  EXPECT_EQ(read_both_ways(gzip_request(packed)).refused, 400);
}

}  // namespace
}  // namespace belay::http
