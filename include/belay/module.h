#pragma once
// belay/module.h - Module: the parts of an agent that a program combines: graphs, tools,
// collections, schedules, models, settings, commands, routes, and the display of its payloads.
//
//     belay::Module letters() {
//       belay::Module module{.name = "letters"};
//       module.graphs = letter_graphs;
//       module.collections = {belay::record_collection<Letter>()};
//       module.commands = {{.path = {"letters"}, .line = "Count letters",
//                           .make = belay::make_module_command<Count>}};
//       module.routes = {letter_route()};
//       return module;
//     }
//
//     int main(int argc, char** argv) { return belay::main(argc, argv, {}, {letters()}); }
//
// A name that two modules have (of a command, a short form, a route, a graph, a tool, a collection,
// a schedule, a setting, a model or a topic), or that a module shares with every program, ends the
// program at its start with an error that names both.
//
// Threading: the functions of a module run on the main thread, those of its graphs on the
// executor's. Objects that they use must outlive belay::main().

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "belay/command.h"
#include "belay/graph.h"
#include "belay/hints.h"
#include "belay/http.h"
#include "belay/model.h"
#include "belay/output.h"
#include "belay/record.h"
#include "belay/route.h"
#include "belay/runtime.h"
#include "belay/tool.h"

namespace belay {

// A setting of a module. An environment variable overrides the settings file.
struct ModuleSetting {
  std::string key;         // in the settings file, and in ModuleSettings::values
  std::string variable;    // BELAY_...
  std::string help = {};   // for --help, one line
  bool is_access = false;  // to files or networks, of agents: ./NAME.yaml must be trusted to set it
};

// The settings that apply to a command, and to the process.
struct ModuleSettings {
  UserId user;
  Language language = Language::en;
  bool language_named = false;    // by a setting, or by a locale in Spanish
  bool language_by_flag = false;  // by --language: it is also stored with a start
  TimeZone time_zone;             // of displayed and entered dates and times
  bool time_zone_named = false;   // explicitly, not by the machine
  // True if a server has the runs (--server); it has its own settings.
  bool is_remote = false;
  bool is_service = false;  // `serve`, `worker`: the process also executes runs of other callers
  std::map<std::string, std::string> values = {};  // by ModuleSetting::key; unset ones are absent
  // The tools of all modules, while graphs are built; otherwise null. Graphs copy those they use.
  const ToolRegistry* tools = nullptr;
  // Requests under the program's egress policy, as nodes have them. Null, as is the next one, if
  // this process opens no store: is_remote, or a command without a store, such as `agents list`.
  std::shared_ptr<HttpAccess> http = nullptr;
  // The Redis tier's; null if `redis_for` does not contain "checkpoints". Outlives the graphs,
  // models, commands, routes and receivers of the process, and nothing else.
  SharedTextCache* texts = nullptr;

