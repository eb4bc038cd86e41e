#pragma once
// tests/support/agent_server_v2_fixture.h - V2Streams: commands and events of the streaming
// protocol of the Agent Server API, for tests.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/agent_server_run_fixture.h"

namespace belay::langgraph {

// The channels of useStream; and those whose events are durable.
inline constexpr const char* kUsual =
    R"({"channels":["values","checkpoints","lifecycle","input","messages","tools"],)"
    R"("namespaces":[[]],"depth":1})";
inline constexpr const char* kDurable =
    R"({"channels":["values","checkpoints","lifecycle","updates","tasks","custom","input"])";

struct V2Streams : RunFixture {
  const std::string path = std::string("/threads/") + kThreadA;

  static const Value& data_of(const Event& event) { return event.data["params"]["data"]; }
  static std::int64_t seq_of(const Event& event) { return event.data["seq"].as_int().value_or(0); }

  Value command(const std::string& method, const std::string& params) {
    auto answered = call("POST", path + "/commands",
                         R"({"id":1,"method":")" + method + R"(","params":)" + params + "}");
    EXPECT_EQ(answered.status, 200) << to_json(answered.body);
    return answered.body;
  }
  Value begin(const std::string& topic, const std::string& agent = "poet") {
    clock.move(std::chrono::seconds(1));
    return command("run.start",
                   R"({"assistant_id":")" + agent + R"(","input":{"topic":")" + topic + R"("}})");
  }
  std::unique_ptr<http::BodyStream> open(const std::string& body) {
    auto answered = call("POST", path + "/stream/events", body);
    EXPECT_EQ(answered.status, 200) << to_json(answered.body);
    EXPECT_EQ(answered.header("Content-Type"), "text/event-stream");
    return std::move(answered.stream);
  }
  // Reads until an event of the lifecycle of the run's own graph has the name.
  Events read_until(http::BodyStream& stream, const std::string& last) {
    Events events;
    for (int pieces = 0; pieces < 200; ++pieces) {
      for (Event& each : parsed(block_on(loop, stream.next()).value())) {
        events.push_back(std::move(each));
      }
      bool is_done = std::any_of(events.begin(), events.end(), [&](const Event& each) {
        return each.name == "lifecycle" && data_of(each)["event"] == Value(last);
      });
      if (is_done) return events;
    }
    ADD_FAILURE() << "no lifecycle event " << last << "\n" << lines_of(events);
    return events;
  }
  // The id of the first interrupt at which the thread of the user waits.
  std::string open_interrupt(const std::string& user) {
    Value tasks = as(user, "GET", path + "/state").body["tasks"];
    for (const Value& task : tasks.as_array() ? *tasks.as_array() : Value::Array()) {
      const Value::Array* interrupts = task["interrupts"].as_array();
      if (interrupts && !interrupts->empty()) return server::text(interrupts->front()["id"]);
    }
    return std::string();
  }
  static const Value& item(const Value& list, std::size_t index) {
    return list.as_array()->at(index);
  }
  // The data of the first event of the method; null: none.
  static Value first(const Events& events, const std::string& method) {
    Events found = named(events, method);
    return found.empty() ? Value() : data_of(found.front());
  }
};

}  // namespace belay::langgraph
