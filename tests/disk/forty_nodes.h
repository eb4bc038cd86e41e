#pragma once
// tests/disk/forty_nodes.h - a run of forty nodes that has it all, on a SQLite file or another
// store: branches side by side, retries, an approval, effects of every class, a record and a
// message.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "belay/runtime.h"
#include "belay/testing.h"

namespace belay::disk {

struct Journey {
  std::vector<std::string> log = {};
  std::int64_t sum = 0;
  std::string paid = {};
  bool agreed = false;
};

struct Ticket {
  static constexpr std::string_view collection = "tickets";
  std::string journey;
  std::int64_t sum = 0;
  std::string key() const { return journey; }
  static auto indexed() { return std::tuple{&Ticket::sum}; }
};

// The world outside of the process: what it was asked to do, and when in the disk's counting.
struct Outside {
  struct Call {
    std::size_t at = 0;
    std::string name;
    std::string key;
  };
  struct Acknowledged {
    std::size_t at = 0;
    RunId run;
    std::uint64_t seq = 0;
  };
  std::function<std::size_t()> now = [] { return std::size_t{0}; };
  std::vector<Call> calls = {};
  std::vector<Acknowledged> acknowledged = {};

  void call(std::string name, std::string key);
  // How often `name` was called, calls with the same key as one.
  std::size_t distinct(const std::string& name) const;
  std::size_t count(const std::string& name) const;
  // As it was when the disk had done `count` operations.
  Outside until(std::size_t count) const;
};

Graph<Journey> forty_nodes(Outside& outside);

using StoreOpener = std::function<Result<std::unique_ptr<Store>>(Clock&, Random&)>;

// One process on the store in `folder`, on a clock of its own that begins at `begins`.
class Process {
 public:
  // For begin(), which opens the store and answers with an error where it can't.
  Process(Outside& outside, Instant begins, std::uint64_t seed);
  static Result<std::unique_ptr<Process>> begin(const std::string& folder, Outside& outside,
                                                Instant begins, std::uint64_t seed);
  // The same on whatever store `open` gives.
  static Result<std::unique_ptr<Process>> begin_on(const StoreOpener& open, Outside& outside,
                                                   Instant begins, std::uint64_t seed);
  ~Process();

  // Plays the run until a person is asked, or with `decides` until it has ended; an error that the
  // store answers ends it earlier.
  Result<RunView> play(bool decides, const std::string& thread = "journey");
  // What the checkers find, with what the world outside knows; empty when all is well.
  Result<std::string> violations();

 private:
  class AcknowledgingStore;
  template <typename T>
  Result<T> wait(Task<Result<T>> task);
  Result<Done> move_on(const RunView& view);

  testing::SimulatedClock clock_;
  testing::SeededRandom random_;
  testing::SimulatedLoop loop_;
  testing::ScriptedModel model_;
  Outside& outside_;
  Graph<Journey> graph_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace belay::disk
