// Modules of one program: their names, and what they combine to.

#include "cli/modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_list.h"
#include "cli/settings.h"
#include "server/module_routes.h"

namespace belay::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Nothing final : public ModuleCommand {
 public:
  Task<Result<ExitCode>> run(ModuleContext&) override { co_return ExitCode::done; }
};

Module named(std::string name) {
  Module module;
  module.name = std::move(name);
  return module;
}

Result<Program> both(Module one, Module other) {
  std::vector<Module> modules;
  modules.push_back(std::move(one));
  modules.push_back(std::move(other));
  return program_with("/bin/letters", {}, std::move(modules));
}

std::shared_ptr<const GraphDefinition> graph_named(const std::string& name) {
  struct Empty {
    int count = 0;
  };
  GraphBuilder<Empty> graph{name};
  graph.node("only", [](const Empty&, Context&) { return set(&Empty::count, 1); });
  graph.edge(start, "only").edge("only", end);
  return std::move(graph).build().value().definition();
}

std::unique_ptr<FormOptions> no_options() { return nullptr; }

Task<Result<Done>> receive(OutboxMessage) { co_return Done{}; }

// A way to give a module one name, and the words of the error that two modules with it cause.
struct SharedName {
  std::string what;
  std::function<void(Module&)> add;
  friend void PrintTo(const SharedName& shared, std::ostream* out) { *out << shared.what; }
};

class Modules : public ::testing::TestWithParam<SharedName> {};

TEST_P(Modules, OfOneNameAreRefusedNamingBoth) {
  Module one = named("first"), other = named("second");
  GetParam().add(one);
  EXPECT_TRUE(both(one, other).ok()) << "one of them has the name";
  GetParam().add(other);
  auto refused = both(std::move(one), std::move(other));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("\"first\""), HasSubstr("\"second\""), HasSubstr(GetParam().what)));
}

ModuleRoute route(std::string path, std::string id) {
  ModuleRoute made = route_of("GET", std::move(path), std::move(id), "Letters");
  made.handle = [](RouteCall&) -> Task<Result<RouteReply>> { co_return RouteReply(); };
  return made;
}

struct Counted {
  std::string text{};
};

const SharedName kSharedNames[] = {
    {"the command \"letters list\"",
     [](Module& module) {
       module.commands.push_back({.path = {"letters", "list"}, .line = "List letters"});
     }},
    {"the short form of run \"answer\"",
     [](Module& module) {
       module.forms.push_back({"answer", "Answer a letter", "answer", no_options});
     }},
    {"the route \"GET /api/letters/{}\"",
     [](Module& module) {
       bool is_first = module.name == "first";
       module.routes.push_back(route(is_first ? "/api/letters/{id}" : "/api/letters/{key}",
                                     is_first ? "getLetter" : "readLetter"));
     }},
    {"the operation \"getLetter\"",
     [](Module& module) { module.routes.push_back(route("/api/" + module.name, "getLetter")); }},
    {"the tool \"count\"",
     [](Module& module) {
       auto count = [](const Counted& in, ToolContext&) { return std::to_string(in.text.size()); };
       module.tools = {make_tool<Counted>({.name = "count"}, count)};
     }},
    {"the collection \"letters\"", [](Module& module) { module.collections = {"letters"}; }},
    {"the schedule \"hourly\"",
     [](Module& module) {
       module.schedules = {{.name = "hourly", .graph = "answer", .every = std::chrono::hours(1)}};
     }},
    {"the setting \"letters\"",
     [](Module& module) { module.settings = {{"letters", "BELAY_" + module.name, ""}}; }},
    {"the variable \"BELAY_LETTERS\"",
     [](Module& module) { module.settings = {{module.name, "BELAY_LETTERS", ""}}; }},
    {"the model \"rules\"",
     [](Module& module) {
       module.models["rules"] = [](const ModuleSettings&) { return std::shared_ptr<Model>(); };
     }},
    {"the topic \"letters\"", [](Module& module) { module.receivers["letters"] = receive; }},
    {"the schema \"Letter\"",
     [](Module& module) { module.presentation.schemas["Letter"] = Value(true); }},
    {"the conversation form \"answer\"",
     [](Module& module) { module.presentation.conversations["answer"] = ConversationForm(); }}};
