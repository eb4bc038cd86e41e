#pragma once
// belay/main.h - the command line of a program with its own graphs.
//
//     int main(int argc, char** argv) { return belay::main(argc, argv, mail_graph()); }
//
//     ./mail run --input topic="the outage"
//     ./mail approvals approve first
//     ./mail status | threads | history first | state first | resume --all | check | doctor ...
//
// Each node's result is durable: after the program was killed at any point, `resume` continues the
// run. Runs are stored in a SQLite file, by default NAME/NAME.db in $XDG_DATA_HOME
// (~/.local/share); --store and BELAY_STORE name another store. Commands, exit codes and JSON are
// those of belay itself: docs/command-line.md. `serve` is available with the server.
//
// The input of a run is read into the graph's state: pairs name=value, @file.json, or - for
// standard input. Input that does not fit is rejected with the member's path.
//
// Threading: call it once, from main(). SIGINT or SIGTERM shuts a command down gracefully, a second
// one ends it immediately. Errors: a graph that could not be built, passed as its Result, is
// reported on standard error with exit code 70.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "belay/module.h"

namespace belay {

struct MainOptions {
  // The program's name, for its help and the default path of its store. Empty: the file name by
  // which it was called.
  std::string name = {};
  // How the program is called in the commands that it prints. Empty: as it was called.
  std::string call = {};
  std::string about = {};  // one line for --help
  // The model of context.model(); there is no --model then. Null: the one that --model, BELAY_MODEL
  // or default_model names. docs/models.md, "The model of your program", has all ways.
  std::shared_ptr<Model> model = nullptr;
  std::shared_ptr<Clock> clock = nullptr;  // null: that of the system. On PostgreSQL: its clock
  // The model that is used if no setting names one; empty: none. A module may bring it.
  std::string default_model = {};
  std::string default_model_help = {};  // text after its name in --help
  // Of graphs that belong to no module: see belay/module.h.
  std::vector<RecordCollection> collections = {};
  std::map<std::string, Receiver> receivers = {};
  std::string examples = {};                     // for --help; each line is indented by two spaces
  std::string run_help = {};                     // end of the help of `run`
  std::vector<std::string> first_run = {"run"};  // command that is suggested first
  std::vector<std::vector<std::string>> other_hints = {};  // suggested before that
};

namespace detail {
using AnyGraph = Result<std::shared_ptr<const GraphDefinition>>;
int run_modules(int argc, char** argv, MainOptions options, std::vector<Module> modules);
int run_graphs(int argc, char** argv, MainOptions options, std::vector<AnyGraph> graphs);

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

// Executes the command that the arguments name and returns the exit code. The first form has the
// commands, routes and graphs of modules; in the others, each graph is a Graph<State> or the Result
// of one.
inline int main(int argc, char** argv, MainOptions options, std::vector<Module> modules) {
  return detail::run_modules(argc, argv, std::move(options), std::move(modules));
}
template <typename... Graphs>
int main(int argc, char** argv, MainOptions options, const Graphs&... graphs) {
  return detail::run_graphs(argc, argv, std::move(options), {detail::any_graph(graphs)...});
}
template <typename First, typename... Graphs>
  requires(!std::is_convertible_v<First, MainOptions>)
int main(int argc, char** argv, const First& first, const Graphs&... graphs) {
  return detail::run_graphs(argc, argv, {},
                            {detail::any_graph(first), detail::any_graph(graphs)...});
}

}  // namespace belay
