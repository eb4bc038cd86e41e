// Events over connections that break at any byte.

#include "client/remote_events.h"

#include <gmock/gmock.h>

#include "client/progress_events.h"
#include "client/run_watch.h"
#include "tests/support/scripted_server.h"

namespace belay::client {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

StreamEvent event_of(std::uint64_t seq, std::uint64_t index) {
  StreamEvent event;
  event.id = EventId{seq, index};
  event.kind = EventKind::custom;
  event.thread = ThreadId("t");
  event.body = Value::object({{"name", "n"}});
  return event;
}

StreamEvent said(std::uint64_t offset, std::string text, int attempt = 1) {
  StreamEvent event;
  event.kind = EventKind::messages;
  event.thread = ThreadId("t");
  event.node = "write";
  event.attempt = attempt;
  event.offset = offset;
  event.body = Value::object({{"text", std::move(text)}});
  return event;
}

std::string sse(const StreamEvent& event) {
  std::string text = event.id ? "id: " + event.id->text() + "\n" : "";
  return text + "event: " + std::string(name_of(event.kind)) +
         "\ndata: " + to_json(to_value(event)) + "\n\n";
}

constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\nretry: "
    "1000\n\n";
constexpr std::string_view kEnd = "event: end\ndata: {}\n\n";

struct RemoteEventsTest : ::testing::Test {
  std::unique_ptr<EventLoop> loop = make_event_loop();
  std::vector<std::string> requests;

  // Calls `use` with a connection to a server that sends one of these responses per connection.
  void with_server(const std::vector<std::string>& answers,
                   const std::function<void(Connection&)>& use) {
    net::ScriptedServer server([&](net::Peer& peer, int number) {
      requests.push_back(peer.request());
      auto index = std::min(static_cast<std::size_t>(number), answers.size() - 1);
      peer.send(answers[index]);
    });
    net::HttpClientOptions http_options;
    http_options.proxy = "";
    auto http = net::HttpClient::open(std::move(http_options)).value();
    ConnectionOptions patient;
    patient.patience = 3s;
    Connection connection(*http, server_address_from(server.url("")).value(), patient);
    use(connection);
    http.reset();
  }
  // Returns all events that a reader obtains from these responses.
  Result<std::vector<StreamEvent>> read(const std::vector<std::string>& answers,
                                        EventOptions options = {}) {
    if (options.thread.empty()) options.thread = ThreadId("t");
    Result<std::vector<StreamEvent>> events = std::vector<StreamEvent>();
    with_server(answers, [&](Connection& connection) {
      auto task = all(connection, std::move(options));
      events = block_on(*loop, std::move(task));
    });
    return events;
  }
  static Task<Result<std::vector<StreamEvent>>> all(Connection& connection, EventOptions options) {
    auto reader = co_await RemoteEvents::open(connection, std::move(options));
    if (!reader.ok()) co_return std::move(reader).error();
    std::vector<StreamEvent> events;
    while (true) {
      auto some = co_await (*reader)->next();
      if (!some.ok()) co_return std::move(some).error();
      if (some->empty()) co_return std::move(events);
      for (StreamEvent& event : *some) events.push_back(std::move(event));
    }
  }
};

TEST_F(RemoteEventsTest, AskForTheKindsAndThePlaceThatAreWanted) {
  EventOptions options;
  options.thread = ThreadId("a b");
  options.kinds = {EventKind::status, EventKind::custom};
  options.after = EventId{3, 1};
  options.follow = false;
  auto events = read({std::string(kHead) + std::string(kEnd)}, options);
  EXPECT_TRUE(events.value().empty());
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_THAT(requests[0], HasSubstr("GET /api/threads/a%20b/events?kinds=status%2Ccustom&"
                                     "follow=false HTTP/1.1"));
  EXPECT_THAT(requests[0], HasSubstr("Last-Event-ID: 3-1\r\n"));
}

TEST_F(RemoteEventsTest, ComeAllAndOnceWhereverTheConnectionBreaks) {
  std::vector<StreamEvent> told = {event_of(1, 0), event_of(1, 3), event_of(2, 0)};
  std::string first = sse(told[0]), second = sse(told[1]), third = sse(told[2]);
  std::string whole = first + second + third + std::string(kEnd);
  // The response to a client that has received the first `seen` events.
  auto rest = [&](std::size_t seen) {
    std::string text(kHead);
    if (seen < 1) text += first;
    if (seen < 2) text += second;
    if (seen < 3) text += third;
    return text + std::string(kEnd);
  };
  for (std::size_t cut = 0; cut < whole.size(); cut += 23) {
    requests.clear();
    std::size_t seen = cut >= first.size() + second.size() + third.size() ? 3
                       : cut >= first.size() + second.size()              ? 2
                       : cut >= first.size()                              ? 1
                                                                          : 0;
    auto events = read({std::string(kHead) + whole.substr(0, cut), rest(seen)});
    ASSERT_TRUE(events.ok()) << cut << ": " << events.error().message;
    ASSERT_EQ(*events, told) << cut;
    ASSERT_EQ(requests.size(), 2u) << cut;
    std::string last = "Last-Event-ID: ";
    if (seen > 0) last += told[seen - 1].id->text() + "\r\n";
    EXPECT_EQ(requests[1].find(last) != std::string::npos, seen > 0) << cut;
  }
}

TEST_F(RemoteEventsTest, TellStreamedTextOnceThoughItComesAgain) {
  StreamEvent whole = said(0, "Dear all");
  whole.id = EventId{2, 1};
  auto events = read({std::string(kHead) + sse(said(0, "Dea")),
                      std::string(kHead) + sse(said(0, "Dear a")) + sse(said(6, "l")) +
                          sse(said(0, "Now", 2)) + sse(whole) + std::string(kEnd)});
  std::vector<std::string> texts;
  for (const StreamEvent& event : events.value()) {
    texts.push_back(std::to_string(event.offset) + " " + *event.body["text"].as_string());
  }
  EXPECT_THAT(texts, ElementsAre("0 Dea", "3 r a", "6 l", "0 Now", "0 Dear all"));
}

TEST_F(RemoteEventsTest, OfAThreadThatThereIsNotAreRefused) {
  std::string problem = R"({"code":"not_found","detail":"There is no thread \"t\"."})";
  auto refused =
      read({"HTTP/1.1 404 X\r\nContent-Type: application/problem+json\r\n"
            "Connection: close\r\nContent-Length: " +
            std::to_string(problem.size()) + "\r\n\r\n" + problem});
  EXPECT_EQ(refused.error(), error(ErrorCode::not_found, "There is no thread \"t\"."));
}