INSTANTIATE_TEST_SUITE_P(Of, Modules, ::testing::ValuesIn(kSharedNames));

TEST(ModuleNames, OfGraphsAreComparedWhenTheyAreBuilt) {
  Module one = named("first"), other = named("second");
  one.graphs = other.graphs = [](const ModuleSettings&) {
    return Result<Definitions>(Definitions{graph_named("answer")});
  };
  auto program = both(std::move(one), std::move(other));
  ASSERT_TRUE(program.ok());
  auto graphs = program->graphs(Settings());
  ASSERT_FALSE(graphs.ok());
  EXPECT_THAT(graphs.error().message, AllOf(HasSubstr("\"first\""), HasSubstr("\"second\""),
                                            HasSubstr("the graph \"answer\"")));
}

TEST(ModuleNames, OfGraphsOnRequestAreLoadedOnlyWhenRequested) {
  Module one = named("first"), other = named("second");
  other.on_request = true;
  other.graphs = [](const ModuleSettings&) {
    return Result<Definitions>(Definitions{graph_named("answer")});
  };
  auto program = both(std::move(one), std::move(other));
  ASSERT_TRUE(program.ok());
  Settings settings;
  EXPECT_TRUE(program->graphs(settings)->empty());
  settings.modules = {"second"};
  EXPECT_EQ(program->graphs(settings)->size(), 1u);
}

TEST(ModuleNames, OfSeveralVersionsOfAGraphAreOneInTheirModule) {
  Module one = named("first");
  one.graphs = [](const ModuleSettings&) {
    return Result<Definitions>(Definitions{graph_named("answer"), graph_named("answer")});
  };
  auto program = both(std::move(one), named("second"));
  ASSERT_TRUE(program.ok());
  auto graphs = program->graphs(Settings());
  ASSERT_TRUE(graphs.ok());
  EXPECT_EQ(graphs->size(), 2u);
}

TEST(ModuleSchedules, OfUnknownGraphsAreRefused) {
  Module one = named("first"), other = named("second");
  one.schedules = {{.name = "hourly", .graph = "answer", .every = std::chrono::hours(1)}};
  auto alone = both(one, other);
  ASSERT_TRUE(alone.ok());
  auto graphs = alone->graphs(Settings());
  ASSERT_FALSE(graphs.ok());
  EXPECT_THAT(graphs.error().message,
              AllOf(HasSubstr("\"hourly\""), HasSubstr("\"first\""), HasSubstr("\"answer\"")));
  other.graphs = [](const ModuleSettings&) {
    return Result<Definitions>(Definitions{graph_named("answer")});
  };
  EXPECT_TRUE(both(one, other)->graphs(Settings()).ok()) << "another module can have the graph";
}

TEST(ModuleSchedules, WithoutAnIntervalAreRefused) {
  Module one = named("first");
  one.schedules = {{.name = "hourly", .graph = "answer"}};
  auto refused = both(std::move(one), named("second"));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("\"hourly\""));
}

TEST(ModuleTools, AreKnownToTheGraphsOfAllModules) {
  Module one = named("first"), other = named("second");
  one.tools = {make_tool<Counted>({.name = "count"}, [](const Counted& in, ToolContext&) {
    return std::to_string(in.text.size());
  })};
  std::vector<std::string> seen;
  other.graphs = [&seen](const ModuleSettings& settings) -> Result<Definitions> {
    for (const Tool& tool : settings.tools->all()) seen.push_back(tool.name());
    return Definitions{graph_named("letters")};
  };
  auto program = both(std::move(one), std::move(other));
  ASSERT_TRUE(program.ok()) << program.error().message;
  ASSERT_TRUE(program->graphs(Settings{}).ok());
  EXPECT_THAT(seen, ::testing::ElementsAre("count"));
}

TEST(ModuleNames, OfModulesDiffer) {
  auto refused = both(named("letters"), named("letters"));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("the name \"letters\""));
}

