// The events of a run over HTTP: streams, pages, and large states.

#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

using namespace std::chrono_literals;
using ApiEvents = ApiFixture;

TEST_F(ApiEvents, AreAStreamThatEndsWithTheRunAndIsTakenUpAgain) {
  post("/api/agents/mail/runs", R"({"input":{"topic":"x"},"threadId":"first"})");
  auto streamed = request("GET", "/api/threads/first/events?kinds=updates,status");
  streamed.headers.push_back({"Accept", "text/event-stream"});
  auto answer = send(std::move(streamed));
  ASSERT_TRUE(answer.stream);
  std::string whole = read_all(*answer.stream);
  EXPECT_NE(whole.find("event: updates\n"), std::string::npos);
  EXPECT_TRUE(whole.ends_with("event: end\ndata: {}\n\n"));

  std::size_t first_id = whole.find("id: ") + 4;
  std::string id = whole.substr(first_id, whole.find('\n', first_id) - first_id);
  auto rest = request("GET", "/api/threads/first/events?kinds=updates,status");
  rest.headers.push_back({"Accept", "text/event-stream"});
  rest.headers.push_back({"Last-Event-ID", id});
  auto rejoined = send(std::move(rest));
  std::string later = read_all(*rejoined.stream);
  EXPECT_EQ(later.find("id: " + id + "\n"), std::string::npos);
  // exactly the text after that event
  std::size_t behind = whole.find("\n\n", whole.find("id: " + id)) + 2;
  EXPECT_EQ(later.substr(later.find("\n\n") + 2), whole.substr(behind));
}

TEST_F(ApiEvents, AreTakenUpAfterEachOfThemAtWhicheverServer) {
  post("/api/agents/mail/runs", R"({"input":{"topic":"x"},"threadId":"first"})");
  auto stream_after = [&](const std::string& id) {
    auto asked = request("GET", "/api/threads/first/events");
    asked.headers.push_back({"Accept", "text/event-stream"});
    if (!id.empty()) asked.headers.push_back({"Last-Event-ID", id});
    auto answer = send(std::move(asked));
    EXPECT_TRUE(answer.stream);
    std::string text = answer.stream ? read_all(*answer.stream) : "\n\n";
    return text.substr(text.find("\n\n") + 2);
  };
  std::string whole = stream_after("");
  int places = 0;
  for (std::size_t at = whole.find("id: "); at != whole.npos; at = whole.find("\nid: ", at + 1)) {
    std::size_t begin = whole.find("id: ", at) + 4;
    std::string id = whole.substr(begin, whole.find('\n', begin) - begin);
    std::size_t behind = whole.find("\n\n", begin) + 2;
    api = make_api();  // another server, which has not served this client
    EXPECT_EQ(stream_after(id), whole.substr(behind)) << id;
    ++places;
  }
  EXPECT_GT(places, 10);
  EXPECT_EQ(get("/api/threads/first/events?after=1000000-0").status, 422) << "not there yet";
}

TEST_F(ApiEvents, ATokenOfLifeComesWhereNothingElseDoes) {
  begin_urgent("first");
  auto streamed = request("GET", "/api/threads/first/events?kinds=status&after=1-0");
  streamed.headers.push_back({"Accept", "text/event-stream"});
  auto answer = send(std::move(streamed));
  ASSERT_TRUE(answer.stream);
  std::string heard;
  for (int i = 0; i < 4; ++i) heard += block_on(loop, answer.stream->next()).value();
  EXPECT_NE(heard.find(": still here\n\n"), std::string::npos) << heard;
}

TEST_F(ApiEvents, AreAPageForWhoTakesNoStream) {
  post("/api/agents/mail/runs", R"({"input":{"topic":"x"},"threadId":"first"})");
  auto page = get("/api/threads/first/events?kinds=status");
  EXPECT_EQ(page.status, 200);
  EXPECT_FALSE(page.body["events"].as_array()->empty());
  EXPECT_EQ(get("/api/threads/first/events?kinds=everything").status, 422);
  EXPECT_EQ(get("/api/threads/first/events?after=soon").status, 422);
}

// A stream that a client reads while other things happen.
struct OpenStream {
  std::unique_ptr<http::BodyStream> stream;
  std::string heard;
  bool has_ended = false;
  Spawned task;  // last member: it uses all members above
};

Task<Done> read_on(OpenStream& into) {
  while (true) {
    auto piece = co_await into.stream->next();
    EXPECT_TRUE(piece.ok());
    if (!piece.ok() || piece->empty()) co_return Done{};
    into.heard += *piece;
  }
}

