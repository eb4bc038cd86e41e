#pragma once
// belay/main.h - a program that has a graph is its own command line.
//
//     int main(int argc, char** argv) { return belay::main(argc, argv, mail_graph()); }
//
//     ./mail run --input topic="the outage"
//     ./mail approvals approve first
//     ./mail status | threads | history first | state first | resume --all | check | doctor ...
//
// Everything is durable after every node: kill the program at any instant, and `resume` goes on.
// Runs are kept in a SQLite file, by default NAME/NAME.db in $XDG_DATA_HOME (~/.local/share);
// --store and BELAY_STORE name another. Verbs, exit codes and JSON are those of belay itself:
// docs/command-line.md. `serve` comes with the server.
//
// The input of a run is read into the graph's state: pairs name=value, @file.json, or - for
// standard input; what does not fit is refused, naming the member's path.
//
// Threading: call it from main(), once. SIGINT and SIGTERM end a command in good order; a second
// one at once. Failure: a graph that could not be built, handed in as its Result, is told on
// standard error; the exit code is 70.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "belay/model.h"
#include "belay/runtime.h"

namespace belay {

struct MainOptions {
  // Of the program: in its help, and in the default place of its store. Empty: as it was called,
  // without its folder.
  std::string name = {};
  std::string about = {};  // one line for --help
  // What context.model() asks. Null: there is none, and a node that asks it fails with `invalid`.
  std::shared_ptr<Model> model = nullptr;
  // The collections of records that `check` looks at.
  std::vector<std::string> collections = {};
  // Who gets the messages of a topic of the outbox: see Runtime::deliver().
  std::map<std::string, Receiver> receivers = {};
};

namespace detail {
using AnyGraph = Result<std::shared_ptr<const GraphDefinition>>;
int run_command_line(int argc, char** argv, MainOptions options, std::vector<AnyGraph> graphs);

template <typename State>
AnyGraph any_graph(const Graph<State>& graph) {
  return graph.definition();
}
template <typename State>
AnyGraph any_graph(const Result<Graph<State>>& graph) {
  if (!graph.ok()) return graph.error();
  return graph->definition();
}
}  // namespace detail

// Runs the command that the arguments name, and returns the process's exit code. Each graph is a
// Graph<State>, or the Result of one.
template <typename... Graphs>
int main(int argc, char** argv, MainOptions options, const Graphs&... graphs) {
  return detail::run_command_line(argc, argv, std::move(options), {detail::any_graph(graphs)...});
}
template <typename First, typename... Graphs>
  requires(!std::is_convertible_v<First, MainOptions>)
int main(int argc, char** argv, const First& first, const Graphs&... graphs) {
  return detail::run_command_line(argc, argv, {},
                                  {detail::any_graph(first), detail::any_graph(graphs)...});
}

}  // namespace belay
