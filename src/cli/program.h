#pragma once
// cli/program.h - Program: the differences between the command lines of programs: names, graphs,
// model, and additional commands and displays. Everything else is common to all programs.
//
// Modules bring the commands, graphs and routes of a program: modules.h combines them.
//
// Threading: the main thread. All of it outlives the CommandContext that is built from it.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "belay/module.h"
#include "cli/command.h"

namespace belay::cli {

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
  std::vector<RecordCollection> collections = {};          // records that `check` examines
  std::vector<ModuleSchedule> schedules = {};
  // Returns the receivers by outbox topic, and makes those that depend on the settings.
  std::function<Result<std::map<std::string, Receiver>>(const Settings&)> receivers;
  // Returns `invalid` for a record that must not be saved, by any route; null: accepts all records.
  std::function<Result<Done>(const RecordWrite&, Instant now)> check_record = nullptr;
  std::vector<ModuleSetting> settings = {};
  std::vector<CommandSpec> commands = {};  // before those that every program has
  std::vector<RunForm> forms = {};
  Presentation presentation = {};
  std::vector<Tool> tools = {};              // of all modules
  std::vector<ModuleRoute> routes = {};      // in addition to those of every program
  std::vector<std::string> on_request = {};  // names of modules: see Module::on_request
  std::function<Result<Definitions>(const Settings&)> graphs;
  std::function<Result<std::shared_ptr<Model>>(const Settings&, Clock&)> model;
  std::shared_ptr<Clock> clock = nullptr;  // null: that of the system
};

}  // namespace belay::cli
