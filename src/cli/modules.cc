#include "cli/modules.h"

#include <algorithm>
#include <set>

#include "cli/combined_presentation.h"
#include "cli/config_file.h"
#include "cli/model_settings.h"
#include "cli/served_routes.h"
#include "cli/show.h"
#include "scheduler/scheduler.h"
#include "server/module_routes.h"
#include "usage/usage_log.h"

namespace belay::cli {
namespace {

constexpr std::size_t kSettingNameColumns = 24;

// The collections of every program.
std::vector<std::string> own_collections() {
  std::vector<std::string> names = served_collections();
  for (std::string_view name :
       {SteeringMessage::collection, Schedule::collection, ScheduleTick::collection,
        PendingInvocation::collection, usage::days_collection}) {
    names.emplace_back(name);
  }
  return names;
}

// The model of a program that has none: every call fails.
class NoModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest) override {
    co_return error(ErrorCode::invalid,
                    "This program has no model. Set --model or BELAY_MODEL, such as "
                    "ollama:llama3.2, or pass one to belay::main in MainOptions::model.");
  }
};

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The names that modules have taken, with their modules.
class TakenNames {
 public:
  // `kind`: "command", "route". Empty `module`: the program itself. Fails with `invalid` if another
  // module has the name.
  Result<Done> take(std::string_view kind, const std::string& name, const std::string& module) {
    auto [found, is_new] = owners_.emplace(std::string(kind) + "\n" + name, module);
    if (is_new) return Done{};
    if (found->second.empty()) {
      return error(ErrorCode::invalid, "The program itself has the " + std::string(kind) + " \"" +
                                           name + "\", and the module \"" + module +
                                           "\" has it, too. Rename that of the module.");
    }
    // Two modules can have the same name of a module, and a part of one module can occur twice.
    if (found->second == module && kind != "name") {
      return error(ErrorCode::invalid, "The module \"" + module + "\" has the " +
                                           std::string(kind) + " \"" + name +
                                           "\" twice. Rename or omit one of them.");
    }
    return error(ErrorCode::invalid, "The modules \"" + found->second + "\" and \"" + module +
                                         "\" both have the " + std::string(kind) + " \"" + name +
                                         "\". Rename one of them, or omit a module.");
  }

 private:
  std::map<std::string, std::string> owners_;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

Error no_function(const std::string& part, const std::string& module) {
  return error(ErrorCode::invalid,
               part + " of module \"" + module + "\" has no function. Set it, or omit it.");
}

Result<Done> check_receivers(const std::map<std::string, Receiver>& receivers,
                             const std::string& module) {
  for (const auto& [topic, receiver] : receivers) {
    if (!receiver) return no_function("The receiver of the topic \"" + topic + "\"", module);
  }
  return Done{};
}

// A part without its function would fail when it is used for the first time.
Result<Done> check_functions(const Module& module) {
  auto lacks = [&](const std::string& part) { return no_function(part, module.name); };
  for (const ModuleRoute& route : module.routes) {
    if (!route.handle) return lacks("The route \"" + route.method + " " + route.path + "\"");
  }
  for (const RunForm& form : module.forms) {
    if (!form.make) return lacks("The short form of run \"" + form.name + "\"");
  }
  for (const auto& [name, make] : module.models) {
    if (!make) return lacks("The model \"" + name + "\"");
  }
  return check_receivers(module.receivers, module.name);
}

Result<Done> take_names(const Module& module, TakenNames& taken) {
  auto take = [&](std::string_view kind, const std::string& name) {
    return taken.take(kind, name, module.name);
  };
  BELAY_CHECK(taken.take("name", module.name, module.name));
  for (const ModuleCommandSpec& command : module.commands) {
    BELAY_CHECK(take("command", joined(command.path)));
  }
  for (const RunForm& form : module.forms) BELAY_CHECK(take("short form of run", form.name));
  for (const ModuleRoute& route : module.routes) {
    BELAY_CHECK(take("route", server::place_of(route)));
    BELAY_CHECK(take("operation", route.id));
  }
  for (const Tool& tool : module.tools) BELAY_CHECK(take("tool", tool.name()));
  for (const RecordCollection& each : module.collections) {
    BELAY_CHECK(take("collection", each.name));
  }
  const cron::ZoneDatabase zones;
  for (const ModuleSchedule& schedule : module.schedules) {
    BELAY_CHECK(scheduler::check_module_schedule(schedule, zones));
    BELAY_CHECK(take("schedule", schedule.name));
  }
  for (const ModuleSetting& setting : module.settings) {
    BELAY_CHECK(take("setting", setting.key));
    BELAY_CHECK(take("variable", setting.variable));
  }
  for (const auto& [name, make] : module.models) BELAY_CHECK(take("model", name));
  for (const auto& [topic, receiver] : module.receivers) BELAY_CHECK(take("topic", topic));
  for (const auto& [name, schema] : module.presentation.schemas) BELAY_CHECK(take("schema", name));
  for (const auto& [graph, form] : module.presentation.conversations) {
    BELAY_CHECK(take("conversation form", graph));
  }
  return Done{};
}

Result<Done> take_names_of_program(const MainOptions& options, TakenNames& taken) {
  std::vector<ModuleSetting> settings = common_settings();
  for (ModuleSetting& setting : model_settings()) settings.push_back(std::move(setting));
  for (const ModuleSetting& setting : settings) {
    BELAY_CHECK(taken.take("setting", setting.key, ""));
    BELAY_CHECK(taken.take("variable", setting.variable, ""));
  }
  for (const RecordCollection& each : options.collections) {
    BELAY_CHECK(taken.take("collection", each.name, ""));
  }
  for (const std::string& name : own_collections()) {
    BELAY_CHECK(taken.take("collection", name, ""));
  }
  for (const auto& [topic, receiver] : options.receivers) {
    BELAY_CHECK(taken.take("topic", topic, ""));
  }
  return Done{};
}

// A command of a module in the table of commands.
class AdaptedCommand final : public Command {
 public:
  explicit AdaptedCommand(std::unique_ptr<ModuleCommand> command) : command_(std::move(command)) {}

