#pragma once
// tests/property/scenario.h - a random graph and script: results of nodes, decisions, and crashes
//
// All of it is data: a failing case can be printed, shrunk and repeated.

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

// The record that a node saves, once.
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
  int way = 0;       // the target of its second edge
  int attempts = 1;  // of its retry policy
  bool asks_always = true;
};

// The result of an attempt of a node.
enum Comes { done, unavailable, unavailable_with_wait, throws, slow, hangs, invalid, bug };

enum Verdict { approve, reject, edit, late, expire, cancel };

// A moment at which a process dies or its store fails.
struct Crash {
  enum Way { loses_the_commit, loses_the_answer, refuses, is_uncertain };
  int after = 0;  // commits since the previous crash
  int way = loses_the_commit;
};

struct Scenario {
  std::vector<NodePlan> nodes;
  std::vector<int> results;   // values of Comes; the position of an attempt selects one of them
  std::vector<int> verdicts;  // in the order of the approvals; further ones are approved
  bool require_approval = true;
  std::uint64_t seed = 1;
};

Graph<Trail> graph_of(const Scenario& scenario, const std::string& name = "random");

rc::Gen<Scenario> any_scenario();
rc::Gen<std::vector<Crash>> any_crashes();

std::ostream& operator<<(std::ostream& out, const Scenario& scenario);
std::ostream& operator<<(std::ostream& out, const Crash& crash);

}  // namespace belay::property
