// Calls that are more than one request: input, progress, tasks; and servers that abuse them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/mcp.h"
#include "mcp/input.h"

namespace belay::mcp {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

struct McpCalls : ::testing::Test {
  McpCalls() {
    options.name = "scripted";
    options.stop_grace = 300ms;
    options.probe_timeout = 10s;
    options.call_timeout = 20s;
    options.on_progress = [this](const Progress& progress) { notes.push_back(progress); };
  }

  void answer_with(InputAction action, Value content = Value()) {
    options.on_input = [this, action,
                        content](InputRequest request) -> Task<Result<InputResponse>> {
      asked.push_back(std::move(request));
      InputResponse response;
      response.action = action;
      response.content = content;
      co_return response;
    };
  }

  std::shared_ptr<Server> open(std::vector<std::string> arguments) {
    options.command = {SCRIPTED_MCP_SERVER};
    options.command.insert(options.command.end(), arguments.begin(), arguments.end());
    return open_server(options).value();
  }

  static Result<CallResult> call(const std::shared_ptr<Server>& server, std::string tool) {
    auto loop = make_event_loop(1);
    Value arguments = Value::object({{"text", "hello"}});
    return block_on(*loop, server->call(std::move(tool), std::move(arguments)));
  }

  static void expect_error(const Result<CallResult>& called, ErrorCode code,
                           std::string_view text) {
    ASSERT_FALSE(called.ok()) << called->text;
    EXPECT_EQ(called.error().code, code) << called.error().message;
    EXPECT_THAT(called.error().message, HasSubstr(std::string(text)));
  }

  ServerOptions options;
  std::vector<InputRequest> asked;
  std::vector<Progress> notes;
};

TEST_F(McpCalls, AFormIsAnsweredWithTheStateOfItsServer) {
  answer_with(InputAction::accept, Value::object({{"color", "blue"}}));
  EXPECT_EQ(call(open({"modern"}), "form").value().text,
            R"({"color":{"action":"accept","content":{"color":"blue"}}} "state 1")");
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].server, "scripted");
  EXPECT_EQ(asked[0].tool, "form");
  EXPECT_EQ(asked[0].message, "Which color?");
  EXPECT_THAT(call(open({"modern"}), "form twice").value().text, HasSubstr("\"state 2\""));
  EXPECT_THAT(asked, SizeIs(3));
}

TEST_F(McpCalls, MissingMembersOfAFormGetTheirDefaults) {
  answer_with(InputAction::accept);
  EXPECT_THAT(call(open({"modern"}), "form").value().text, HasSubstr(R"("color":"red")"));
  EXPECT_THAT(call(open({"legacy"}), "form").value().text, HasSubstr(R"("color":"red")"));
}

TEST_F(McpCalls, AResponseThatDoesNotFitTheFormIsNotSent) {
  answer_with(InputAction::accept, Value::object({{"color", "green"}}));
  for (const char* era : {"modern", "legacy"}) {
    expect_error(call(open({era}), "form"), ErrorCode::invalid, "does not fit its form");
  }
}

TEST_F(McpCalls, AFormCanBeDeclinedInBothEras) {
  answer_with(InputAction::decline);
  for (const char* era : {"modern", "legacy"}) {
    EXPECT_THAT(call(open({era}), "form").value().text, HasSubstr(R"("action":"decline")"));
  }
  EXPECT_THAT(asked, SizeIs(2));
}

TEST_F(McpCalls, AFormThatNobodyFillsInIsCancelled) {
  options.input_timeout = 100ms;
  options.on_input = [](InputRequest) -> Task<Result<InputResponse>> {
    co_await sleep_for(1h);
    co_return InputResponse();
  };
  for (const char* era : {"modern", "legacy"}) {
    EXPECT_THAT(call(open({era}), "form").value().text, HasSubstr(R"("action":"cancel")"));
  }
}

TEST_F(McpCalls, TheTimeOfAPersonIsNotThatOfTheServer) {
  options.call_timeout = 1s;
  options.on_input = [](InputRequest) -> Task<Result<InputResponse>> {
    co_await sleep_for(1500ms);
    co_return InputResponse();
  };
  for (const char* era : {"modern", "legacy"}) {
    EXPECT_THAT(call(open({era}), "form").value().text, HasSubstr("cancel")) << era;
  }
}