TEST(ModuleNames, OfCommandsThatEveryProgramHasAreRefused) {
  Module module = named("letters");
  module.commands = {{.path = {"threads"}, .line = "My threads"}};
  auto program = both(std::move(module), named("other"));
  ASSERT_TRUE(program.ok());
  auto commands = command_list(*program);
  ASSERT_FALSE(commands.ok());
  EXPECT_THAT(commands.error().message,
              AllOf(HasSubstr("\"My threads\" of module \"letters\" and \"List threads"),
                    HasSubstr("the name \"threads\"")));
}

TEST(ModuleNames, OfSettingsThatEveryProgramHasAreRefused) {
  for (const ModuleSetting& setting :
       {ModuleSetting{"store", "BELAY_LETTERS"}, ModuleSetting{"letters", "BELAY_LOG_LEVEL"},
        ModuleSetting{"model_prices", "BELAY_LETTERS"}}) {
    Module module = named("letters");
    module.settings = {setting};
    auto refused = both(std::move(module), named("other"));
    ASSERT_FALSE(refused.ok()) << setting.key;
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr("The program itself has the "), HasSubstr("\"letters\"")));
  }
}

TEST(ModuleNames, OfTopicsOfTheProgramAreRefused) {
  MainOptions options;
  options.receivers["late"] = receive;
  std::vector<Module> modules;
  modules.push_back(named("letters"));
  modules.back().receivers["late"] = receive;
  EXPECT_FALSE(program_with("/bin/letters", std::move(options), std::move(modules)).ok());
}

// Adds a function that makes receivers of these topics.
void make_topics(Module& module, std::vector<std::string> topics, Receiver receiver = receive) {
  module.make_receivers = [topics, receiver](const ModuleSettings&) {
    std::map<std::string, Receiver> made;
    for (const std::string& topic : topics) made[topic] = receiver;
    return Result<std::map<std::string, Receiver>>(std::move(made));
  };
}

TEST(ModuleReceivers, AreThoseOfTheProgramAndOfModulesAndThoseThatTheyMakeFromTheSettings) {
  MainOptions options;
  options.receivers["late"] = receive;
  std::vector<Module> modules{named("first"), named("second")};
  modules[0].receivers["letters"] = receive;
  int made = 0;
  modules[1].make_receivers = [&made](const ModuleSettings& settings) {
    ++made;
    std::map<std::string, Receiver> receivers;
    receivers[settings.value("topic")] = receive;
    return Result<std::map<std::string, Receiver>>(std::move(receivers));
  };
  auto program = program_with("/bin/letters", std::move(options), std::move(modules));
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_EQ(made, 0) << "only a process that delivers makes them";
  Settings settings;
  settings.values["topic"] = "parcels";
  auto receivers = program->receivers(settings);
  ASSERT_TRUE(receivers.ok()) << receivers.error().message;
  EXPECT_EQ(made, 1);
  std::vector<std::string> topics;
  for (const auto& [topic, receiver] : *receivers) topics.push_back(topic);
  EXPECT_THAT(topics, ::testing::ElementsAre("late", "letters", "parcels"));
}

TEST(ModuleReceivers, OfOneTopicAreRefusedWhenTheyAreMadeNamingBothModules) {
  Module one = named("first"), other = named("second");
  other.receivers["letters"] = receive;
  make_topics(one, {"letters"});
  auto with_static = both(one, other);
  ASSERT_TRUE(with_static.ok()) << "it is unknown before they are made";
  auto refused = with_static->receivers(Settings());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("\"first\""), HasSubstr("\"second\""),
                                             HasSubstr("the topic \"letters\"")));
  other.receivers.clear();
  make_topics(other, {"letters"});
  refused = both(one, other)->receivers(Settings());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("\"first\""), HasSubstr("\"second\""),
                                             HasSubstr("the topic \"letters\"")));
  one.receivers["letters"] = receive;
  refused = both(one, named("second"))->receivers(Settings());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message,
              HasSubstr("The module \"first\" has the topic \"letters\" twice."));
}

