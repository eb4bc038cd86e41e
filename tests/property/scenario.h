#pragma once
// tests/property/scenario.h - a graph and a script that chance has made: what its nodes come to,
// what people decide, and where the process dies.
//
// All of it is data, so a failing case can be printed, shrunk and played again.

#include <rapidcheck.h>

#include <iosfwd>
#include <vector>

#include "belay/graph.h"

namespace belay::property {

struct Advice {
  std::vector<std::string> recommendations;
};

// The state of every random graph. The names are those of the agents' specification.
struct Trail {
  std::string draft;
  int steps = 0;
  std::vector<std::string> visited = {};
  int validationAttempts = 0;
  Advice analysisResult = {};
  bool requiresApproval = false;
  bool approved = false;
};

// What a step leaves behind it, once.
struct Footprint {
  static constexpr std::string_view collection = "footprints";
  std::string task;
  std::string draft;
  std::string key() const { return task; }
  static auto indexed() { return std::tuple{&Footprint::draft}; }
};

struct NodePlan {
  enum Kind { work, wait, approve, validate, save, question };
  int kind = work;
  int way = 0;       // where its second edge leads
  int attempts = 1;  // of its retry policy
  bool asks_always = true;
};

// What an attempt of a node comes to.
enum Comes { done, unavailable, unavailable_with_wait, throws, slow, hangs, invalid, bug };

enum Verdict { approve, reject, edit, late, expire, cancel };

// Where a process dies, or its store fails it.
struct Crash {
  enum Way { loses_the_commit, loses_the_answer, refuses, is_uncertain };
  int after = 0;  // commits since the crash before
  int way = loses_the_commit;
};

struct Scenario {
  std::vector<NodePlan> nodes;
  std::vector<int> results;   // Comes; which of them an attempt comes to follows from where it is
  std::vector<int> verdicts;  // in the order in which decisions are asked for; then all approve
  bool require_approval = true;
  std::uint64_t seed = 1;
};

Graph<Trail> graph_of(const Scenario& scenario, const std::string& name = "random");

rc::Gen<Scenario> any_scenario();
rc::Gen<std::vector<Crash>> any_crashes();

std::ostream& operator<<(std::ostream& out, const Scenario& scenario);
std::ostream& operator<<(std::ostream& out, const Crash& crash);

}  // namespace belay::property