TEST_F(RemoteEventsTest, ThatCantBeReadAreAnErrorAfterThoseBefore) {
  auto refused = read({std::string(kHead) + sse(event_of(1, 0)) + "data: {}\n\n"});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("An event needs"));
}

TEST_F(RemoteEventsTest, ThatBreakOffAgainAndAgainAreAnErrorInTheEnd) {
  auto refused = read({std::string(kHead)});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("were interrupted repeatedly"));
}

// The run has commits already: events after its latest commit belong to the next one.
TEST_F(RemoteEventsTest, OfAWatchBeginWithTheCommitThatWasThereLast) {
  for (std::uint64_t after : {0u, 1u, 2u, 7u}) {
    requests.clear();
    ProgressObserver observer = [](const ProgressEvent&) {};
    with_server({std::string(kHead) + std::string(kEnd)}, [&](Connection& connection) {
      RunWatch watch(connection, *loop, observer, ThreadId("t"), std::nullopt, after);
      auto news = watch.news(std::chrono::milliseconds(500));
      block_on(*loop, std::move(news));
    });
    ASSERT_FALSE(requests.empty());
    std::string last = "Last-Event-ID: " + std::to_string(after - 1) + "-";
    EXPECT_EQ(requests[0].find("Last-Event-ID") != std::string::npos, after > 1) << after;
    if (after > 1) {
      EXPECT_THAT(requests[0], HasSubstr(last));
    }
  }
}

}  // namespace
}  // namespace belay::client
