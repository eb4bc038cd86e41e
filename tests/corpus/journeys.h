#pragma once
// tests/corpus/journeys.h - the runs that are in each file of tests/data/stores, but the first, and
// how they are carried on.
//
// Never change the graph, the input or the clock: the files hold what they once came to. What a new
// format needs gets a graph of its own.

#include <memory>
#include <string>
#include <vector>

#include "belay/check.h"
#include "belay/runtime.h"
#include "belay/storage.h"
#include "belay/testing.h"

namespace belay::corpus {

struct Journey {
  std::string place;
  std::string letter = {};
  std::vector<std::string> seen = {};
  bool agreed = false;
};

// begin -> {look, write} -> gather -> one `visit` a place -> review -> keep -> end. A visit asks in
// its midst when the journey is to the sea; the review asks when it is to the hills.
Graph<Journey> journey_graph();

// No key, or what the sealed files are sealed with.
EncryptionOptions plaintext_options();
EncryptionOptions encrypting_options();

class Journeys {
 public:
  // Opens or creates the file.
  Journeys(const std::string& path, EncryptionOptions encryption);

  // What a new file is filled with: "home" has come to its end, "edited" too, after an edited
  // approval; "hills" waits for its approval, and "sea" in the midst of a superstep.
  void set_out();
  RunView status(const std::string& thread);
  // Answers with a letter of the decider's own, if one is given.
  Result<DecisionResult> agree(const std::string& thread, std::optional<Value> edited = {});
  CheckReport check();

  Store& store() { return *sealed_; }
  // Below the encryption.
  Store& stored() { return *inner_; }
  EventLoop& loop() { return *loop_; }
  Random& random() { return random_; }

 private:
  testing::SimulatedClock clock_{*instant_from("2026-11-22T12:00:00Z")};
  testing::SeededRandom random_;
  testing::ScriptedModel model_;
  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  std::unique_ptr<Store> inner_;
  std::unique_ptr<Store> sealed_;
  Graph<Journey> graph_ = journey_graph();
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace belay::corpus