  void declare(CommandWords& words) override { command_->declare(words); }
  Result<Done> validate(const CommandValidation& inputs) override {
    return command_->validate(inputs.settings);
  }
  Task<CommandResult> run(CommandContext& context) override {
    ModuleContext seen = module_context(context);
    co_return co_await command_->run(seen);
  }

 private:
  std::unique_ptr<ModuleCommand> command_;
};

CommandSpec command_of(ModuleCommandSpec spec, const std::string& module) {
  CommandSpec command;
  command.path = std::move(spec.path);
  command.line = std::move(spec.line);
  command.end = std::move(spec.end);
  command.module = module;
  command.traits.creates_store = spec.creates_store;
  command.traits.uses_store = spec.uses_store;
  command.traits.processes_due = spec.uses_store;
  if (spec.make) {
    command.make = [make = std::move(spec.make)] {
      return std::make_unique<AdaptedCommand>(make());
    };
  }
  return command;
}

// The lines of --help about the settings of modules.
std::string settings_help(const MainOptions& options, const std::vector<Module>& modules) {
  std::string lines;
  if (!options.default_model.empty()) {
    lines += std::string(2 + kSettingNameColumns, ' ') + "BELAY_MODEL is " + options.default_model +
             " by default" +
             (options.default_model_help.empty() ? "" : ": " + options.default_model_help) + "\n";
  }
  for (const Module& module : modules) {
    for (const ModuleSetting& setting : module.settings) {
      lines += "  " + padded(setting.variable, kSettingNameColumns) + setting.help + "\n";
    }
  }
  return lines;
}

// A schedule of an unknown graph would fail only at its first time.
Result<Done> check_graphs_of_schedules(const std::vector<Module>& modules,
                                       const Definitions& graphs) {
  for (const Module& module : modules) {
    for (const ModuleSchedule& schedule : module.schedules) {
      auto has_name = [&](const auto& graph) { return graph->name == schedule.graph; };
      if (std::any_of(graphs.begin(), graphs.end(), has_name)) continue;
      return error(ErrorCode::invalid, "The schedule \"" + schedule.name + "\" of module \"" +
                                           module.name + "\" starts the graph \"" + schedule.graph +
                                           "\", which no module has.");
    }
  }
  return Done{};
}

bool is_requested(const std::string& module, const Settings& settings) {
  const std::vector<std::string>& wanted = settings.modules;
  return std::find(wanted.begin(), wanted.end(), module) != wanted.end();
}

Result<Definitions> all_graphs(const std::vector<Module>& modules, const Settings& settings) {
  Definitions all;
  TakenNames taken;
  ToolRegistry tools;
  for (const Module& module : modules) {
    for (const Tool& tool : module.tools) BELAY_CHECK(tools.add(tool));
  }
  ModuleSettings with_tools = settings;
  with_tools.tools = &tools;
  for (const Module& module : modules) {
    if (!module.graphs || (module.on_request && !is_requested(module.name, settings))) continue;
    BELAY_TRY(Definitions own, module.graphs(with_tools));
    // A module can have several versions of a graph, which have one name.
    std::set<std::string> names;
    for (auto& graph : own) {
      if (names.insert(graph->name).second) {
        BELAY_CHECK(taken.take("graph", graph->name, module.name));
      }
      all.push_back(std::move(graph));
    }
  }
  BELAY_CHECK(check_graphs_of_schedules(modules, all));
  return all;
}

// The receivers of a module that depend on the settings.
struct ReceiverSource {
  std::string module;
  decltype(Module::make_receivers) make;
};

// Returns `receivers` with those that the modules make. `taken` contains the topics of `receivers`.
Result<std::map<std::string, Receiver>> all_receivers(std::map<std::string, Receiver> receivers,
                                                      const std::vector<ReceiverSource>& sources,
                                                      TakenNames taken, const Settings& settings) {
  for (const ReceiverSource& source : sources) {
    BELAY_TRY(auto made, source.make(settings));
    BELAY_CHECK(check_receivers(made, source.module));
    for (const auto& [topic, receiver] : made) {
      BELAY_CHECK(taken.take("topic", topic, source.module));
    }
    receivers.merge(std::move(made));
  }
  return receivers;
}

Result<std::shared_ptr<Model>> model_of(const std::vector<Module>& modules,
                                        const Settings& settings, Clock& clock) {
  std::map<std::string, std::shared_ptr<Model>> own;
  for (const Module& module : modules) {
    for (const auto& [name, make] : module.models) own.emplace(name, make(settings));
  }
  if (settings.model.empty()) return std::shared_ptr<Model>(std::make_shared<NoModel>());
  return named_model(settings, std::move(own), clock);
}

// Called for each record: those of all modules pass each check.
std::function<Result<Done>(const RecordWrite&, Instant)> record_check(
    const std::vector<Module>& modules) {
  std::vector<std::function<Result<Done>(const RecordWrite&, Instant)>> checks;
  for (const Module& module : modules) {
    if (module.check_record) checks.push_back(module.check_record);
  }
  if (checks.empty()) return nullptr;
  return [checks = std::move(checks)](const RecordWrite& record, Instant now) -> Result<Done> {
    for (const auto& check : checks) BELAY_CHECK(check(record, now));
    return Done{};
  };
}

// A value of Program::receivers: those of the program and of all modules. `taken`: their topics.
decltype(Program::receivers) receivers_of(std::map<std::string, Receiver> receivers,
                                          const std::vector<Module>& modules, TakenNames taken) {
  std::vector<ReceiverSource> sources;
  for (const Module& module : modules) {
    receivers.insert(module.receivers.begin(), module.receivers.end());
    if (module.make_receivers) sources.push_back({module.name, module.make_receivers});
  }
  return [receivers = std::move(receivers), sources = std::move(sources),
          taken = std::move(taken)](const Settings& settings) {
    return all_receivers(receivers, sources, taken, settings);
  };
}

void take_parts(Module& module, Program& program) {
  if (module.on_request) program.on_request.push_back(module.name);
  auto append = [](auto& all, auto& own) {
    all.insert(all.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  };
  append(program.collections, module.collections);
  // Copied, as the schedules are: the graphs use them, too.
  program.tools.insert(program.tools.end(), module.tools.begin(), module.tools.end());
  // Copied: the graphs are checked against those of the modules when they are built.
  for (ModuleSchedule schedule : module.schedules) {
    schedule.module = module.name;
    program.schedules.push_back(std::move(schedule));
  }
  append(program.settings, module.settings);
  append(program.forms, module.forms);
  for (const auto& [name, make] : module.models) program.own_models.insert(name);
  for (ModuleCommandSpec& command : module.commands) {
    program.commands.push_back(command_of(std::move(command), module.name));
  }
  for (ModuleRoute& route : module.routes) {
    route.module = module.name;
    program.routes.push_back(std::move(route));
  }
}

}  // namespace

Result<Program> program_with(const std::string& called, MainOptions options,
                             std::vector<Module> modules) {
  TakenNames taken;
  BELAY_CHECK(take_names_of_program(options, taken));
  for (const Module& module : modules) {
    BELAY_CHECK(take_names(module, taken));
    BELAY_CHECK(check_functions(module));
  }
  Program program;
  program.name = options.name.empty() ? last_part(called) : options.name;
  program.call = called;
  program.about = options.about.empty() ? program.name + " - a durable agent." : options.about;
  program.examples =
      options.examples.empty() ? "  " + called + " run --input name=value\n" : options.examples;
  program.own_settings = settings_help(options, modules);
  program.run_end = options.run_help;
  program.default_model = options.default_model;
  program.first_run = options.first_run;
  program.other_hints = options.other_hints;
  program.brings_model = options.model != nullptr;
  program.clock = std::move(options.clock);
  if (!program.brings_model) program.settings = model_settings();
  program.presentation = combined_presentation(modules);
  program.check_record = record_check(modules);
  program.collections = std::move(options.collections);
  program.receivers = receivers_of(std::move(options.receivers), modules, std::move(taken));
  for (Module& module : modules) take_parts(module, program);
  for (std::string& name : own_collections()) program.collections.emplace_back(name);
  program.graphs = [modules](const Settings& settings) { return all_graphs(modules, settings); };
  program.model = [modules, model = std::move(options.model)](
                      const Settings& settings, Clock& clock) -> Result<std::shared_ptr<Model>> {
    if (model) return model;
    return model_of(modules, settings, clock);
  };
  return program;
}

}  // namespace belay::cli
