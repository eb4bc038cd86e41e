// Each guard that scripts/check-mutations removes must be in the code exactly as its list quotes
// it: CI runs only a third of the mutations, and a changed guard would be noticed three commits
// later.

#include <algorithm>
#include <optional>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

constexpr std::string_view kMutations = "tests/mutation/mutations.txt";

struct Mutation {
  int line = 0;
  std::string name;
  std::string file;
  std::string test;  // the program and the case
  std::string guard;
  std::size_t times = 1;
};

std::vector<Mutation> mutations_in(std::string_view text) {
  std::vector<Mutation> mutations;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::size_t space = line.find(' ');
    std::string_view word = line.substr(0, space);
    std::string rest(space == line.npos ? "" : line.substr(space + 1));
    if (word == "mutation") {
      mutations.push_back({number, rest, "", "", "", 1});
    } else if (mutations.empty()) {
      continue;
    } else if (line.starts_with('-')) {
      std::string& guard = mutations.back().guard;
      if (!guard.empty()) guard += '\n';
      guard += line.substr(1);
    } else if (word == "file") {
      mutations.back().file = rest;
    } else if (word == "test") {
      mutations.back().test = rest;
    } else if (word == "times") {
      mutations.back().times = static_cast<std::size_t>(rest.front() - '0');
    }
  }
  return mutations;
}

std::size_t times_in(std::string_view text, std::string_view part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) {
    ++times;
  }
  return times;
}

// Returns "AnOlderEpochIsFenced" for "tests/... StoreSuite.AnOlderEpochIsFenced/Memory".
std::string_view case_of(std::string_view test) {
  std::size_t dot = test.rfind('.');
  if (dot == test.npos) return "";
  std::string_view name = test.substr(dot + 1);
  return name.substr(0, name.find('/'));
}

bool has_case(const Tree& tree, std::string_view name) {
  for (const File& file : tree) {
    if (!name.empty() && file.path.ends_with(".cc") && file.text.find(name) != file.text.npos) {
      return true;
    }
  }
  return false;
}

std::optional<std::string> fault_of(const Mutation& mutation, const Tree& tree) {
  if (!has_case(tree, case_of(mutation.test))) return "there is no test \"" + mutation.test + '"';
  for (const File& file : tree) {
    if (file.path != mutation.file) continue;
    std::size_t times = mutation.guard.empty() ? 0 : times_in(file.text, mutation.guard);
    if (times == mutation.times) return std::nullopt;
    return "its text is " + std::to_string(times) + " times in " + mutation.file + ", and not " +
           std::to_string(mutation.times) + ": the guard has moved, let the mutation follow";
  }
  return "there is no file \"" + mutation.file + '"';
}

}  // namespace

Findings check_mutations(const Tree& tree) {
  Findings findings;
  for (const File& list : tree) {
    if (list.path != kMutations) continue;
    for (const Mutation& mutation : mutations_in(list.text)) {
      auto fault = fault_of(mutation, tree);
      if (fault) findings.push_back({list.path, mutation.line, mutation.name + ": " + *fault});
    }
  }
  return findings;
}

}  // namespace belay::tidy
