#pragma once
// tests/disk/forty_nodes.h - a run of forty nodes that uses every kind of feature
//
// It runs on a SQLite file or another store, with parallel branches, retries, an approval, effects
// of every class, a record and a message.

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

// The systems outside of the process: the calls that they received, and the disk's operation count
// at each call.
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
  // Returns how often `name` was called; calls with the same key count once.
  std::size_t distinct(const std::string& name) const;
  std::size_t count(const std::string& name) const;
  // Returns the state when the disk had executed `count` operations.
  Outside until(std::size_t count) const;
};

Graph<Journey> forty_nodes(Outside& outside);

using StoreOpener = std::function<Result<std::unique_ptr<Store>>(Clock&, Random&)>;

// One process on the store in `folder`, with its own clock that starts at `begins`.
class Process {
 public:
  // For begin(), which opens the store and fails with its error if it cannot be opened.
  Process(Outside& outside, Instant begins, std::uint64_t seed);
  static Result<std::unique_ptr<Process>> begin(const std::string& folder, Outside& outside,
                                                Instant begins, std::uint64_t seed);
  // The same for the store that `open` returns.
  static Result<std::unique_ptr<Process>> begin_on(const StoreOpener& open, Outside& outside,
                                                   Instant begins, std::uint64_t seed);
  ~Process();

  // Executes the run until an approval is open, or if `decides` is set until it has ended. Fails
  // with the first error of the store.
  Result<RunView> play(bool decides, const std::string& thread = "journey");
  // Returns the violations that the checkers find, including those against the calls of `outside`;
  // empty if there are none.
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
