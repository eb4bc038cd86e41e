#pragma once
// cli/program.h - what makes one program's command line differ from another's: its name, its
// graphs, its model, and the verbs and pictures that it adds. Everything else is the same for all.
//
// To add a verb: an CustomCommand and its CommandEntry. To show a payload otherwise than as JSON,
// or to mark an approval: Presentation. src/program/ does all of that; belay::main() none.
//
// Threading: the main thread. Everything here outlives the world that is made of it.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "belay/graph.h"
#include "belay/model.h"
#include "belay/runtime.h"
#include "cli/exit_code.h"

namespace belay::server {
struct Route;
struct ApiContext;
}  // namespace belay::server

namespace belay::cli {

struct Settings;
struct CommandContext;

using CommandResult = Result<ExitCode>;
using Definitions = std::vector<std::shared_ptr<const GraphDefinition>>;

// One word that a verb takes: an option ("--date") or an argument ("FILE").
struct OptionSpec {
  std::string name;
  std::string help;
  bool required = false;
};
using ParsedOptions =
    std::map<std::string, std::string>;  // by Word::name; what was not given is absent

// A verb that a program adds, with what was given to it.
class CustomCommand {
 public:
  virtual ~CustomCommand() = default;
  // What can be said before any store is opened; may read the files that it names.
  virtual Result<Done> check_form(const Settings&) { return Done{}; }
  // Whether it may make the store that it is to use; the others only look into one.
  virtual bool makes_a_store() const { return false; }
  // False: it is given an empty one in memory, and the person's own is left alone.
  virtual bool uses_a_store() const { return true; }
  virtual Task<CommandResult> run(CommandContext& world) = 0;
};
struct CommandEntry {
  std::vector<std::string> path;  // {"notes", "import"}; without `make` a group of verbs
  std::string line;               // what it does, in the list of verbs
  std::string end;                // of its help: examples
  std::vector<OptionSpec> words = {};
  std::function<std::shared_ptr<CustomCommand>(ParsedOptions)> make = nullptr;
};

// A shorter way to run a graph: "run daily-audit --date D".
struct RunForm {
  std::string name;
  std::string line;
  std::string graph;
  std::vector<OptionSpec> words;
  std::function<Result<Value>(const ParsedOptions&, const Settings&)> input;
};

// A setting that only this program knows: settings.own has it by its key.
struct OwnSetting {
  std::string key;
  std::string variable;
};

// How its results look. Each may be null: then a payload is shown as JSON, and nothing is marked.
struct Presentation {
  // Shows a payload; false for one that it does not know.
  std::function<bool(CommandContext&, const Value& payload)> payload;
  // What of a state is worth showing; null for nothing.
  std::function<const Value*(const Value& state)> made;
  // Beside a graph's name in the headline of a run.
  std::function<std::string(const RunView&)> title;
  // Before an approval's question, already styled.
  std::function<std::string(CommandContext&, const ApprovalRow&)> mark;
  // Further members of an approval's document.
  std::function<void(const ApprovalRow&, Value::Object&)> approval_document;
  // After the list of what is open, of all approvals there are.
  std::function<void(CommandContext&, const std::vector<ApprovalRow>&)> after_approvals;
};

struct Program {
  std::string name;  // in --version and in the store's default path
  std::string call;  // how it is called in the commands that it prints
  std::string about;
  std::string examples = {};                     // of its --help, each line indented by two
  std::string own_settings = {};                 // lines of its --help, below Environment
  std::string run_end = {};                      // of run's help
  bool brings_model = false;                     // so there is none to choose, and no --model
  std::string default_model = {};                // empty: there is none
  std::set<std::string> own_models = {};         // that --model may name besides: see model
  std::vector<std::string> first_run = {"run"};  // words to try next
  std::vector<std::vector<std::string>> other_hints = {};  // words to try before that
  std::vector<std::string> collections = {};               // records that `check` looks at
  std::map<std::string, Receiver> receivers = {};          // of the outbox's topics
  // Returns `invalid` for a record that must not be saved, by any route; null: accepts all records.
  std::function<Result<Done>(const RecordWrite&, Instant now)> check_record = nullptr;
  std::vector<OwnSetting> settings = {};
  std::vector<CommandEntry> verbs = {};
  std::vector<RunForm> forms = {};
  Presentation presentation = {};
  // Of its own, beside those of every program; may be null. The settings outlive them.
  std::function<std::vector<server::Route>(server::ApiContext&, const Settings&)> routes = nullptr;
  std::function<Result<Definitions>(const Settings&)> graphs;
  std::function<Result<std::shared_ptr<Model>>(const Settings&, Clock&)> model;
};

}  // namespace belay::cli