TEST_F(McpCalls, WithoutAPersonTheErrorNamesThatWhichIsAsked) {
  expect_error(call(open({"modern"}), "form"), ErrorCode::invalid,
               "\"Which color?\" with color (string)");
  // A server of the older era asks only clients that have declared it; this one gets a refusal.
  EXPECT_THAT(call(open({"legacy"}), "form").value().text, HasSubstr("-32601"));
}

TEST_F(McpCalls, AnErrorOfThePersonEndsTheCall) {
  options.on_input = [](InputRequest) -> Task<Result<InputResponse>> {
    co_return error(ErrorCode::forbidden, "nobody is there");
  };
  for (const char* era : {"modern", "legacy"}) {
    auto server = open({era});
    expect_error(call(server, "form"), ErrorCode::forbidden, "nobody is there");
    EXPECT_EQ(call(server, "echo").value().text, "hello") << era;
  }
}

TEST_F(McpCalls, AnExceptionOfThePersonReachesTheCaller) {
  options.on_input = [](InputRequest) -> Task<Result<InputResponse>> {
    throw std::runtime_error("thrown");
    co_return InputResponse();
  };
  for (const char* era : {"modern", "legacy"}) {
    auto server = open({era});
    auto guarded = [&]() -> Task<std::string> {
      try {
        auto called = co_await server->call("form", Value(Value::Object()));
        co_return called.ok() ? called->text : called.error().message;
      } catch (const std::runtime_error& thrown) {
        co_return thrown.what();
      }
    };
    auto loop = make_event_loop(1);
    EXPECT_EQ(block_on(*loop, guarded()), "thrown") << era;
  }
}

TEST_F(McpCalls, AServerThatAsksForEverIsStopped) {
  answer_with(InputAction::accept);
  options.inputs_max = 4;
  for (const char* era : {"modern", "legacy"}) {
    asked.clear();
    auto server = open({era});
    expect_error(call(server, "form endless"), ErrorCode::exhausted, "more than 4 times");
    EXPECT_THAT(asked, SizeIs(4)) << era;
  }
}

TEST_F(McpCalls, AFormThatIsNestedTooDeeplyIsNoMessage) {
  answer_with(InputAction::accept);
  options.call_timeout = 500ms;
  auto server = open({"modern"});
  expect_error(call(server, "form deep"), ErrorCode::uncertain, "did not answer");
  EXPECT_THAT(asked, SizeIs(0));
}

TEST_F(McpCalls, ProgressExtendsTheTime) {
  options.call_timeout = 1s;
  for (const char* era : {"modern", "legacy"}) {
    notes.clear();
    EXPECT_EQ(call(open({era}), "progress").value().text, "done") << era;
    ASSERT_FALSE(notes.empty());
    EXPECT_EQ(notes.back().progress, 3);
    EXPECT_EQ(notes.back().total, 3);
    EXPECT_EQ(notes.back().message, "step 3");
    EXPECT_EQ(notes.back().tool, "progress");
  }
}

TEST_F(McpCalls, ProgressThatDoesNotIncreaseDoesNotExtendTheTime) {
  options.call_timeout = 1s;
  expect_error(call(open({"modern"}), "progress stuck"), ErrorCode::uncertain, "within 600000 ms");
  EXPECT_THAT(notes, SizeIs(1));
}

TEST_F(McpCalls, ProgressForEverEndsAtTheMaximum) {
  options.call_timeout = 1s;
  options.call_timeout_max = 2s;
  expect_error(call(open({"modern"}), "progress endless"), ErrorCode::uncertain, "within 2000 ms");
}

TEST_F(McpCalls, AFloodOfProgressEndsTheProgram) {
  auto server = open({"modern"});
  expect_error(call(server, "progress flood"), ErrorCode::exhausted, "more than 10000 times");
  EXPECT_EQ(call(server, "echo").value().text, "hello");
}

TEST_F(McpCalls, ATaskIsPolledUntilItEnds) {
  auto server = open({"modern"});
  EXPECT_EQ(call(server, "task").value().text, "ended null");
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(notes[0].message, "poll 0");
  expect_error(call(server, "task failed"), ErrorCode::invalid, "the disk is full");
  EXPECT_EQ(call(server, "cancelled").value().text, "") << "a task that has ended";
}

