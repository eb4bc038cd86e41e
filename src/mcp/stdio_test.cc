// A server over stdio: a real process, in each era and with each fault.

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "belay/mcp.h"

namespace belay::mcp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ServerOptions scripted(std::vector<std::string> arguments) {
  ServerOptions options;
  options.name = "scripted";
  // A busy machine takes a second to start a program. Only these two do not reply to the probe.
  std::string era = arguments.empty() ? "" : arguments.front();
  options.probe_timeout = era == "silent" || era == "slow" ? 300ms : 10s;
  options.command = std::move(arguments);
  options.command.insert(options.command.begin(), SCRIPTED_MCP_SERVER);
  options.stop_grace = 500ms;
  options.call_timeout = 20s;
  return options;
}

std::shared_ptr<Server> server_with(std::vector<std::string> arguments) {
  return open_server(scripted(std::move(arguments))).value();
}

template <typename T>
T wait_for(Task<T> task) {
  auto loop = make_event_loop(1);
  return block_on(*loop, std::move(task));
}

Value text_argument(std::string text) { return Value::object({{"text", std::move(text)}}); }

Result<CallResult> call(const std::shared_ptr<Server>& server, std::string tool) {
  return wait_for(server->call(std::move(tool), text_argument("hello")));
}

std::string echoed(const std::shared_ptr<Server>& server) { return call(server, "echo")->text; }

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder)) ++count;
  ::closedir(folder);
  return count;
}

bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

TEST(McpEras, AreFoundByTheFirstQuestion) {
  const std::pair<const char*, const char*> eras[] = {
      {"modern", "2026-07-28"}, {"slow", "2026-07-28"},   {"legacy", "2025-11-25"},
      {"old", "2024-11-05"},    {"silent", "2025-11-25"}, {"fragile", "2025-11-25"}};
  for (const auto& [era, protocol] : eras) {
    auto server = server_with({era});
    auto info = wait_for(server->info());
    ASSERT_TRUE(info.ok()) << era << ": " << info.error().message;
    EXPECT_EQ(info->protocol, protocol) << era;
    EXPECT_EQ(info->name, "scripted") << era;
    EXPECT_EQ(echoed(server), "hello") << era;
  }
}

TEST(McpEras, AServerWithAnotherRevisionIsRefused) {
  auto info = wait_for(server_with({"future"})->info());
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.error().code, ErrorCode::invalid);
  EXPECT_THAT(info.error().message, HasSubstr("no revision"));
}

TEST(McpStdio, ListsTheToolsOfAllPages) {
  for (const char* pages : {"--pages=1", "--pages=2"}) {
    auto list = wait_for(server_with({"modern", pages})->list()).value();
    EXPECT_EQ(list.tools.size(), 15u) << pages;
    EXPECT_EQ(list.tools[0].name, "echo");
    EXPECT_EQ(list.tools[0].effect(), ToolEffect::reads);
    EXPECT_EQ(list.tools[1].effect(), ToolEffect::keyed);
    EXPECT_EQ(list.tools[2].effect(), ToolEffect::unkeyed);
    ASSERT_EQ(list.refused.size(), 1u);
    EXPECT_EQ(list.refused[0].name, "no schema");
  }
}

TEST(McpStdio, AnEndlessListIsRefused) {
  auto list = wait_for(server_with({"legacy", "--pages=0"})->list());
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code, ErrorCode::exhausted);
}

TEST(McpStdio, ResultsBecomeText) {
  auto server = server_with({"modern"});
  auto rich = call(server, "rich").value();
  EXPECT_EQ(rich.text,
            "[image, image/png, 4 characters of base64]\n[link to file:///a, plan]\n"
            "[file:///b]\ninside\n[content of the type \"smell\"]");
  EXPECT_EQ(rich.structured["n"], Value(1));
  auto failed = call(server, "fail").value();
  EXPECT_TRUE(failed.is_error);
  EXPECT_EQ(failed.text, "no such text");
  auto refused = call(server, "refuse");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("-32602"));
}

TEST(McpStdio, RequestsOfTheServerAreAnswered) {
  std::string answers = call(server_with({"legacy"}), "ask")->text;
  EXPECT_THAT(answers, HasSubstr(R"({"id":"ping","jsonrpc":"2.0","result":{}})"));
  EXPECT_THAT(answers, HasSubstr(R"("code":-32601)"));
}

TEST(McpStdio, AProgramThatDiesIsStartedAgain) {
  auto server = server_with({"modern"});
  auto died = call(server, "die");
  ASSERT_FALSE(died.ok());
  EXPECT_EQ(died.error().code, ErrorCode::uncertain);
  EXPECT_THAT(died.error().message, HasSubstr("exit code 7): the disk is on fire"));
  EXPECT_EQ(echoed(server), "hello");
}

TEST(McpStdio, ALimitEndsTheProgram) {
  const std::pair<const char*, const char*> faults[] = {{"garbage", "lines that are no messages"},
                                                        {"flood", "belong to no request"},
                                                        {"huge", "a message of more than"}};
  for (const auto& [fault, text] : faults) {
    auto server = server_with({"modern"});
    auto called = call(server, fault);
    ASSERT_FALSE(called.ok()) << fault;
    EXPECT_EQ(called.error().code, ErrorCode::exhausted) << fault;
    EXPECT_THAT(called.error().message, HasSubstr(text));
    EXPECT_EQ(echoed(server), "hello") << fault;
  }
}

