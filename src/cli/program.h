#pragma once
// cli/program.h - Program: the differences between the command lines of programs: names, graphs,
// model, and additional commands and displays. Everything else is common to all programs.
//
// To add a command, write a class that derives from Command, and its CommandSpec: see command.h. To
// show payloads other than as JSON, or to mark approvals, set Presentation. src/program/ does all
// of this; belay::main() none of it.
//
// Threading: the main thread. All of it outlives the CommandContext that is built from it.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "belay/graph.h"
#include "belay/model.h"
#include "belay/runtime.h"
#include "cli/command.h"

namespace belay::server {
struct Route;
struct ApiContext;
}  // namespace belay::server

namespace belay::cli {

// The options of a short form to run a graph.
class FormOptions {
 public:
  virtual ~FormOptions() = default;
  virtual void declare(CommandWords& words) = 0;
  // Returns the input of the run. Fails with `invalid` for invalid options.
  virtual Result<Value> input(const Settings& settings) const = 0;
};

// A short form to run a graph: "run daily-audit --date D". `enqueue` has it, too.
struct RunForm {
  std::string name;
  std::string line;
  std::string graph;
  std::function<std::unique_ptr<FormOptions>()> make;
};

// A setting that only this program has: settings.own contains it by key.
struct OwnSetting {
  std::string key;
  std::string variable;
};

// The display of results. Each member may be null: payloads are then shown as JSON, and nothing is
// marked.
struct Presentation {
  // Shows a payload. False if it does not know the payload.
  std::function<bool(CommandContext&, const Value& payload)> payload;
  // Selects the part of a state to show; returns null for none.
  std::function<const Value*(const Value& state)> made;
  // Text after the graph's name in the headline of a run.
  std::function<std::string(const RunView&)> title;
  // Text before the question of an approval, already styled.
  std::function<std::string(CommandContext&, const ApprovalRow&)> mark;
  // Adds members to the document of an approval.
  std::function<void(const ApprovalRow&, Value::Object&)> approval_document;
  // Called after the list of open approvals, with all existing approvals.
  std::function<void(CommandContext&, const std::vector<ApprovalRow>&)> after_approvals;
};

struct Program {
  std::string name;  // for --version and the store's default path
  std::string call;  // how it was called, for the commands that it prints
  std::string about;
  std::string examples = {};                     // for its --help; each line is indented by two
                                                 // spaces
  std::string own_settings = {};                 // lines of its --help, below Environment
  std::string run_end = {};                      // end of the help of `run`
  bool brings_model = false;                     // its model is fixed: there is no --model
  std::string default_model = {};                // empty: none
  std::set<std::string> own_models = {};         // further names for --model: see `model`
  std::vector<std::string> first_run = {"run"};  // command that is suggested first
  std::vector<std::vector<std::string>> other_hints = {};  // commands that are suggested before
                                                           // that
  std::vector<std::string> collections = {};               // records that `check` examines
  std::map<std::string, Receiver> receivers = {};          // by outbox topic
  // Returns `invalid` for a record that must not be saved, by any route; null: accepts all records.
  std::function<Result<Done>(const RecordWrite&, Instant now)> check_record = nullptr;
  std::vector<OwnSetting> settings = {};
  std::vector<CommandSpec> commands = {};  // before those that every program has
  std::vector<RunForm> forms = {};
  Presentation presentation = {};
  // Its own routes, in addition to those of every program; may be null. The settings outlive them.
  std::function<std::vector<server::Route>(server::ApiContext&, const Settings&)> routes = nullptr;
  std::function<Result<Definitions>(const Settings&)> graphs;
  std::function<Result<std::shared_ptr<Model>>(const Settings&, Clock&)> model;
};

}  // namespace belay::cli
