#include "http/server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "tests/support/http_server_fixture.h"

namespace belay::http {
namespace {

using namespace std::chrono_literals;

Handler echo() {
  return answering([](const Request& request) {
    Response response;
    response.headers.push_back({"Content-Type", "text/plain"});
    response.body = request.method + " " + request.path + " " + request.body;
    return response;
  });
}

TEST(HttpServer, AnswersRequestsOfOneConnectionOneAfterTheOther) {
  HttpServerFixture world(echo());
  Client client = world.connect();
  client.send("GET /a%20b?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string answer = client.answer();
  EXPECT_EQ(status_of(answer), 200) << answer;
  EXPECT_EQ(body_of(answer), "GET /a b ");
  EXPECT_NE(answer.find("\r\nDate: "), answer.npos);
  EXPECT_NE(answer.find(" GMT\r\n"), answer.npos);
  client.send("POST /b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(body_of(client.answer()), "POST /b hello");
  EXPECT_EQ(world.counts().accepted, 1u);
  EXPECT_EQ(world.counts().requests, 2u);
}

TEST(HttpServer, ReadsARequestThatComesByteByByte) {
  HttpServerFixture world(echo());
  Client client = world.connect();
  for (char byte : std::string("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                               "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n")) {
    ASSERT_TRUE(client.send({&byte, 1}));
  }
  EXPECT_EQ(body_of(client.answer()), "POST / hello!");
}

TEST(HttpServer, AnswersPipelinedRequestsInTheirOrder) {
  HttpServerFixture world(echo());
  Client client = world.connect();
  std::string all;
  for (int i = 0; i < 500; ++i) {
    all += "POST /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx\r\n";
  }
  client.send(all);
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(body_of(client.answer()), "POST /" + std::to_string(i) + " x");
  }
}

TEST(HttpServer, HandlesOneRequestOfAConnectionAtATime) {
  HeldHandler held;
  HttpServerFixture world(held.handler());
  Client client = world.connect();
  client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
  world.wait_for([](const ServerCounts& counts) { return counts.handling == 1; });
  EXPECT_EQ(held.begun, 1);
  held.release("done ");
  EXPECT_EQ(body_of(client.answer()), "done /1");
  EXPECT_EQ(body_of(client.answer()), "done /2");
}

TEST(HttpServer, LeavesTheBodyOfAHeadAnswerOut) {
  HttpServerFixture world(echo());
  std::string answer =
      exchange(world.port(), "HEAD /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_NE(answer.find("Content-Length: 8\r\n"), answer.npos) << answer;
  EXPECT_EQ(body_of(answer), "");
}

TEST(HttpServer, ClosesWhenTheClientAsksForIt) {
  HttpServerFixture world(echo());
  for (const char* request :
       {"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    std::string answer = exchange(world.port(), request);
    EXPECT_EQ(status_of(answer), 200);
    EXPECT_NE(answer.find("\r\nConnection: close\r\n"), answer.npos) << request;
  }
}

TEST(HttpServer, KeepsAnOldClientsConnectionWhenItAsksForIt) {
  HttpServerFixture world(echo());
  Client client = world.connect();
  for (int i = 0; i < 2; ++i) {
    client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    std::string answer = client.answer();
    EXPECT_NE(answer.find("\r\nConnection: keep-alive\r\n"), answer.npos) << answer;
  }
}

TEST(HttpServer, AsksForTheBodyThatAClientHoldsBack) {
  HttpServerFixture world(echo());
  Client client = world.connect();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hello");
  EXPECT_EQ(body_of(client.answer()), "POST / hello");
}

TEST(HttpServer, RefusesABodyBeforeItAsksForIt) {
  HttpServerFixture world(echo());
  std::string answer = exchange(world.port(),
                                "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                                "Content-Length: 99999999\r\n\r\n");
  EXPECT_EQ(status_of(answer), 413) << answer;
}

TEST(HttpServer, RefusesByProblemDocumentsAndCloses) {
  HttpServerFixture world(echo());
  std::string answer = exchange(world.port(), "GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(status_of(answer), 400);
  EXPECT_NE(answer.find("Content-Type: application/problem+json\r\n"), answer.npos);
  EXPECT_NE(answer.find("\r\nConnection: close\r\n"), answer.npos);
  EXPECT_EQ(body_of(answer),
            "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
            "\"detail\":\"The request has no Host header.\"}\n");
  EXPECT_EQ(world.counts().requests, 0u);
  EXPECT_EQ(world.counts().refused, 1u);
}

TEST(HttpServer, RefusesInTheShapeThatItIsGiven) {
  ServerOptions options;
  options.error_response = [](int status, std::string detail) {
    Response response{.status = status};
    response.body = "no: " + detail;
    return response;
  };
  HttpServerFixture world(echo(), std::move(options));
  EXPECT_EQ(body_of(exchange(world.port(), "GET / HTTP/1.1\r\n\r\n")),
            "no: The request has no Host header.");
}

TEST(HttpServer, SmugglesNothingBehindARefusedRequest) {
  HttpServerFixture world(echo());
  std::string answer = exchange(world.port(),
                                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n"
                                "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
                                    kGet + kGet);
  EXPECT_EQ(status_of(answer), 400);
  EXPECT_EQ(answer.find("HTTP/1.1", 1), answer.npos) << answer;
  EXPECT_EQ(world.counts().requests, 0u);
}

TEST(HttpServer, AnswersARefusedUploadThatTheClientGoesOnSending) {
  ServerOptions options;
  options.limits.body_bytes = 1'000;
  HttpServerFixture world(echo(), std::move(options));
  Client client = world.connect();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n");
  client.send(std::string(2'000'000, 'x'));
  client.end_sending();
  EXPECT_EQ(status_of(client.read_all()), 413);
}

TEST(HttpServer, SendsALargeBodyToASlowReader) {
  std::string large;
  while (large.size() < 20'000'000) large += std::to_string(large.size()) + " ";
  HttpServerFixture world(answering([&](const Request&) {
    Response response;
    response.body = large;
    return response;
  }));
  Client client = world.connect();
  client.send(kGet);
  world.wait_for([&](const ServerCounts& counts) { return counts.buffered_bytes >= large.size(); });
  EXPECT_TRUE(body_of(client.answer()) == large);
  EXPECT_EQ(world.counts().buffered_bytes, 0u);
}

TEST(HttpServer, LeavesOutHeadersThatWouldSplitTheAnswer) {
  HttpServerFixture world(answering([](const Request&) {
    Response response;
    response.headers.push_back({"X-A", "b\r\nX-Evil: 1"});
    response.headers.push_back({"X-\r\nEvil", "1"});
    response.headers.push_back({"X-B", std::string("a\0b", 3)});
    response.headers.push_back({"Content-Length", "999"});
    response.headers.push_back({"Transfer-Encoding", "chunked"});
    response.headers.push_back({"X-C", "\xc3\xa4"});
    return response;
  }));
  Client client = world.connect();
  client.send(kGet);
  std::string answer = client.answer();
  EXPECT_EQ(answer.find("Evil"), answer.npos) << answer;
  EXPECT_EQ(answer.find("X-B"), answer.npos);
  EXPECT_EQ(answer.find("chunked"), answer.npos);
  EXPECT_NE(answer.find("Content-Length: 0\r\n"), answer.npos);
  EXPECT_NE(answer.find("X-C: \xc3\xa4\r\n"), answer.npos);
}

TEST(HttpServer, SendsNoBodyWhereTheStatusHasNone) {
  HttpServerFixture world(answering([](const Request& request) {
    Response response{.status = request.path == "/204" ? 204 : 304};
    response.body = "nothing";
    return response;
  }));
  Client client = world.connect();
  for (const char* path : {"/204", "/304"}) {
    client.send("GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    std::string head = client.read_until("\r\n\r\n");
    EXPECT_EQ(head.find("Content-Length"), head.npos) << head;
  }
}

TEST(HttpServer, TellsTheHandlerWhoAsks) {
  HttpServerFixture world(answering([](const Request& request) {
    Response response;
    response.body = request.peer + (request.tls ? " tls" : " plain") + " " +
                    std::string(request.header("x-NAME"));
    return response;
  }));
  Client client = world.connect();
  client.send("GET / HTTP/1.1\r\nHost: a\r\nX-Name: b\r\n\r\n");
  EXPECT_EQ(body_of(client.answer()), "127.0.0.1 plain b");
}

TEST(HttpServer, GoesOnWithARequestWhoseClientHasGone) {
  HeldHandler held;
  HttpServerFixture world(held.handler());
  {
    Client client = world.connect();
    client.send(kGet);
    world.wait_for([](const ServerCounts& counts) { return counts.handling == 1; });
    client.reset();
  }
  world.connect().send(kGet);  // the loop has processed all earlier events
  world.wait_for([](const ServerCounts& counts) { return counts.handling == 2; });
  EXPECT_EQ(held.destroyed, 0);
  held.release("done");
  world.wait_for([](const ServerCounts& counts) { return counts.connections == 0; });
  EXPECT_EQ(held.destroyed, 2);
}

TEST(HttpServer, DestroysTheTaskOfARequestThatEndsWithItsClient) {
  HeldHandler held;
  ServerOptions options;
  options.ends_with_client = [](const Request& request) { return request.path == "/wait"; };
  HttpServerFixture world(held.handler(), std::move(options));
  Client client = world.connect();
  client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  world.wait_for([](const ServerCounts& counts) { return counts.handling == 1; });
  client.end_sending();
  EXPECT_EQ(client.read_all(), "");
  EXPECT_EQ(held.destroyed, 1);
}

TEST(HttpServer, AnswersAClientThatHasEndedItsSide) {
  HeldHandler held;
  HttpServerFixture world(held.handler());
  Client client = world.connect();
  client.send(kGet);
  client.end_sending();
  world.wait_for([](const ServerCounts& counts) { return counts.handling == 1; });
  held.release("done ");
  EXPECT_EQ(body_of(client.read_all()), "done /");
}

TEST(HttpServer, SurvivesClientsThatGoAtAnyMoment) {
  HttpServerFixture world(echo());
  std::string request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" + kGet;
  for (std::size_t cut = 0; cut <= request.size(); ++cut) {
    Client client = world.connect();
    client.send(request.substr(0, cut));
    if (cut % 2 == 0) client.reset();
  }
  Client client = world.connect();
  client.send(kGet);
  EXPECT_EQ(client.status_of_answer(), 200);
  world.wait_for([](const ServerCounts& counts) { return counts.connections == 1; });
}

TEST(HttpServer, SaysWhyItCannotListen) {
  auto loop = make_asio_loop();
  auto clock = system_clock();
  auto listen = [&](std::string address, int port) {
    ServerOptions options;
    options.address = std::move(address);
    options.port = port;
    return Server::listen(*loop, *clock, std::move(options), echo());
  };
  auto first = listen("127.0.0.1", 0);
  ASSERT_TRUE(first.ok());
  int port = (*first)->port();
  auto taken = listen("127.0.0.1", port);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code, ErrorCode::unavailable);
  EXPECT_EQ(taken.error().message,
            "The server could not listen on 127.0.0.1, port " + std::to_string(port) +
                ": another program uses the port. Stop it, or choose another "
                "port.");
  for (const char* address : {"", "nonsense", "127.0.0.1:80", "localhost", "300.0.0.1"}) {
    auto bad = listen(address, 0);
    ASSERT_FALSE(bad.ok()) << address;
    EXPECT_EQ(bad.error().code, ErrorCode::invalid);
    EXPECT_NE(bad.error().message.find("expected an IP address such as 127.0.0.1"),
              std::string::npos);
  }
  EXPECT_EQ(listen("127.0.0.1", 70'000).error().code, ErrorCode::invalid);
  auto foreign = listen("192.0.2.1", 0);  // TEST-NET-1: assigned to no machine
  ASSERT_FALSE(foreign.ok());
  EXPECT_NE(foreign.error().message.find("the machine does not have this address"),
            std::string::npos);
}

}  // namespace
}  // namespace belay::http