TEST(McpStdio, AFewLinesThatAreNoMessagesAreIgnored) {
  EXPECT_EQ(echoed(server_with({"legacy", "--greets"})), "hello");
}

TEST(McpStdio, ACallThatTakesTooLongIsCancelled) {
  ServerOptions options = scripted({"modern"});
  options.call_timeout = 1s;  // also for the call after it
  auto server = open_server(std::move(options)).value();
  auto late = call(server, "hang");
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, ErrorCode::uncertain);
  // The first request was the question, the second one the call.
  EXPECT_EQ(call(server, "cancelled")->text, "2");
}

TEST(McpStdio, ADestroyedTaskCancelsItsCall) {
  auto server = server_with({"modern"});
  auto loop = make_event_loop(1);
  auto stop_while_waiting = [&]() -> Task<Result<CallResult>> {
    Executor& executor = co_await this_executor();
    auto task = server->call("hang", text_argument(""));
    Spawned hanging = spawn<Result<CallResult>>(executor, std::move(task), nullptr);
    co_await sleep_for(500ms);
    hanging.reset();
    co_return co_await server->call("cancelled", text_argument(""));
  };
  EXPECT_EQ(block_on(*loop, stop_while_waiting())->text, "2");
}

TEST(McpStdio, CallsOverlapAndShareOneProgram) {
  auto server = server_with({"modern"});
  auto loop = make_event_loop(1);
  auto all = [&]() -> Task<int> {
    Executor& executor = co_await this_executor();
    Completion<int> done;
    int missing = 50;
    std::vector<Spawned> calls;
    for (int i = 0; i < 50; ++i) {
      auto task = server->call("echo", text_argument(std::to_string(i)));
      calls.push_back(spawn<Result<CallResult>>(executor, std::move(task),
                                                [&missing, done, i](Result<CallResult> result) {
                                                  EXPECT_EQ(result->text, std::to_string(i));
                                                  if (--missing == 0) done.complete(0);
                                                }));
    }
    co_return co_await done;
  };
  EXPECT_EQ(block_on(*loop, all()), 0);
}

TEST(McpStdio, AProgramReceivesNeitherVariablesNorDescriptors) {
  ::setenv("BELAY_TEST_SECRET", "secret", 1);
  int leaked = ::dup(1);  // without O_CLOEXEC
  ServerOptions options = scripted({"modern"});
  options.environment = {{"MODE", "test"}};
  auto server = open_server(std::move(options)).value();
  std::string text = call(server, "environment")->text;
  ::close(leaked);
  EXPECT_THAT(text, HasSubstr("MODE "));
  EXPECT_THAT(text, HasSubstr("PATH "));
  EXPECT_THAT(text, Not(HasSubstr("BELAY_TEST_SECRET")));
  EXPECT_THAT(text, ::testing::EndsWith(" 0 1 2 "));
}

TEST(McpStdio, LeavesNoProcessAndNoDescriptor) {
  std::size_t before = open_descriptors();
  for (const char* end : {"echo", "die", "flood", "hang"}) {
    ServerOptions options = scripted({"modern", "--stays"});
    options.call_timeout = 300ms;
    options.stop_grace = 100ms;
    static_cast<void>(call(open_server(std::move(options)).value(), end));
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_FALSE(has_children());
}

TEST(McpStdio, AProgramThatDoesNotExistIsAnError) {
  ServerOptions options = scripted({});
  options.command = {"no-such-program-of-belay"};
  auto info = wait_for(open_server(options).value()->info());
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.error().code, ErrorCode::invalid);
  options.command = {"true"};
  auto ended = wait_for(open_server(options).value()->info());
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, ErrorCode::unavailable);
}

TEST(McpStdio, OptionsThatCannotBeUsedAreRefused) {
  std::vector<ServerOptions> wrong(6, scripted({"modern"}));
  wrong[0].name = "";
  wrong[1].name = "a name";
  wrong[2].url = "https://example.com/mcp";
  wrong[3].command = {};
  wrong[4].command = {""};
  wrong[5].environment = {{"A=B", "c"}};
  for (const ServerOptions& options : wrong) {
    auto server = open_server(options);
    ASSERT_FALSE(server.ok());
    EXPECT_EQ(server.error().code, ErrorCode::invalid);
  }
}

TEST(McpStdio, AKnownToolIsCalledOnlyUnchanged) {
  auto server = server_with({"modern"});
  Instant now = *instant_from("2026-01-01T09:00:00Z");
  ToolInfo echo = wait_for(server->list())->tools[0];
  auto same = wait_for(server->call_as_known(echo, text_argument("a"), now));
  EXPECT_EQ(same.value().text, "a");
  EXPECT_EQ(call(server, "change")->text, "changed");
  auto changed = wait_for(server->call_as_known(echo, text_argument("a"), now));
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().code, ErrorCode::forbidden);
}

}  // namespace
}  // namespace belay::mcp