TEST_F(McpCalls, ATaskReceivesItsInputOnce) {
  answer_with(InputAction::accept, Value::object({{"color", "blue"}}));
  EXPECT_THAT(call(open({"modern"}), "task_input").value().text, HasSubstr(R"("color":"blue")"));
  EXPECT_THAT(asked, SizeIs(1));
}

TEST_F(McpCalls, ATaskThatDoesNotEndIsCancelled) {
  options.call_timeout_max = 400ms;
  auto server = open({"modern"});
  expect_error(call(server, "task endless"), ErrorCode::uncertain, "was cancelled");
  EXPECT_EQ(call(server, "cancelled").value().text, "task");
}

TEST_F(McpCalls, ATaskIsCancelledTogetherWithItsCall) {
  auto server = open({"modern"});
  auto loop = make_event_loop(1);
  auto stop_while_polling = [&]() -> Task<Result<CallResult>> {
    Executor& executor = co_await this_executor();
    auto task = server->call("task endless", Value(Value::Object()));
    Spawned following = spawn<Result<CallResult>>(executor, std::move(task), nullptr);
    while (notes.empty()) co_await sleep_for(10ms);
    following.reset();
    co_return co_await server->call("cancelled", Value(Value::Object()));
  };
  EXPECT_EQ(block_on(*loop, stop_while_polling()).value().text, "task");
}

TEST_F(McpCalls, ATaskThatItsServerForgetsIsUncertain) {
  expect_error(call(open({"modern"}), "task lost"), ErrorCode::uncertain, "-32602");
}

TEST_F(McpCalls, TheFirstOfTwoRepliesCounts) {
  for (const char* era : {"modern", "legacy"}) {
    auto server = open({era});
    EXPECT_EQ(call(server, "twice").value().text, "first") << era;
    EXPECT_EQ(call(server, "echo").value().text, "hello") << era;
  }
}

TEST_F(McpCalls, AReplyAfterTheCancellationIsIgnored) {
  options.call_timeout = 1s;
  auto server = open({"modern"});
  expect_error(call(server, "late"), ErrorCode::uncertain, "did not answer");
  EXPECT_EQ(call(server, "echo").value().text, "hello");
}

TEST_F(McpCalls, AChangeIsSeenAtTheNextCallOfAKnownTool) {
  for (const char* era : {"modern", "legacy"}) {
    auto server = open({era, "--announces"});
    auto loop = make_event_loop(1);
    ToolInfo echo = block_on(*loop, server->list()).value().tools[0];
    EXPECT_EQ(call(server, "change").value().text, "changed");
    auto changed = block_on(*loop, server->call_as_known(echo, Value(Value::Object()), Instant()));
    expect_error(changed, ErrorCode::forbidden, "has changed");
  }
}

Result<InputRequest> form_of(const std::string& schema) {
  return input_request_of(
      Value::object({{"message", "m"}, {"requestedSchema", parse_json(schema, 100).value()}}));
}

TEST(McpInput, OnlyFlatFormsOfALimitedSizeAreShown) {
  EXPECT_TRUE(form_of(R"({"type":"object","properties":{"a":{"type":"boolean"}}})").ok());
  std::string many;
  for (int i = 0; i < 200; ++i) {
    many += (i > 0 ? ",\"m" : "\"m") + std::to_string(i) + R"(":{"type":"string"})";
  }
  const std::string wrong[] = {
      "null",
      "[]",
      R"({"type":"object"})",
      R"({"type":"string","properties":{}})",
      R"({"type":"object","properties":{"a":{}}})",
      R"({"type":"object","properties":{"a":{"type":"object"}}})",
      R"({"type":"object","properties":{"a":7}})",
      R"({"type":"object","properties":{)" + many + "}}",
      R"({"type":"object","properties":{},"title":")" + std::string(70'000, 'x') + "\"}"};
  for (const std::string& schema : wrong) EXPECT_FALSE(form_of(schema).ok()) << schema;
  EXPECT_FALSE(input_request_of(Value()).ok());
  EXPECT_FALSE(input_request_of(parse_json(R"({"mode":"url","message":"m"})").value()).ok());
}

}  // namespace
}  // namespace belay::mcp
