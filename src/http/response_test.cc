// The head of a response, without a connection.

#include "http/response.h"

#include <gtest/gtest.h>

namespace belay::http {
namespace {

// https://www.rfc-editor.org/rfc/rfc9110#section-15, and RFC 6585 and 8470 for 425, 428, 429, 431.
TEST(Answers, NameEachStatusAsItsSpecificationDoes) {
  const char* known[] = {"200 OK",
                         "201 Created",
                         "202 Accepted",
                         "204 No Content",
                         "206 Partial Content",
                         "301 Moved Permanently",
                         "302 Found",
                         "303 See Other",
                         "304 Not Modified",
                         "307 Temporary Redirect",
                         "308 Permanent Redirect",
                         "400 Bad Request",
                         "401 Unauthorized",
                         "403 Forbidden",
                         "404 Not Found",
                         "405 Method Not Allowed",
                         "406 Not Acceptable",
                         "408 Request Timeout",
                         "409 Conflict",
                         "410 Gone",
                         "411 Length Required",
                         "412 Precondition Failed",
                         "413 Content Too Large",
                         "414 URI Too Long",
                         "415 Unsupported Media Type",
                         "417 Expectation Failed",
                         "422 Unprocessable Content",
                         "425 Too Early",
                         "428 Precondition Required",
                         "429 Too Many Requests",
                         "431 Request Header Fields Too Large",
                         "500 Internal Server Error",
                         "501 Not Implemented",
                         "502 Bad Gateway",
                         "503 Service Unavailable",
                         "504 Gateway Timeout",
                         "505 HTTP Version Not Supported"};
  std::size_t named = 0;
  for (int status = 200; status < 600; ++status) {
    Response response;
    response.status = status;
    std::string head = head_of(response, Framing{}, "now");
    std::string line = head.substr(9, head.find("\r\n") - 9);
    bool has_phrase = line.size() > 4;
    if (!has_phrase) continue;
    ASSERT_LT(named, std::size(known)) << line;
    EXPECT_EQ(line, known[named++]);
  }
  EXPECT_EQ(named, std::size(known));
}

TEST(Answers, OfOneConnectionSayWhetherItStays) {
  Response response;
  response.status = 200;
  response.headers = {{"Connection", "x"}, {"A", "b"}, {"Bad Name", "c"}, {"D", "e\nf"}};
  auto head = [&](Framing framing) { return head_of(response, framing, "now"); };
  EXPECT_EQ(head({.length = 7}),
            "HTTP/1.1 200 OK\r\nA: b\r\nDate: now\r\nContent-Length: 7\r\n\r\n");
  EXPECT_EQ(head({.chunked = true, .keep_alive = false}),
            "HTTP/1.1 200 OK\r\nA: b\r\nDate: now\r\nTransfer-Encoding: chunked\r\n"
            "Connection: close\r\n\r\n");
  EXPECT_EQ(head({.length = 0, .http_1_0 = true}),
            "HTTP/1.1 200 OK\r\nA: b\r\nDate: now\r\nContent-Length: 0\r\n"
            "Connection: keep-alive\r\n\r\n");
  response.headers = {{"date", "then"}};
  EXPECT_EQ(head({}), "HTTP/1.1 200 OK\r\ndate: then\r\n\r\n");
}

}  // namespace
}  // namespace belay::http
