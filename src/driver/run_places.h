#pragma once
// driver/run_places.h - how many runs this runtime works on, by tenant, user and graph.

#include <map>
#include <string>
#include <vector>

#include "belay/limits.h"
#include "belay/result.h"
#include "belay/rows.h"

namespace belay {

class RunPlaces {
 public:
  // A run that is worked on. A run that is held twice counts once.
  class Place {
   public:
    Place() = default;
    Place(RunPlaces& of, RunId run) : of_(&of), run_(run) {}
    Place(Place&& other) noexcept : of_(std::exchange(other.of_, nullptr)), run_(other.run_) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(run_, other.run_);
      return *this;
    }
    ~Place() {
      if (of_) of_->leave(run_);
    }

   private:
    RunPlaces* of_ = nullptr;
    RunId run_;
  };

  explicit RunPlaces(const RunLimits& limits) : limits_(limits) {}
  RunPlaces(const RunPlaces&) = delete;
  RunPlaces& operator=(const RunPlaces&) = delete;

  bool is_limited() const { return limits_.per_tenant || limits_.per_user || limits_.per_graph; }
  // `unavailable`, with a retry_after, where one limit more is reached.
  Result<Place> enter(const RunRow& run);
  // The same without a limit: for what a person has decided.
  Place enter_anyway(const RunRow& run);

 private:
  struct Group {
    std::string key;
    std::size_t limit = 0;
    std::string name;  // "the user \"ana\""
  };
  struct Held {
    std::vector<std::string> keys;
    int times = 0;
  };
  std::vector<Group> groups_of(const RunRow& run) const;
  void leave(const RunId& run);

  RunLimits limits_;
  std::map<RunId, Held> held_;
  std::map<std::string, std::size_t> counts_;
};

}  // namespace belay
