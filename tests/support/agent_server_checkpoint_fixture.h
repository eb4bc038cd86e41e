#pragma once
// tests/support/agent_server_checkpoint_fixture.h - CheckpointFixture: runs of the Agent Server API
// from the checkpoints of their thread, for tests.

#include "tests/support/agent_server_run_fixture.h"

namespace belay::langgraph {

struct CheckpointFixture : RunFixture {
  const std::string thread = std::string("/threads/") + kThreadA;

  Value::Array history() {
    Value found = get(thread + "/history?limit=100").body;
    return *found.as_array();
  }
  // The oldest checkpoint with this next node.
  std::string checkpoint_before(const std::string& node) {
    std::string found;
    for (const Value& each : history()) {
      if (to_json(each["next"]) == "[\"" + node + "\"]") {
        found = server::text(each["checkpoint"]["checkpoint_id"]);
      }
    }
    return found;
  }
  static std::string at(const std::string& checkpoint) {
    return R"(,"checkpoint":{"checkpoint_id":")" + checkpoint + R"(","checkpoint_ns":""})";
  }
  static std::string go_on(const std::string& more) {
    return R"({"assistant_id":"poet","input":null)" + more + "}";
  }
  std::string run_of(const std::string& body) {
    clock.move(std::chrono::seconds(1));
    std::string run = begin(body);
    joined(run);
    return run;
  }
  Value state() { return get(thread + "/state").body; }
  static http::Request keyed_request(std::string path, std::string body, const std::string& key) {
    auto made = request("POST", std::move(path), std::move(body));
    made.headers.push_back({"Idempotency-Key", key});
    return made;
  }
  Answered keyed(const std::string& body, const std::string& key) {
    return send(keyed_request(runs(), body, key));
  }
};

}  // namespace belay::langgraph
