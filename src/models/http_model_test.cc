// Models over real loopback sockets, with servers that reply and servers that do not.

#include "models/http_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <sstream>

#include "tests/support/scripted_server.h"

namespace belay::models {
namespace {

using namespace std::chrono_literals;
using net::Peer;
using net::ScriptedServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string head(std::string_view type = "text/event-stream", std::string_view more = "",
                 int status = 200) {
  return "HTTP/1.1 " + std::to_string(status) + " So\r\nContent-Type: " + std::string(type) +
         "\r\n" + std::string(more) + "Transfer-Encoding: chunked\r\n\r\n";
}

std::string chunk(std::string_view bytes) {
  std::ostringstream out;
  out << std::hex << bytes.size() << "\r\n" << bytes << "\r\n";
  return std::move(out).str();
}

const std::string last_chunk = "0\r\n\r\n";

std::string says(const std::string& text) {
  return "data: {\"choices\":[{\"delta\":{\"content\":\"" + text + "\"}}]}\n\n";
}
const std::string done = "data: [DONE]\n\n";

std::string body_of(const std::string& request) {
  return request.substr(std::min(request.find("\r\n\r\n") + 4, request.size()));
}

struct HttpModels : ::testing::Test {
  std::unique_ptr<EventLoop> loop = make_event_loop();
  std::unique_ptr<Clock> clock = system_clock();
  ModelSettings settings = [] {
    ModelSettings made;
    made.proxy = "";
    made.openai_key = "a-secret-key";
    made.models = "openai:m-1";
    return made;
  }();
  std::string told;
  std::shared_ptr<Model> model;