TEST_F(ApiEvents, EndWithTheLastStatusIfTheRunIsCancelledHereOrElsewhere) {
  model.takes(1h);
  auto elsewhere = process();
  for (std::string thread : {"here", "elsewhere"}) {
    SCOPED_TRACE(thread);
    auto started = request("POST", "/api/agents/mail/runs",
                           R"({"input":{"topic":"x"},"threadId":")" + thread + "\"}");
    started.headers.push_back({"Prefer", "wait=0"});
    ASSERT_EQ(send(std::move(started)).status, 202);
    auto streamed = request("GET", "/api/threads/" + thread + "/events?kinds=status");
    streamed.headers.push_back({"Accept", "text/event-stream"});
    OpenStream open;
    open.stream = send(std::move(streamed)).stream;
    ASSERT_TRUE(open.stream);
    std::function<void(Done)> done = [&open](Done) { open.has_ended = true; };
    open.task = spawn<Done>(loop, read_on(open), std::move(done));
    // Without news, the reader polls less and less often.
    loop.run_until(clock.now() + 20s);
    EXPECT_FALSE(open.has_ended);
    EXPECT_NE(open.heard.find("\"running\""), std::string::npos) << open.heard;
    if (thread == "here") {
      EXPECT_EQ(post("/api/threads/here/cancel", "{}").status, 200);
    } else {
      ThreadId named(thread);
      ASSERT_TRUE(block_on(loop, elsewhere->cancel(default_tenant(), named, "ana")).ok());
    }
    loop.run_until(clock.now() + 10s);
    EXPECT_TRUE(open.has_ended) << "the reader is left hanging";
    std::size_t last = open.heard.rfind("event: status\n");
    ASSERT_NE(last, std::string::npos);
    EXPECT_NE(open.heard.find("\"cancelled\"", last), std::string::npos) << open.heard;
    EXPECT_TRUE(open.heard.ends_with("\n\nevent: end\ndata: {}\n\n")) << open.heard;
  }
}

// States of several hundred kilobytes.
struct ApiLargeEvents : ApiFixture {
  static constexpr std::size_t kTopic = 400'000;
  ApiLargeEvents() {
    post("/api/agents/mail/runs",
         R"({"threadId":"large","input":{"topic":")" + std::string(kTopic, 'x') + R"("}})");
  }
};

TEST_F(ApiLargeEvents, AreStreamedOneByOne) {
  auto asked = request("GET", "/api/threads/large/events?kinds=values");
  asked.headers.push_back({"Accept", "text/event-stream"});
  auto answer = send(std::move(asked));
  ASSERT_TRUE(answer.stream);
  std::size_t states = 0;
  while (true) {
    std::string piece = block_on(loop, answer.stream->next()).value();
    if (piece.empty()) break;
    std::size_t events = 0;
    for (std::size_t at = piece.find("event: values"); at != piece.npos;
         at = piece.find("event: values", at + 1)) {
      ++events;
    }
    EXPECT_LE(events, 1u) << "no two states in one piece";
    states += events;
  }
  EXPECT_GE(states, 2u);
}

TEST_F(ApiLargeEvents, ArePagedByTheirBytesAndTheNextPageGoesOn) {
  std::vector<Value> all;
  std::string after;
  int pages = 0;
  while (true) {
    std::string target = "/api/threads/large/events?kinds=values,status" + after;
    auto page = get(target);
    ASSERT_EQ(page.status, 200) << to_json(page.body);
    EXPECT_LT(to_json(page.body).size(), 1024 * 1024 + 3 * kTopic);
    for (const Value& event : *page.body["events"].as_array()) all.push_back(event);
    ++pages;
    ASSERT_LT(pages, 20);
    if (page.body["next"].is_null()) break;
    after = "&after=" + text(page.body["next"]);
  }
  EXPECT_GT(pages, 1);
  auto asked = request("GET", "/api/threads/large/events?kinds=values,status");
  asked.headers.push_back({"Accept", "text/event-stream"});
  auto answer = send(std::move(asked));
  std::string stream = read_all(*answer.stream);
  std::size_t at = 0;
  for (const Value& event : all) {
    at = stream.find("data: " + to_json(event) + "\n", at);
    ASSERT_NE(at, stream.npos) << text(event["id"]);
  }
}

}  // namespace
}  // namespace belay::server