TEST(ModuleReceivers, ThatCannotBeMadeAreAnErrorOfTheProgram) {
  Module one = named("first");
  one.make_receivers = [](const ModuleSettings&) -> Result<std::map<std::string, Receiver>> {
    return error(ErrorCode::unavailable, "There is no carrier.");
  };
  auto refused = both(one, named("second"))->receivers(Settings());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), error(ErrorCode::unavailable, "There is no carrier."));
  make_topics(one, {"letters"}, nullptr);
  refused = both(one, named("second"))->receivers(Settings());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(
      refused.error().message,
      HasSubstr("The receiver of the topic \"letters\" of module \"first\" has no function"));
}

TEST(ModuleNames, OfRoutesThatEveryProgramHasAreRefused) {
  server::Route known, other;
  known.method = other.method = "GET";
  known.path = "/api/threads/{threadId}";
  known.id = "getThread";
  other.path = "/api/threads/{name}";
  other.id = "myThread";
  other.module = "letters";
  auto refused = server::check_routes({known, other});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("(getThread) of every program"),
                                             HasSubstr("(myThread) of module \"letters\"")));
  other.path = "/api/letters";
  EXPECT_TRUE(server::check_routes({known, other}).ok());
  other.id = "getThread";
  EXPECT_FALSE(server::check_routes({known, other}).ok());
}

TEST(ModuleParts, WithoutTheirFunctionAreRefusedAtTheStart) {
  const SharedName parts[] = {
      {"The route \"GET /api/letters\"",
       [](Module& module) {
         module.routes.push_back(route_of("GET", "/api/letters", "listLetters", "Letters"));
       }},
      {"The short form of run \"answer\"",
       [](Module& module) { module.forms.push_back({"answer", "Answer", "answer", nullptr}); }},
      {"The model \"rules\"", [](Module& module) { module.models["rules"] = nullptr; }},
      {"The receiver of the topic \"late\"",
       [](Module& module) { module.receivers["late"] = nullptr; }}};
  for (const SharedName& part : parts) {
    Module module = named("letters");
    part.add(module);
    auto refused = both(std::move(module), named("other"));
    ASSERT_FALSE(refused.ok()) << part.what;
    EXPECT_THAT(refused.error().message, HasSubstr(part.what + " of module \"letters\""));
  }
}

TEST(ModulePresentations, ShowAPayloadByTheFirstModuleThatAcceptsIt) {
  Module one = named("first"), other = named("second");
  one.presentation.made = [](const Value& state) -> const Value* { return state.find("letter"); };
  other.presentation.made = [](const Value& state) -> const Value* { return state.find("number"); };
  auto program = both(std::move(one), std::move(other));
  ASSERT_TRUE(program.ok());
  Value state = Value::object({{"number", 7}});
  ASSERT_NE(program->presentation.made(state), nullptr);
  EXPECT_EQ(*program->presentation.made(state), Value(7));
  EXPECT_EQ(program->presentation.made(Value::object({{"other", 1}})), nullptr);
}

TEST(ModulePresentations, ShowTheWholeStateOfAGraphWhoseModuleSelectsNoPart) {
  Module one = named("first");
  one.presentation.made = [](const Value& state) -> const Value* { return state.find("letter"); };
  auto program = both(std::move(one), named("second"));
  ASSERT_TRUE(program.ok());
  Value state = Value::object({{"number", 7}});
  EXPECT_EQ(program->presentation.made(state), &state);
}

TEST(ModuleRecords, PassTheChecksOfAllModules) {
  Module one = named("first"), other = named("second");
  auto refuse = [](std::string collection) {
    return [collection](const RecordWrite& write, Instant) -> Result<Done> {
      if (write.collection != collection) return Done{};
      return error(ErrorCode::invalid, collection);
    };
  };
  one.check_record = refuse("letters");
  other.check_record = refuse("stamps");
  auto program = both(std::move(one), std::move(other));
  ASSERT_TRUE(program.ok());
  RecordWrite write;
  for (const char* collection : {"letters", "stamps"}) {
    write.collection = collection;
    EXPECT_FALSE(program->check_record(write, Instant()).ok());
  }
  write.collection = "notes";
  EXPECT_TRUE(program->check_record(write, Instant()).ok());
}

}  // namespace
}  // namespace belay::cli
