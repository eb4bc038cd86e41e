#pragma once
// tests/corpus/journeys.h - the runs in the files of tests/data/stores, and their continuation
//
// The first file contains other runs. Never change the graph, the input or the clock: the files
// contain their former results. A new format that needs something else gets its own graph.

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

// begin -> {look, write} -> gather -> one `visit` per place -> review -> keep -> end. A visit
// contains an interrupt if the journey is to the sea; the review requests an approval if it is to
// the hills.
Graph<Journey> journey_graph();

// Options without a key, and those with the key of the encrypted files.
EncryptionOptions plaintext_options();
EncryptionOptions encrypting_options();

class Journeys {
 public:
  // Opens or creates the store, by its name for open_store().
  Journeys(const std::string& name, EncryptionOptions encryption);

  // Fills a new store: "home" has completed; "edited" has completed after an edited approval;
  // "hills" waits for its approval, and "sea" for an interrupt partway through a superstep.
  void set_out();
  RunView status(const std::string& thread);
  // Approves the open interrupt of the thread, with the edited payload if one is given.
  Result<DecisionResult> agree(const std::string& thread, std::optional<Value> edited = {});
  CheckReport check();

  Store& store() { return *sealed_; }
  // The inner store, without encryption.
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
