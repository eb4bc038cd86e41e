// Streams of events that are open while their run is cancelled, and while their server drains.

#include <gtest/gtest.h>
#include <signal.h>

#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

using namespace std::chrono_literals;

// Longer than anything here takes on a busy machine.
constexpr std::chrono::seconds kSoon{30};

// A stream that is read in the background, while `served` performs other requests.
struct OpenStream {
  std::string text;
  bool has_ended = false;
  std::string fault;  // why it ended before its last chunk; empty if it did not
  Spawned task;
};

Task<Result<Done>> read_on(Served& served, std::string path, OpenStream& into) {
  net::HttpRequest request;
  request.url = served.url(path);
  request.headers = {{"Accept", "text/event-stream"}};
  auto answer = co_await served.client().begin(std::move(request));
  if (!answer.ok()) co_return std::move(answer).error();
  while (true) {
    auto piece = co_await answer->read();
    if (!piece.ok()) co_return std::move(piece).error();
    if (piece->empty()) co_return Done{};
    into.text += *piece;
  }
}

class CliEventStreams : public ::testing::Test {
 protected:
  CliEventStreams() { world.setting.binary = BELAY_SHOP_BINARY; }

  static void open(Served& served, const std::string& path, OpenStream& into) {
    std::function<void(Result<Done>)> done = [&into](Result<Done> result) {
      into.has_ended = true;
      if (!result.ok()) into.fault = result.error().message;
    };
    into.task = spawn<Result<Done>>(served.loop(), read_on(served, path, into), std::move(done));
  }
  // Starts a run of thread "j" whose node takes this time, and returns before it ends.
  static int start(Served& served, int seconds) {
    std::string body = R"({"threadId":"j","input":{"seconds":)" + std::to_string(seconds) + "}}";
    return served.send("POST", "/api/agents/journey/runs", body, {{"Prefer", "wait=0"}}).status;
  }
  // Reads on until the condition is true.
  template <typename Condition>
  static bool comes_to(Served& served, Condition is_so) {
    auto nap = []() -> Task<Done> {
      co_await sleep_for(20ms);
      co_return Done{};
    };
    for (auto waited = 0ms; !is_so() && waited < kSoon; waited += 20ms) {
      block_on(served.loop(), nap());
    }
    return is_so();
  }
  static bool has(const OpenStream& stream, const std::string& part) {
    return stream.text.find(part) != std::string::npos;
  }

  World world;
};

TEST_F(CliEventStreams, EndWithTheLastStatusIfTheRunIsCancelled) {
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  ASSERT_EQ(start(served, 600), 202);
  OpenStream stream;
  open(served, "/api/threads/j/events?kinds=status", stream);
  ASSERT_TRUE(comes_to(served, [&] { return has(stream, "\"running\""); })) << stream.text;
  EXPECT_FALSE(stream.has_ended);
  EXPECT_EQ(served.post("/api/threads/j/cancel").status, 200);
  ASSERT_TRUE(comes_to(served, [&] { return stream.has_ended; })) << "it is left hanging";
  EXPECT_EQ(stream.fault, "");
  EXPECT_TRUE(has(stream, "\"cancelled\"")) << stream.text;
  EXPECT_TRUE(stream.text.ends_with("event: end\ndata: {}\n\n")) << stream.text;
}

TEST_F(CliEventStreams, EndCleanlyIfTheirServerDrainsAndTheNextOneHasTheRest) {
  std::string seen;
  {
    Served served(world.setting);
    ASSERT_TRUE(served.is_up());
    ASSERT_EQ(start(served, 3), 202);
    OpenStream stream;
    open(served, "/api/threads/j/events?kinds=status", stream);
    ASSERT_TRUE(comes_to(served, [&] { return has(stream, "\"running\""); })) << stream.text;
    served.process().send(SIGTERM);
    ASSERT_TRUE(comes_to(served, [&] { return stream.has_ended; })) << "it is left hanging";
    EXPECT_EQ(stream.fault, "") << "the connection broke";
    EXPECT_FALSE(has(stream, "event: end")) << stream.text;
    Outcome ended = served.process().finish();
    EXPECT_EQ(ended.code, 0) << ended.err;
    std::size_t id = stream.text.rfind("id: ");
    ASSERT_NE(id, std::string::npos);
    seen = stream.text.substr(id + 4, stream.text.find('\n', id) - id - 4);
  }
  EXPECT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  Served next(world.setting);
  ASSERT_TRUE(next.is_up());
  Stream rest(next, "/api/threads/j/events?kinds=status", seen);
  EXPECT_TRUE(rest.reads("event: end")) << "a reader that comes back gets the rest";
  EXPECT_NE(rest.so_far().find("\"completed\""), std::string::npos) << rest.so_far();
}

}  // namespace
}  // namespace belay::cli::tests
