#include "http/compression.h"

#include <gtest/gtest.h>

#include "tests/support/http_server_fixture.h"

namespace belay::http {
namespace {

TEST(HttpCompression, KnowsWhoAcceptsIt) {
  for (const char* yes : {"gzip", "GZIP", "deflate, gzip", "br;q=1.0, gzip;q=0.8, *;q=0.1", "*",
                          "gzip;q=0.001", "x-gzip", "gzip ; q=1", "identity;q=0, *"}) {
    EXPECT_TRUE(accepts_gzip(yes)) << yes;
  }
  for (const char* no : {"", "br", "gzip;q=0", "gzip;q=0.000", "*;q=0", "gzip;q=0, *", "identity",
                         "gzipped", ", ,"}) {
    EXPECT_FALSE(accepts_gzip(no)) << no;
  }
}

Response typed(std::string type, std::size_t bytes = 2'000) {
  Response response;
  response.headers.push_back({"Content-Type", std::move(type)});
  response.body = std::string(bytes, 'a');
  return response;
}

TEST(HttpCompression, KnowsWhatGetsSmaller) {
  for (const char* yes : {"text/html; charset=utf-8", "TEXT/plain", "application/json",
                          "application/problem+json", "image/svg+xml", "application/javascript"}) {
    EXPECT_TRUE(is_compressible(typed(yes))) << yes;
  }
  for (const char* no : {"image/png", "application/octet-stream", "font/woff2", ""}) {
    EXPECT_FALSE(is_compressible(typed(no))) << no;
  }
  EXPECT_TRUE(is_compressible(typed("text/plain", 1'024)));
  EXPECT_FALSE(is_compressible(typed("text/plain", 1'023)));
  Response fixed = typed("text/plain");
  fixed.headers.push_back({"cache-control", "no-store, No-Transform"});
  EXPECT_FALSE(is_compressible(fixed));
  Response coded = typed("text/plain");
  coded.headers.push_back({"Content-Encoding", "br"});
  EXPECT_FALSE(is_compressible(coded));
}

TEST(HttpCompression, SaysWhatItDid) {
  Response response = typed("text/plain");
  response.headers.push_back({"ETag", "\"v1\""});
  compress(response);
  add_vary(response);
  add_vary(response);
  EXPECT_LT(response.body.size(), 100u);
  EXPECT_EQ(*find_header(response.headers, "Content-Encoding"), "gzip");
  EXPECT_EQ(*find_header(response.headers, "ETag"), "W/\"v1\"");
  EXPECT_EQ(*find_header(response.headers, "Vary"), "Accept-Encoding");
  EXPECT_EQ(response.headers.size(), 4u);
}

TEST(HttpCompression, LeavesWhatDoesNotGetSmaller) {
  Response response = typed("text/plain", 0);
  std::uint64_t noise = 1;
  while (response.body.size() < 4'000) {
    noise = noise * 6364136223846793005u + 1442695040888963407u;
    response.body.push_back(static_cast<char>(noise >> 56));
  }
  std::string before = response.body;
  compress(response);
  EXPECT_EQ(response.body, before);
  EXPECT_FALSE(find_header(response.headers, "Content-Encoding"));
}

std::string text_of(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "line " + std::to_string(text.size()) + "\n";
  return text;
}

// A body that is compressed on the loop's thread, and one in the blocking pool.
TEST(HttpCompression, SendsAnswersOfAnySizeCompressed) {
  for (std::size_t bytes : {2'000u, 1'000'000u}) {
    std::string text = text_of(bytes);
    HttpServerFixture world(answering([&](const Request&) {
      Response response;
      response.headers.push_back({"Content-Type", "text/plain"});
      response.body = text;
      return response;
    }));
    Client client = world.connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
    std::string packed = client.answer();
    EXPECT_NE(packed.find("Content-Encoding: gzip\r\n"), packed.npos);
    EXPECT_NE(packed.find("Vary: Accept-Encoding\r\n"), packed.npos);
    Inflater inflater(10'000'000);
    std::string unpacked;
    EXPECT_EQ(inflater.add(body_of(packed), unpacked), Inflater::Outcome::fine);
    EXPECT_TRUE(unpacked == text);
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    std::string plain = client.answer();
    EXPECT_EQ(plain.find("Content-Encoding"), plain.npos);
    EXPECT_NE(plain.find("Vary: Accept-Encoding\r\n"), plain.npos);
    EXPECT_TRUE(body_of(plain) == text);
  }
}

TEST(HttpCompression, SurvivesAServerThatEndsMeanwhile) {
  std::string text = text_of(5'000'000);
  for (int i = 0; i < 5; ++i) {
    HttpServerFixture world(answering([&](const Request&) {
      Response response;
      response.headers.push_back({"Content-Type", "text/plain"});
      response.body = text;
      return response;
    }));
    Client client = world.connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
    world.wait_for([](const ServerCounts& counts) { return counts.handling == 1; });
  }
}

}  // namespace
}  // namespace belay::http