  Result<ModelReply> ask(const ScriptedServer& server, std::string_view path = "/v1") {
    settings.url = server.url(path);
    model = open_model(settings, *clock).value();
    return again();
  }
  Result<ModelReply> again() {
    told.clear();
    ModelRequest request;
    request.messages = {{Role::user, "Hello"}};
    request.on_text_delta = [this](std::string_view piece) { told += piece; };
    return block_on(*loop, model->generate(std::move(request)));
  }
  Error failure(const ScriptedServer& server) {
    auto reply = ask(server);
    model.reset();
    if (!reply.ok()) return reply.error();
    ADD_FAILURE() << "it said " << reply->text;
    return error(ErrorCode::corrupt, "It answered.");
  }
};

TEST_F(HttpModels, AnswerOverOneConnectionAgainAndAgain) {
  std::string seen;
  ScriptedServer server([&](Peer& peer, int) {
    while (true) {
      std::string request = peer.request();
      if (request.empty()) return;
      seen = request;
      peer.send(head() + chunk(says("Hel")) + chunk(says("lo") + done) + last_chunk);
    }
  });
  ASSERT_EQ(ask(server)->text, "Hello");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(again()->text, "Hello");
  EXPECT_EQ(told, "Hello");
  model.reset();
  EXPECT_EQ(server.connections(), 1);
  EXPECT_THAT(seen, HasSubstr("POST /v1/chat/completions HTTP/1.1\r\n"));
  EXPECT_THAT(seen, HasSubstr("authorization: Bearer a-secret-key\r\n"));
  EXPECT_THAT(seen, HasSubstr("content-type: application/json\r\n"));
  EXPECT_EQ(parse_json(body_of(seen)).value()["stream"], Value(true));
}

TEST_F(HttpModels, TellTheTextWhileItComes) {
  std::promise<void> first_was_told;
  ScriptedServer server([&](Peer& peer, int) {
    peer.request();
    peer.send(head() + chunk(says("first")));
    first_was_told.get_future().wait();
    peer.send(chunk(says(" second") + done) + last_chunk);
    peer.sees_the_end();
  });
  settings.url = server.url("/v1");
  model = open_model(settings, *clock).value();
  ModelRequest request;
  request.messages = {{Role::user, "Hello"}};
  std::vector<std::string> pieces;
  request.on_text_delta = [&](std::string_view piece) {
    pieces.emplace_back(piece);
    if (pieces.size() == 1) first_was_told.set_value();
  };
  EXPECT_TRUE(block_on(*loop, model->generate(std::move(request))).ok());
  EXPECT_THAT(pieces, ElementsAre("first", " second"));
  model.reset();
}

TEST_F(HttpModels, WaitForNoServerThatKeepsItsConnectionOpenBehindTheEnd) {
  std::promise<bool> closed;
  ScriptedServer server([&](Peer& peer, int) {
    peer.request();
    peer.send(head() + chunk(says("Hello") + done));
    closed.set_value(peer.sees_the_end());
  });
  settings.timeouts.idle = 10min;
  EXPECT_EQ(ask(server)->text, "Hello");
  EXPECT_TRUE(closed.get_future().get()) << "nobody holds a connection that is of no use";
  model.reset();
}

TEST_F(HttpModels, GiveUpOnWhatHangs) {
  settings.timeouts.first_byte = 100ms;
  settings.timeouts.idle = 50ms;
  for (std::string_view before : {"", "HTTP/1.1 200 OK\r\n"}) {
    ScriptedServer server([&](Peer& peer, int) {
      peer.request();
      peer.send(before);
      EXPECT_TRUE(peer.sees_the_end());
    });
    Error failed = failure(server);
    EXPECT_EQ(failed.code, ErrorCode::unavailable);
    EXPECT_THAT(failed.message, HasSubstr("100 ms"));
    EXPECT_THAT(failed.message, HasSubstr("The model openai:m-1 at 127.0.0.1:"));
  }
  for (const std::string& before : {head(), head() + chunk(says("Hel"))}) {
    ScriptedServer server([&](Peer& peer, int) {
      peer.request();
      peer.send(before);
      EXPECT_TRUE(peer.sees_the_end());
    });
    Error failed = failure(server);
    EXPECT_EQ(failed.code, ErrorCode::unavailable);
    EXPECT_THAT(failed.message, HasSubstr("50 ms"));
  }
}

TEST_F(HttpModels, EndAtTheTotalWhateverDrips) {
  settings.timeouts.idle = 10s;
  settings.timeouts.total = 200ms;
  for (const std::string& drop : {std::string("1\r\n:\r\n"), chunk(says("x")), chunk(": hi\n\n")}) {
    ScriptedServer server([&](Peer& peer, int) {
      peer.request();
      peer.send(head());
      while (peer.send(drop)) std::this_thread::sleep_for(5ms);
    });
    EXPECT_EQ(failure(server).code, ErrorCode::unavailable);
  }
}

TEST_F(HttpModels, BoundWhatAnAnswerTakes) {
  settings.reply_bytes_max = 1u << 20;
  for (const std::string& flood :
       {says(std::string(60'000, 'x')), std::string(": comment\n\n"), std::string(60'000, 'x'),
        std::string("data: [") + std::string(60'000, '['), "data:" + std::string(100, ' ') + "\n",
        std::string("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":"
                    "{\"arguments\":\"") +
            std::string(60'000, 'x') + "\"}}]}}]}\n\n"}) {
    std::size_t sent = 0;
    std::string piece = flood;
    while (piece.size() < 50'000) piece += flood;
    piece = chunk(piece);
    Error failed;
    {
      ScriptedServer server([&](Peer& peer, int) {
        peer.request();
        peer.send(head());
        while (sent < 100'000'000 && peer.send(piece)) sent += piece.size();
        peer.sees_the_end();
      });
      failed = failure(server);
    }
    EXPECT_EQ(failed.code, ErrorCode::exhausted) << flood.substr(0, 40) << failed.message;
    // At most 16 times the reply limit (wire_factor), plus the socket buffers.
    EXPECT_LT(sent, 40'000'000u) << flood.substr(0, 40);
  }
}

TEST_F(HttpModels, SayWhatTheServerSaidAndNotTheKey) {
  ScriptedServer server([&](Peer& peer, int) {
    peer.request();
    peer.send(head("application/json", "retry-after: 7\r\n", 429) +
              chunk(R"({"error":{"message":"Slow down, a-secret-key","type":"requests"}})") +
              last_chunk);
    peer.sees_the_end();
  });
  Error failed = failure(server);
  EXPECT_EQ(failed.code, ErrorCode::unavailable);
  EXPECT_EQ(failed.retry_after, 7s);
  EXPECT_THAT(failed.message, HasSubstr("responded 429 (requests): Slow down, [key]. Try again"));
}

TEST_F(HttpModels, ReadNoMoreOfAnErrorThanSaysWhy) {
  ScriptedServer server([&](Peer& peer, int) {
    peer.request();
    peer.send(head("text/html", "", 503));
    while (peer.send(chunk(std::string(50'000, '<')))) {
    }
  });
  Error failed = failure(server);
  EXPECT_EQ(failed.code, ErrorCode::unavailable);
  EXPECT_LT(failed.message.size(), 500u);
}

TEST_F(HttpModels, FollowNoRedirectWithTheirKey) {
  ScriptedServer elsewhere([](Peer&, int) { ADD_FAILURE() << "somebody came"; });
  ScriptedServer server([&](Peer& peer, int) {
    peer.request();
    peer.send(head("text/html", "Location: " + elsewhere.url("/v1") + "\r\n", 307) + last_chunk);
    peer.sees_the_end();
  });
  Error failed = failure(server);
  EXPECT_EQ(failed.code, ErrorCode::invalid);
  EXPECT_THAT(failed.message, HasSubstr("it has moved"));
  EXPECT_EQ(elsewhere.connections(), 0);
}

TEST_F(HttpModels, SayWhereNoStreamHasCome) {
  for (auto [type, body, code] :
       {std::tuple("text/html", "<html>Log in</html>", ErrorCode::invalid),
        std::tuple("application/json", R"({"choices":[]})", ErrorCode::invalid),
        std::tuple("application/json", R"({"error":{"message":"busy","code":529}})",
                   ErrorCode::unavailable)}) {
    std::string answer = head(type) + chunk(body) + last_chunk;
    ScriptedServer server([&answer](Peer& peer, int) {
      peer.request();
      peer.send(answer);
      peer.sees_the_end();
    });
    EXPECT_EQ(failure(server).code, code) << body;
  }
}

TEST_F(HttpModels, TakeNoAnswerThatIsCutInItsMidst) {
  for (const std::string& cut :
       {head() + chunk(says("Hello")), head() + chunk(says("Hello")) + last_chunk,
        head() + "5\r\nda", std::string("HTTP/1.1 200 OK\r\nContent-Type: text/event-str"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n") + says("x")}) {
    ScriptedServer server([&](Peer& peer, int) {
      peer.request();
      peer.send(cut);
    });
    EXPECT_EQ(failure(server).code, ErrorCode::unavailable) << cut;
  }
}

TEST_F(HttpModels, CloseTheConnectionWhenNobodyWaitsAnyMore) {
  std::promise<bool> closed;
  ScriptedServer server([&](Peer& peer, int connection) {
    peer.request();
    if (connection == 1) peer.send(head() + chunk(says("Hel")));
    closed.set_value(peer.sees_the_end());
  });
  settings.url = server.url("/v1");
  model = open_model(settings, *clock).value();
  for (bool has_started : {false, true}) {
    closed = {};
    ModelRequest request;
    request.messages = {{Role::user, "Hello"}};
    Spawned running;
    loop->post([&] {
      running = spawn<Result<ModelReply>>(*loop, model->generate(std::move(request)), [](auto) {});
    });
    auto later = []() -> Task<Done> {
      co_await sleep_for(50ms);
      co_return Done{};
    };
    block_on(*loop, later());
    running.reset();
    EXPECT_TRUE(closed.get_future().get()) << has_started;
  }
  model.reset();
}

TEST_F(HttpModels, AreReachedThroughAProxy) {
  std::string seen;
  ScriptedServer proxy([&](Peer& peer, int) {
    seen = peer.request();
    peer.send(head() + chunk(says("by proxy") + done) + last_chunk);
    peer.sees_the_end();
  });
  settings.proxy = proxy.url("");
  settings.url = "http://models.invalid/v1";
  model = open_model(settings, *clock).value();
  EXPECT_EQ(again()->text, "by proxy");
  model.reset();
  EXPECT_THAT(seen, HasSubstr("POST http://models.invalid/v1/chat/completions HTTP/1.1\r\n"));
}

TEST_F(HttpModels, SayWhichSettingLedToNobody) {
  int port = 0;
  {
    ScriptedServer gone([](Peer&, int) {});
    port = gone.port();
  }
  settings.url = "http://127.0.0.1:" + std::to_string(port);
  settings.error_hint = "It is set by BELAY_MODEL.";
  model = open_model(settings, *clock).value();
  Error failed = again().error();
  EXPECT_EQ(failed.code, ErrorCode::unavailable);
  EXPECT_THAT(failed.message, HasSubstr("The model openai:m-1 at 127.0.0.1:"));
  EXPECT_THAT(failed.message, HasSubstr("It is set by BELAY_MODEL."));
}

TEST_F(HttpModels, OfOllamaAndAnthropicAnswerTheSameWay) {
  ScriptedServer server([&](Peer& peer, int) {
    while (true) {
      std::string request = peer.request();
      if (request.empty()) return;
      if (request.starts_with("POST /api/chat")) {
        peer.send(head("application/x-ndjson") +
                  chunk("{\"message\":{\"content\":\"llama\"},\"done\":true}\n") + last_chunk);
      } else {
        EXPECT_THAT(request, HasSubstr("POST /v1/messages HTTP/1.1\r\n"));
        EXPECT_THAT(request, HasSubstr("x-api-key: another-key\r\n"));
        EXPECT_THAT(request, Not(HasSubstr("a-secret-key")));
        peer.send(head() +
                  chunk("event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
                        "\"delta\":{\"type\":\"text_delta\",\"text\":\"claude\"}}\n\n"
                        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n") +
                  last_chunk);
      }
    }
  });
  settings.anthropic_key = "another-key";
  settings.models = "ollama:m";
  EXPECT_EQ(ask(server, "")->text, "llama");
  model.reset();
  settings.models = "anthropic:m";
  EXPECT_EQ(ask(server, "")->text, "claude");
  model.reset();
}

TEST_F(HttpModels, CanBeListedAndTried) {
  ScriptedServer server([&](Peer& peer, int) {
    while (true) {
      std::string request = peer.request();
      if (request.empty()) return;
      if (request.starts_with("GET /v1/models ")) {
        peer.send(head("application/json") + chunk(R"({"data":[{"id":"z"},{"id":"m-1"}]})") +
                  last_chunk);
      } else {
        EXPECT_EQ(parse_json(body_of(request)).value()["max_tokens"], Value(16));
        peer.send(head() + chunk(says("ready") + done) + last_chunk);
      }
    }
  });
  settings.url = server.url("/v1");
  ModelName name = parse_model_names(settings)->front();
  EXPECT_THAT(block_on(*loop, list_models(settings, name, *clock)).value(),
              ElementsAre("m-1", "z"));
  model = open_model(settings, *clock).value();
  EXPECT_EQ(block_on(*loop, try_model(*model, *clock))->reply.text, "ready");
  model.reset();
}

}  // namespace
}  // namespace belay::models