  // The value of a setting; empty if it is unset.
  std::string value(const std::string& key) const {
    auto found = values.find(key);
    return found == values.end() ? std::string() : found->second;
  }
};

// The objects that the commands and the displays of a module use.
struct ModuleContext {
  const Principal& who;  // the first argument of each call of the service
  Service& service;
  const ModuleSettings& settings;
  Output& output;
  Clock& clock;
  Random& random;
  // Returns a command line of this program, such as "belay resume T", with the options that it
  // needs for the same store, quoted for a shell.
  std::function<std::string(const std::vector<std::string>& words)> command_line;
};

// A message of an agent's conversation. `id`: the one by which clients show it once. Of a text that
// a model streamed, streamed_message_id() of its attempt; of the question of a run, question_id()
// (belay/agent.h). Empty: an id is derived from the texts of persons up to the message.
struct FormMessage {
  Message message;
  std::string id = {};
  bool is_error = false;  // role `tool`: the call failed
};

// An agent as a conversation, for protocols of chats. From any thread.
struct ConversationForm {
  // Returns the input of a run for a text of a person; `invalid`, with the expected form, if none.
  std::function<Result<Value>(std::string_view text)> input_of = nullptr;
  // Returns the texts of persons (Role::user) and of the agent in a state, oldest first.
  // `question_id`: that of the run whose state it is; empty: none.
  std::function<std::vector<FormMessage>(const Value& state, const std::string& question_id)>
      messages_of = nullptr;
};

// The display of results. Each member may be null: payloads are then shown as JSON, and nothing is
// marked. A payload is shown by the first module that accepts it.
struct Presentation {
  // Shows a payload in a terminal. False if the payload is not of this module.
  std::function<bool(ModuleContext&, const Value& payload)> payload = nullptr;
  // Selects the part of a state to show; returns null for none.
  std::function<const Value*(const Value& state)> made = nullptr;
  // Text after the graph's name in the headline of a run.
  std::function<std::string(const RunView&)> title = nullptr;
  // Text before the question of an approval, already styled.
  std::function<std::string(ModuleContext&, const ApprovalRow&)> mark = nullptr;
  // Adds members to the document of an approval. From any thread.
  std::function<void(const ApprovalRow&, Value::Object&)> approval_document = nullptr;
  // Called after the list of open approvals, with all existing approvals.
  std::function<void(ModuleContext&, const std::vector<ApprovalRow>&)> after_approvals = nullptr;
  // JSON Schemas of payloads and documents, by name. The description of the API contains them, and
  // ResponseSpec::schema names them.
  std::map<std::string, Value> schemas = {};
  std::map<std::string, ConversationForm, std::less<>> conversations = {};  // by graph
};

// A schedule (schedule.h) that a module declares, of the user of the process that starts it. A run
// is started in the queue, in the thread "NAME TICK". Users can pause the schedule.
struct ModuleSchedule {
  std::string name;
  std::string graph;
  // One second or more; the ticks are the multiples since 1970 (UTC). Of the ticks of an outage,
  // only the latest has a run.
  std::chrono::seconds every{0};
  Value input = Value::Object();  // members of the graph's state
  std::string expression = {};    // not empty: a cron expression, instead of `every`
  std::string zone = "UTC";       // of the expression
  std::string module = {};        // set by the program
};

// A collection of records, by its name alone or with the schema of its records.
struct RecordCollection {
  std::string name;
  Value schema = {};  // JSON Schema of a stored record; null: unknown

  template <typename Name>
    requires std::is_convertible_v<const Name&, std::string_view>
  RecordCollection(const Name& of) : name(std::string_view(of)) {}
};

template <Record R>
RecordCollection record_collection() {
  RecordCollection type(R::collection);
  type.schema = json_schema<R>(RequiredMembers::stored);
  return type;
}

using Definitions = std::vector<std::shared_ptr<const GraphDefinition>>;

struct Module {
  std::string name;         // for errors
  bool on_request = false;  // its graphs and routes are loaded only by `serve --graphs NAME`
  // Builds the graphs; versions of a graph have one name. Their texts may depend on the settings;
  // their names and nodes must not.
  std::function<Result<Definitions>(const ModuleSettings&)> graphs = nullptr;
  std::vector<Tool> tools = {};  // for the agents of all modules: ModuleSettings::tools
  std::vector<RecordCollection> collections = {};  // of records; `check` reads them
  std::vector<ModuleSchedule> schedules = {};
  // Returns `invalid` for a record that must not be saved, by any route; null: accepts all. Called
  // for the records of all modules.
  std::function<Result<Done>(const RecordWrite&, Instant now)> check_record = nullptr;
  std::map<std::string, Receiver> receivers = {};  // by outbox topic: see Runtime::deliver()
  // Further ones, which depend on the settings; called once, when a process starts to deliver. An
  // error, or a topic that has a receiver, ends the process.
  std::function<Result<std::map<std::string, Receiver>>(const ModuleSettings&)> make_receivers =
      nullptr;
  // Models that the module brings, by the name for --model.
  std::map<std::string, std::function<std::shared_ptr<Model>(const ModuleSettings&)>> models = {};
  std::vector<ModuleSetting> settings = {};
  std::vector<ModuleCommandSpec> commands = {};
  std::vector<RunForm> forms = {};
  std::vector<ModuleRoute> routes = {};
  Presentation presentation = {};
};

}  // namespace belay
