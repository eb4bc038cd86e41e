// The log of a server in trouble, as a person on call reads it: a model that is down, runs that
// exceed their time or are cancelled, requests without a key, and a PostgreSQL that is stopped and
// started again. The whole log, without times, ids and addresses, is trouble_log.txt.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "tests/cli/served.h"
#include "tests/postgres/postgres_server.h"
#include "tests/providers/scripted_provider.h"

namespace belay::postgres_tests {
namespace {

using namespace std::chrono_literals;
using cli::tests::Got;
using cli::tests::Outcome;
using cli::tests::Served;
using cli::tests::Words;

constexpr auto kBackWithin = 60s;

bool differs_between_runs(std::string_view member) {
  return member == "time" || member == "run" || member == "approval" || member == "workedMs" ||
         member == "seq" || member == "address";
}

void mask_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// True for an entry of the log; false for a line of the program's progress.
bool is_entry(const std::string& line) {
  return line.starts_with('{') || instant_from(line.substr(0, line.find(' '))).has_value();
}

// One entry without what differs between two executions: the time, ids, and durations.
std::string without_values(const std::string& line) {
  auto entry = parse_json(line);
  if (entry.ok() && entry->as_object()) {
    for (auto& [name, value] : *entry->as_object()) {
      if (differs_between_runs(name)) value = "*";
    }
    // Its cause depends on the moment at which the store stopped.
    if ((*entry)["event"] == Value("store.failed")) entry->as_object()->at("message") = "*";
    return to_json(*entry);
  }
  // Text: the time, and then words, of which some are NAME=VALUE.
  std::string shown = "*";
  std::size_t at = line.find(' ');
  while (at != line.npos && at < line.size()) {
    std::size_t next = std::min(line.find(' ', at + 1), line.size());
    std::string word = line.substr(at + 1, next - at - 1);
    std::size_t equals = word.find('=');
    bool is_hidden =
        equals != word.npos && differs_between_runs(std::string_view(word).substr(0, equals));
    shown += " " + (is_hidden ? word.substr(0, equals) + "=*" : word);
    at = next;
  }
  std::string_view cause = "store.failed code=unavailable ";
  std::size_t found = shown.find(cause);
  return found == shown.npos ? shown : shown.substr(0, found + cause.size()) + "*";
}

class TroubleLog : public ::testing::Test {
 protected:
  // Starts a server whose assistant uses the scripted model, with a log of this format.
  void serve(const std::string& model, const std::string& format, Words more = {}) {
    auto& environment = world_.setting.environment;
    environment["BELAY_STORE"] = postgres_.url("postgres", "pool=2&patience=500");
    environment["BELAY_MODEL"] = "openai:" + model;
    environment["BELAY_MODEL_URL"] = provider_.url("/v1");
    environment["OPENAI_API_KEY"] = "a-key";
    environment["BELAY_LOG_FORMAT"] = format;
    served_ = std::make_unique<Served>(world_.setting, std::move(more));
    ASSERT_TRUE(served_->is_up()) << served_->process().said();
  }
  Got ask(const std::string& thread, std::vector<net::HttpHeader> headers = {}) {
    return served_->send("POST", "/api/agents/assistant/runs",
                         R"({"input":{"question":"Hello?"},"threadId":")" + thread + "\"}",
                         std::move(headers));
  }
  // Ends the server, and adds its log to the whole.
  void end(const std::string& title) {
    served_->process().send(SIGTERM);
    Outcome ended = served_->process().finish();
    EXPECT_EQ(ended.code, 0) << ended.err;
    whole_ += "== " + title + "\n";
    std::istringstream lines(ended.err);
    for (std::string line; std::getline(lines, line);) {
      if (!is_entry(line)) continue;
      std::string shown = without_values(line);
      mask_all(shown, std::to_string(postgres_.port()), "PORT");
      mask_all(shown, std::to_string(provider_.port()), "PORT");
      // Without progress, repetitions of a failure of the store, and moves of a run between the
      // request and the worker of this process: their number depends on the time.
      bool is_left_out =
          shown.find("process.note") != shown.npos || shown.find("run.claimed") != shown.npos ||
          shown.find("run.released") != shown.npos ||
          (shown.find("store.failed") != shown.npos && whole_.ends_with(shown + "\n"));
      if (!is_left_out) whole_ += shown + "\n";
    }
  }

  PostgresServer postgres_;
  providers::ScriptedProvider provider_;
  cli::tests::World world_;
  std::unique_ptr<Served> served_;
  std::string whole_;
};

TEST_F(TroubleLog, IsTheOneOfTheFile) {
  for (const char* format : {"text", "json"}) {
    std::string name = format;
    serve("no-key", format);
    EXPECT_EQ(ask("model-" + name).status, 200);
    end("the model refuses its key, " + name);

    world_.setting.environment["AGENT_TIMEOUT_MS"] = "300";
    serve("hang-midway", format);
    EXPECT_EQ(ask("timeout-" + name).status, 200);
    end("the model hangs, and the run exceeds its time, " + name);
    world_.setting.environment.erase("AGENT_TIMEOUT_MS");

    serve("hang-midway", format);
    ASSERT_EQ(ask("cancel-" + name, {{"Prefer", "respond-async"}}).status, 202);
    EXPECT_EQ(served_->post("/api/threads/cancel-" + name + "/cancel", "{}").status, 200);
    end("the run is cancelled, " + name);

    std::string keys = world_.write("keys", "ana read token-of-ana-0001\n");
    ::chmod(keys.c_str(), 0600);
    serve("plain", format, {"--api-keys", keys});
    EXPECT_EQ(ask("denied").status, 401);
    EXPECT_EQ(ask("denied", {{"Authorization", "Bearer wrong"}}).status, 401);
    EXPECT_EQ(ask("denied", {{"Authorization", "Bearer token-of-ana-0001"}}).status, 403);
    end("requests are denied, " + name);

    serve("plain", format);
    postgres_.stop(Stop::immediate);
    EXPECT_EQ(ask("away-" + name).status, 503);
    postgres_.start();
    EXPECT_TRUE(wait_until(kBackWithin, [&] { return ask("away-" + name).status == 200; }));
    end("the store is unavailable for a while, " + name);
  }
  std::ifstream file(BELAY_TROUBLE_LOG);
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(whole_, expected.str());
  EXPECT_EQ(whole_.find("a-key"), whole_.npos);
  EXPECT_EQ(whole_.find("token-of"), whole_.npos);
  EXPECT_EQ(whole_.find("Hello"), whole_.npos);
}

}  // namespace
}  // namespace belay::postgres_tests
