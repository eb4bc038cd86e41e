// The tools of a server as tools of an agent, and their pins.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "belay/agent.h"
#include "belay/mcp.h"
#include "belay/runtime.h"
#include "belay/testing.h"
#include "mcp/tool_list.h"

namespace belay::mcp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::shared_ptr<Server> opened(std::vector<std::string> arguments) {
  ServerOptions options;
  options.name = "scripted";
  options.command = {SCRIPTED_MCP_SERVER, "modern"};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  return open_server(std::move(options)).value();
}

// The servers of a test have one identity, although their commands differ.
ServerOptions same_server() {
  ServerOptions options;
  options.name = "scripted";
  options.command = {"one"};
  return options;
}

template <typename T>
T outcome(Task<T> task) {
  auto loop = make_event_loop(1);
  return block_on(*loop, std::move(task));
}

std::vector<ToolInfo> tools_with(std::vector<std::string> arguments) {
  return outcome(opened(std::move(arguments))->list()).value().tools;
}

ToolSetOptions only(std::vector<std::string> names) {
  ToolSetOptions options;
  options.names = std::move(names);
  return options;
}

class McpPins : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("belay-pins-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file() const { return (folder_ / "pins.json").string(); }

 private:
  std::filesystem::path folder_;
};

TEST(McpTools, HaveNamesOfProvidersAndTheClassesOfTheirHints) {
  auto set = outcome(tools_of(opened({}), only({"echo", "store", "die", "odd name!"}))).value();
  ASSERT_EQ(set.tools.size(), 4u);
  EXPECT_EQ(set.tools[0].name(), "scripted__die");
  EXPECT_EQ(set.tools[1].name(), "scripted__echo");
  EXPECT_THAT(set.tools[2].name(), StartsWith("scripted__odd_name__"));
  EXPECT_EQ(set.tools[0].options().effect, ToolEffect::unkeyed);
  EXPECT_EQ(set.tools[1].options().effect, ToolEffect::reads);
  EXPECT_EQ(set.tools[3].options().effect, ToolEffect::keyed);
  for (const Tool& tool : set.tools) {
    EXPECT_TRUE(tool.options().untrusted);
    EXPECT_EQ(tool.options().approval, ToolApproval::untrusted);
    EXPECT_EQ(tool.parameters()["type"], Value("object"));
  }
  ToolRegistry registry;
  for (const Tool& tool : set.tools) EXPECT_TRUE(registry.add(tool).ok());
}

TEST(McpTools, AnUnknownNameIsRefused) {
  auto set = outcome(tools_of(opened({}), only({"nothing"})));
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.error().code, ErrorCode::invalid);
}

// Runs an agent whose model makes one call, and returns the conversation's result of it.
ToolResult result_in_agent(const std::shared_ptr<Server>& server, const std::string& tool,
                           const Value& arguments) {
  auto loop = make_event_loop();
  auto set = block_on(*loop, tools_of(server, ToolSetOptions())).value();
  AgentOptions options;
  options.tools = set.tools;
  auto graph = agent_graph("caller", std::move(options)).value();
  auto clock = system_clock();
  auto random = system_random();
  testing::ScriptedModel model = testing::calls({{"a", tool, arguments}}).replies("Done.");
  auto store = open_store("memory:", *clock, *random).value();
  RuntimeParts parts{*store, *loop, *clock, *random, model};
  auto runtime = Runtime::open(std::move(parts)).value();
  runtime->add(graph);
  AgentState state;
  state.question = "Call it.";
  auto view = block_on(*loop, runtime->start(graph, std::move(state), StartOptions())).value();
  return decode_json<AgentState>(view.state).value().results["a"];
}

TEST(McpTools, AnAgentReceivesUntrustedResults) {
  Value arguments = Value::object({{"text", "good morning"}});
  ToolResult result = result_in_agent(opened({}), "scripted__echo", arguments);
  EXPECT_EQ(result.text, "good morning");
  EXPECT_TRUE(result.untrusted);
  EXPECT_FALSE(result.is_error);
  ToolResult failed = result_in_agent(opened({}), "scripted__fail", arguments);
  EXPECT_EQ(failed.text, "Error: no such text");
  EXPECT_TRUE(failed.is_error);
}

TEST_F(McpPins, WithoutAcceptedPinsNoToolIsOffered) {
  ToolSetOptions options;
  options.pins = file();
  auto server = opened({});
  auto before = outcome(tools_of(server, options)).value();
  EXPECT_THAT(before.tools, IsEmpty());
  EXPECT_EQ(before.differences.size(), 15u);
  EXPECT_EQ(before.differences[0].change, PinChange::added);
  EXPECT_THAT(before.differences[0].text(),
              HasSubstr("\"echo\" of the MCP server \"scripted\" is new"));
  Pins pins = read_pins(file()).value();
  accept_pins(pins, server->options(), outcome(server->list()).value().tools);
  ASSERT_TRUE(write_pins(file(), pins).ok());
  auto after = outcome(tools_of(server, options)).value();
  EXPECT_EQ(after.tools.size(), 15u);
  EXPECT_THAT(after.differences, IsEmpty());
}

