#include <gtest/gtest.h>

#include "http/server_world.h"

namespace belay::http {
namespace {

Handler echo() {
  return answering([](const Request& request) {
    Response response;
    response.headers.push_back({"Content-Type", "text/plain"});
    response.body = request.method + " " + request.path + "?" + request.query + " " + request.body;
    return response;
  });
}

TEST(HttpServer, AnswersARequest) {
  ServerWorld world(echo());
  Client client = world.connect();
  client.send("GET /a%20b?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string answer = client.answer();
  EXPECT_EQ(status_of(answer), 200) << answer;
  EXPECT_EQ(body_of(answer), "GET /a b?x=1 ");
  client.send("POST /b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(body_of(client.answer()), "POST /b? hello");
}

}  // namespace
}  // namespace belay::http
