// A server with clients that disconnect, models that fail in every way, connections that send
// invalid data, and repeated SIGKILL: acknowledged data remains, every run ends, and no client can
// make the server leak descriptors.
//
//   BELAY_CHAOS_SECONDS   the duration; default 8
//   BELAY_CHAOS_SEED      selects the events; default 1

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <list>
#include <random>
#include <set>
#include <thread>

#include "tests/cli/served.h"
#include "tests/providers/scripted_provider.h"

namespace belay::cli::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kStreamsMax = 12;
constexpr std::size_t kThreadsMax = 60;
// In addition to those of the first request: runs that continue hold a connection to the model
// each, eight of which remain open for the next calls, and the store's readers open their files at
// their first read. A client that leaks one would leak hundreds in a life.
constexpr int kDescriptorsToSpare = 64;
constexpr seconds kUntilAllEnd{60};
// A leaked descriptor remains, however long the test waits; a busy machine needs its time.
constexpr seconds kUntilClientsAreClosed{30};

std::int64_t number_from_environment(const char* name, std::int64_t or_else) {
  const char* text = std::getenv(name);
  return text ? std::strtoll(text, nullptr, 10) : or_else;
}

// A connection that sends `says`, which is not a valid request.
class Stranger {
 public:
  Stranger(int port, const std::string& says) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
    ::send(socket_, says.data(), says.size(), MSG_NOSIGNAL);
  }
  ~Stranger() { ::close(socket_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

 private:
  int socket_ = -1;
};

struct Figures {
  std::int64_t lives = 0, kills = 0, requests = 0, starts = 0, streams = 0, strangers = 0;
  std::int64_t rss_kb_max = 0;
  std::int64_t descriptors_max = 0;
};

class ServerAmongChaos : public ::testing::Test {
 protected:
  bool chance(int percent) { return static_cast<int>(random() % 100) < percent; }
  std::string any_of(const std::vector<std::string>& words) {
    return words[random() % words.size()];
  }

  void serve(const std::string& model) {
    world.setting.environment["BELAY_MODEL"] = model;
    world.setting.environment["BELAY_MODEL_URL"] = model == "builtin" ? "" : provider.url("/v1");
    world.setting.environment["OPENAI_API_KEY"] = "a-key";
    world.setting.environment["BELAY_MODEL_TIMEOUT"] = "3s";
    served = std::make_unique<Served>(world.setting, Words{}, port);
    ASSERT_TRUE(served->is_up()) << served->process().said();
    port = served->port();
    ++figures.lives;
  }

  std::string process_file(const std::string& name) const {
    return "/proc/" + std::to_string(served->process().process()) + "/" + name;
  }
  std::int64_t descriptors() const {
    std::error_code failed;
    std::filesystem::directory_iterator all(process_file("fd"), failed);
    return failed ? 0 : std::distance(begin(all), end(all));
  }
  // The files and sockets that the server has open, one per line.
  std::string open_files() const {
    std::string all;
    std::error_code failed;
    for (const auto& file : std::filesystem::directory_iterator(process_file("fd"), failed)) {
      all += std::filesystem::read_symlink(file.path(), failed).string() + "\n";
    }
    return all;
  }
  std::int64_t rss_kb() const {
    std::ifstream status(process_file("status"));
    std::string line;
    while (std::getline(status, line)) {
      if (line.starts_with("VmRSS:")) return std::strtoll(line.c_str() + 6, nullptr, 10);
    }
    return 0;
  }

  Got send(const std::string& method, const std::string& path, const std::string& body = "") {
    ++figures.requests;
    return served->send(method, path, body, {{"Prefer", "respond-async"}});
  }

  void start_a_run() {
    std::string thread = "t" + std::to_string(random() % kThreadsMax);
    std::string agent = any_of({"assistant", "daily_auditor"});
    std::string input =
        agent == "assistant" ? R"({"question":"Hello?"})" : R"({"date":"2026-01-01"})";
    Got got = send("POST", "/api/agents/" + agent + "/runs",
                   R"({"threadId":")" + thread + R"(","input":)" + input + "}");
    if (got.status != 200 && got.status != 202) return;
    ++figures.starts;
    acknowledged.insert(thread);
  }

  std::string any_thread() {
    if (acknowledged.empty()) return "nobody";
    auto found = acknowledged.begin();
    std::advance(found, random() % acknowledged.size());
    return *found;
  }

  void open_a_stream() {
    if (streams.size() >= kStreamsMax) streams.pop_front();
    streams.push_back(
        std::make_unique<Stream>(*served, "/api/threads/" + any_thread() + "/events?follow=true"));
    ++figures.streams;
  }

  void decide_something() {
    Value approvals = send("GET", "/api/approvals?limit=20").json()["approvals"];
    const Value::Array* open = approvals.as_array();
    if (!open || open->empty()) return;
    const std::string* id = (*open)[random() % open->size()]["approvalId"].as_string();
    if (!id) return;
    send("POST", "/api/approvals/" + *id + "/decision",
         chance(60) ? R"({"approved":true})" : R"({"approved":false})");
  }

  void annoy() {
    static const std::vector<std::string> kSayings{
        "",
        "GET /api/he",
        "GET / HTTP/1.1\r\nHost: x\r\nX: ",
        "POST /api/agents/assistant/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: "
        "chunked\r\n\r\n0\r\n\r\n",
        "\x16\x03\x01\x02",
        std::string(70'000, 'a'),
        "GET /api/overview HTTP/1.1\r\nHost: x\r\n\r\nGET /api/overview HTTP/1.1\r\nHost: "
        "x\r\n\r\n",
        "POST /api/agents/assistant/runs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        "Content-Length: 8\r\n\r\n[[[[[[[["};
    if (strangers.size() >= kStreamsMax) strangers.pop_front();
    strangers.push_back(std::make_unique<Stranger>(port, any_of(kSayings)));
    ++figures.strangers;
  }

  void do_something() {
    switch (random() % 10) {
      case 0:
      case 1:
      case 2:
        return start_a_run();
      case 3:
        return open_a_stream();
      case 4:
        return decide_something();
      case 5:
        return annoy();
      case 6:
        if (chance(30)) send("POST", "/api/threads/" + any_thread() + "/cancel", "{}");
        return;
      case 7:
        send("GET", "/api/threads/" + any_thread() + "/history");
        return;
      case 8:
        send("GET", any_of({"/api/overview", "/api/threads", "/api/runs?limit=100", "/metrics",
                            "/api/threads/x/calls", "/%00", "/api/approvals?limit=no"}));
        return;
      default:
        send("POST", any_of({"/api/agents/nobody/runs", "/api/agents/assistant/runs"}),
             any_of({"{", "[]", R"({"input":1e999})", R"({"a":1,"a":2})", "\"\xff\""}));
    }
  }

  // Closes all clients with their connections.
  void let_clients_go() {
    streams.clear();
    strangers.clear();
  }

  void live(milliseconds span) {
    auto until = clock->now() + span;
    served->get("/api/overview");
    std::int64_t at_first = descriptors();
    while (clock->now() < until) {
      do_something();
      figures.descriptors_max = std::max(figures.descriptors_max, descriptors());
    }
    figures.rss_kb_max = std::max(figures.rss_kb_max, rss_kb());
    let_clients_go();
    // The server closes a connection when it has detected its end, and model calls end after that.
    auto closed_by = clock->now() + kUntilClientsAreClosed;
    while (descriptors() > at_first + kDescriptorsToSpare && clock->now() < closed_by) {
      std::this_thread::sleep_for(milliseconds(100));
    }
    EXPECT_LE(descriptors(), at_first + kDescriptorsToSpare) << "in life " << figures.lives << ":\n"
                                                             << open_files();
  }

  void die() {
    bool suddenly = figures.lives % 3 != 0;
    served->process().send(suddenly ? SIGKILL : SIGTERM);
    Outcome ended = served->process().finish();
    if (suddenly) {
      ++figures.kills;
    } else {
      EXPECT_EQ(ended.code, 0) << ended.err;
    }
    served.reset();
  }

  // The threads whose current run has not ended, each with the server's answer.
  std::string unfinished() {
    std::string all;
    for (const std::string& thread : acknowledged) {
      Got got = served->get("/api/threads/" + thread);
      EXPECT_EQ(got.status == 200 || got.status == 202, true) << thread << " is lost: " << got.body;
      Value status = got.json()["status"];
      bool is_at_work = status == Value("running") || status == Value("queued");
      if (is_at_work) all += "  " + thread + ": " + got.body + "\n";
    }
    return all;
  }

  providers::ScriptedProvider provider;
  World world;
  std::mt19937_64 random;
  std::unique_ptr<Clock> clock = system_clock();
  std::unique_ptr<Served> served;
  int port = 0;
  std::set<std::string> acknowledged;  // threads whose start was acknowledged
  std::list<std::unique_ptr<Stream>> streams;
  std::list<std::unique_ptr<Stranger>> strangers;
  Figures figures;
};

TEST_F(ServerAmongChaos, KeepsWhatItHasAcknowledgedAndEndsWhatItHasBegun) {
  std::int64_t span = number_from_environment("BELAY_CHAOS_SECONDS", 8);
  random.seed(static_cast<std::uint64_t>(number_from_environment("BELAY_CHAOS_SEED", 1)));
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day())).code, 0);
  auto until = clock->now() + seconds(span);
  while (clock->now() < until && !HasFailure()) {
    ASSERT_NO_FATAL_FAILURE(
        serve(any_of({"builtin", "openai:drip", "openai:hang-midway", "openai:cut-midway",
                      "openai:plain", "openai:garbage", "openai:flood"})));
    live(milliseconds(1'000 + random() % (span < 60 ? 1'500 : 15'000)));
    die();
  }
  ASSERT_NO_FATAL_FAILURE(serve("builtin"));
  auto all_by = clock->now() + kUntilAllEnd;
  while (!unfinished().empty() && clock->now() < all_by && !HasFailure()) {
    std::this_thread::sleep_for(milliseconds(200));
  }
  EXPECT_EQ(unfinished(), "") << "did not end within " << kUntilAllEnd.count() << " s";
  served->process().send(SIGTERM);
  EXPECT_EQ(served->process().finish().code, 0);
  Outcome checked = world.run({"check"});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  std::cout << "evidence: server chaos: " << span << " s, " << figures.lives << " lives, "
            << figures.kills << " SIGKILLs, " << figures.requests << " requests, " << figures.starts
            << " starts acknowledged, " << figures.streams << " streams, " << figures.strangers
            << " senseless connections; at most " << figures.descriptors_max << " descriptors and "
            << figures.rss_kb_max << " KB, 0 losses\n";
}

}  // namespace
}  // namespace belay::cli::tests