TEST_F(McpPins, EachDifferenceIsTypedAndWithheld) {
  Pins pins;
  accept_pins(pins, same_server(), tools_with({}));
  ASSERT_TRUE(write_pins(file(), pins).ok());
  pins = read_pins(file()).value();
  EXPECT_THAT(check_pins(pins, same_server(), tools_with({})), IsEmpty());

  auto changed = check_pins(pins, same_server(), tools_with({"--changed"}));
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed[0].change, PinChange::changed);
  EXPECT_EQ(changed[0].tool, "echo");
  EXPECT_THAT(changed[0].parts, ElementsAre("description"));
  EXPECT_EQ(changed[0].text(),
            "The tool \"echo\" of the MCP server \"scripted\" has changed: description.");

  auto added = check_pins(pins, same_server(), tools_with({"--added"}));
  ASSERT_EQ(added.size(), 1u);
  EXPECT_EQ(added[0].change, PinChange::added);

  auto renamed = check_pins(pins, same_server(), tools_with({"--renamed"}));
  ASSERT_EQ(renamed.size(), 1u);
  EXPECT_EQ(renamed[0].change, PinChange::renamed);
  EXPECT_EQ(renamed[0].tool, "say");
  EXPECT_EQ(renamed[0].former_name, "echo");

  auto removed = check_pins(pins, same_server(), tools_with({"--removed"}));
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(removed[0].change, PinChange::removed);
  EXPECT_EQ(removed[0].tool, "store");
}

TEST_F(McpPins, AnotherCommandIsAnotherServer) {
  Pins pins;
  std::vector<ToolInfo> tools = tools_with({});
  accept_pins(pins, same_server(), tools);
  ServerOptions other = same_server();
  other.command = {"one", "--unsafe"};
  auto differences = check_pins(pins, other, tools);
  ASSERT_EQ(differences.size(), tools.size());
  EXPECT_THAT(differences[0].parts, ElementsAre("server"));
}

TEST_F(McpPins, HintsThatWeakenAGuaranteeAreADifference) {
  Pins pins;
  std::vector<ToolInfo> tools = tools_with({});
  accept_pins(pins, same_server(), tools);
  tools[2].reads_only = true;
  auto differences = check_pins(pins, same_server(), tools);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_THAT(differences[0].parts, ElementsAre("effect"));
}

TEST_F(McpPins, AMalformedFileIsCorrupt) {
  for (const char* text :
       {"", "[]", "{}", R"({"servers":7})", R"({"servers":{"a":{"tools":1}}})"}) {
    std::ofstream(file()) << text;
    auto pins = read_pins(file());
    ASSERT_FALSE(pins.ok()) << text;
    EXPECT_EQ(pins.error().code, ErrorCode::corrupt) << text;
  }
}

std::optional<std::string> refusal_of(const Value& tool) {
  ToolList list;
  Value page = Value::object({{"tools", Value(Value::Array{tool})}});
  static_cast<void>(add_page(page, false, 10, list).value());
  if (list.refused.empty()) return std::nullopt;
  return list.refused[0].reason;
}

Value tool_with(const std::string& name, const std::string& description,
                const std::string& schema) {
  return Value::object({{"description", description},
                        {"inputSchema", parse_json(schema, 100).value()},
                        {"name", name}});
}

TEST(McpList, ToolsBeyondTheLimitsAreRefused) {
  const std::string object = R"({"type":"object"})";
  EXPECT_FALSE(refusal_of(tool_with("a", "b", object)));
  EXPECT_TRUE(refusal_of(tool_with("", "b", object)));
  EXPECT_TRUE(refusal_of(tool_with(std::string(129, 'a'), "b", object)));
  EXPECT_TRUE(refusal_of(tool_with("a\nb", "b", object)));
  EXPECT_TRUE(refusal_of(tool_with("a", std::string(20'000, 'b'), object)));
  EXPECT_TRUE(refusal_of(tool_with("a", "b", R"({"type":"string"})")));
  EXPECT_TRUE(refusal_of(tool_with("a", "b", "true")));
  EXPECT_TRUE(refusal_of(
      tool_with("a", "b", R"({"type":"object","title":")" + std::string(70'000, 'x') + "\"}")));
  EXPECT_TRUE(refusal_of(tool_with(
      "a", "b", R"({"type":"object","properties":{"x":{"$ref":"https://example.com/x"}}})")));
  EXPECT_FALSE(refusal_of(
      tool_with("a", "b", R"({"type":"object","properties":{"x":{"$ref":"#/$defs/x"}}})")));
  std::string deep =
      R"({"type":"object","not":)" + std::string(70, '[') + std::string(70, ']') + "}";
  EXPECT_TRUE(refusal_of(tool_with("a", "b", deep)));
}

TEST(McpList, MalformedPagesAndResultsAreErrors) {
  ToolList list;
  EXPECT_FALSE(add_page(Value(Value::Object()), false, 10, list).ok());
  EXPECT_FALSE(
      add_page(parse_json(R"({"tools":[],"nextCursor":7})").value(), false, 10, list).ok());
  EXPECT_FALSE(add_page(parse_json(R"({"tools":[1,2,3]})").value(), false, 2, list).ok());
  for (const char* text : {"{}", R"({"content":7})", R"({"resultType":"input_required"})",
                           R"({"resultType":"task","content":[]})"}) {
    EXPECT_FALSE(call_result_of(parse_json(text).value()).ok()) << text;
  }
  EXPECT_EQ(call_result_of(parse_json(R"({"structuredContent":{"a":1}})").value()).value().text,
            R"({"a":1})");
}

}  // namespace
}  // namespace belay::mcp
