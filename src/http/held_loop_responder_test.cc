// While a node holds the loop, only liveness checks are answered, and no other request is lost.

#include "http/held_loop_responder.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/http_server_fixture.h"

namespace belay::http {
namespace {

using namespace std::chrono_literals;

Handler echoing_path() {
  return answering([](const Request& request) {
    Response response;
    response.body = request.method + " " + request.path;
    return response;
  });
}

ServerOptions with_liveness() {
  ServerOptions options;
  options.liveness_path = "/healthz";
  return options;
}

const std::string kProbe = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

// Holds the loop of a server until it is released.
class HeldLoop {
 public:
  explicit HeldLoop(HttpServerFixture& world) {
    world.loop().post([state = state_] {
      state->is_held = true;
      while (!state->is_released) std::this_thread::sleep_for(1ms);
    });
    while (!state_->is_held) std::this_thread::sleep_for(1ms);
  }
  HeldLoop(const HeldLoop&) = delete;
  HeldLoop& operator=(const HeldLoop&) = delete;
  ~HeldLoop() { release(); }
  void release() { state_->is_released = true; }

 private:
  // The loop can read it after this object is destroyed.
  struct State {
    std::atomic<bool> is_held = false;
    std::atomic<bool> is_released = false;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

TEST(HeldLoopResponder, AnswersALivenessCheckWhileTheLoopIsHeld) {
  HttpServerFixture world(echoing_path(), with_liveness());
  HeldLoop held(world);
  for (int i = 0; i < 3; ++i) {
    std::string answer = exchange(world.port(), kProbe);
    EXPECT_EQ(status_of(answer), 200) << answer;
    EXPECT_EQ(body_of(answer), R"({"status":"ok"})");
  }
}

TEST(HeldLoopResponder, AnswersAHeadRequestWithoutABody) {
  HttpServerFixture world(echoing_path(), with_liveness());
  HeldLoop held(world);
  std::string answer = exchange(world.port(), "HEAD /healthz?x=1 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

TEST(HeldLoopResponder, PassesOtherRequestsToTheLoopWhole) {
  HttpServerFixture world(echoing_path(), with_liveness());
  std::vector<Client> clients;
  {
    HeldLoop held(world);
    for (const char* path : {"/healthz2", "/a"}) {
      clients.push_back(world.connect());
      clients.back().send("GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    clients.push_back(world.connect());  // sends its head in parts
    clients.back().send("GET /healthz HT");
    EXPECT_EQ(status_of(exchange(world.port(), kProbe)), 200) << "behind the others";
  }
  EXPECT_EQ(body_of(clients[0].answer()), "GET /healthz2");
  EXPECT_EQ(body_of(clients[1].answer()), "GET /a");
  clients[2].send("TP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(body_of(clients[2].answer()), "GET /healthz") << "the handler answers";
}

TEST(HeldLoopResponder, LeavesEverythingToALoopThatResponds) {
  HttpServerFixture world(echoing_path(), with_liveness());
  int handled = 0;
  for (int i = 0; i < 50; ++i) {
    Client client = world.connect();
    client.send(kProbe);
    std::string answer = client.answer();
    EXPECT_EQ(status_of(answer), 200);
    if (body_of(answer) == "GET /healthz") ++handled;
  }
  EXPECT_GT(handled, 25) << "a busy machine can hold the thread of the loop, too";
}

TEST(HeldLoopResponder, AnswersNothingAfterTheServerIsGone) {
  HttpServerFixture world(echoing_path(), with_liveness());
  Client client = world.connect();
  world.on_loop([&] { world.destroy_server(); });
  client.send(kProbe);
  EXPECT_EQ(client.read_all(), "");
}

TEST(HeldLoopResponder, DoesNotAnswerUnlessAPathIsGiven) {
  HttpServerFixture world(echoing_path());
  Client client = world.connect();
  {
    HeldLoop held(world);
    client.send(kProbe);
    std::this_thread::sleep_for(300ms);
  }
  EXPECT_EQ(body_of(client.answer()), "GET /healthz") << "the handler answers, later";
}

}  // namespace
}  // namespace belay::http
