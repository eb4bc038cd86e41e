// Replies of a model server that an agent must survive, in each of the three protocols. The server
// rejects each conversation that the provider would reject: a run that completes proves that all of
// its requests were valid.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "agent/turn.h"
#include "tests/agents/agent_world.h"

namespace belay::agents {
namespace {

using namespace std::chrono_literals;
using providers::Provider;
using providers::SpokenCall;
using providers::Told;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SpokenCall call_of(std::string id, std::string name, const std::string& to) {
  return {std::move(id), std::move(name), R"({"to":")" + to + R"("})"};
}

struct AgentReplies : ::testing::TestWithParam<Provider> {
  AgentOptions options;
  ModelSettings settings;
  std::vector<Tool> tools;

  // Executes one run; the first requests get these responses, and the others the results so far.
  std::unique_ptr<AgentWorld> world(Script script) {
    auto made = std::make_unique<AgentWorld>(GetParam(), std::move(script), options, settings);
    std::vector<Tool> all = tools;
    all.push_back(made->counted_tool({.name = "look", .effect = ToolEffect::reads}));
    all.push_back(made->counted_tool({.name = "send"}));
    made->use(std::move(all));
    return made;
  }
  static void expect_answered(AgentWorld& world, const RunView& run) {
    EXPECT_EQ(run.row.status, RunStatus::completed) << run.row.error;
    EXPECT_THAT(world.rejections(), IsEmpty());
    EXPECT_EQ(world.prefix_fault(), "");
  }
};

INSTANTIATE_TEST_SUITE_P(All, AgentReplies,
                         ::testing::Values(Provider::ollama, Provider::openai, Provider::anthropic),
                         [](const auto& one) {
                           return std::string(providers::name_of(one.param));
                         });

Told answer(const Heard& heard, std::string text = "done") {
  return heard.reply({.words = {std::move(text)}});
}
Told answer_with_results(const Heard& heard) {
  providers::Speech speech;
  for (const std::string& result : heard.results) speech.words.push_back("[" + result + "]");
  return heard.reply(speech);
}
std::string answer_in(const RunView& run) { return *run.state["answer"].as_string(); }

TEST_P(AgentReplies, WithSeveralCallsAndATextHaveTheResultOfEach) {
  auto agent = world([](const Heard& heard) {
    if (!heard.results.empty()) return answer_with_results(heard);
    return heard.reply({.words = {"I ", "look."},
                        .calls = {call_of("a", "look", "A"), call_of("b", "send", "B"),
                                  call_of("c", "look", "C"), call_of("d", "send", "D")}});
  });
  RunView run = agent->ask("Go?");
  expect_answered(*agent, run);
  EXPECT_EQ(answer_in(run), "[look to A][send to B][look to C][send to D]");
}

// Every byte in its own chunk; the text is also streamed to readers.
TEST_P(AgentReplies, AreTheSameInSingleBytes) {
  auto agent = world([](const Heard& heard) {
    Told whole = heard.results.empty()
                     ? heard.reply({.words = {"H\xC3\xA9"}, .calls = {call_of("a", "look", "A")}})
                     : answer(heard, "w\xC3\xB6rld");
    std::vector<std::string> bytes;
    for (const std::string& piece : whole.pieces) {
      for (char c : piece) bytes.emplace_back(1, c);
    }
    whole.pieces = std::move(bytes);
    return whole;
  });
  RunView run = agent->ask("Go?");
  expect_answered(*agent, run);
  EXPECT_EQ(answer_in(run), "w\xC3\xB6rld");
  std::string streamed;
  for (const StreamEvent& event : agent->events()) {
    if (event.kind == EventKind::messages) streamed += to_json(event.body);
  }
  EXPECT_THAT(streamed, HasSubstr("H\xC3\xA9"));
  EXPECT_THAT(streamed, HasSubstr("w\xC3\xB6rld"));
}

TEST_P(AgentReplies, ThatEndInTheMiddleAreRequestedAgain) {
  for (providers::Then end : {providers::Then::cut, providers::Then::end}) {
    auto agent = world([end](const Heard& heard) {
      Told told = heard.results.empty()
                      ? heard.reply({.words = {"half"}, .calls = {call_of("a", "send", "A")}})
                      : answer(heard, "all of it");
      // Each of the first requests is cut one chunk later.
      auto kept = static_cast<std::size_t>(heard.number);
      if (kept + 1 < told.pieces.size() && heard.number < 5) {
        told.pieces.resize(kept);
        told.then = end;
      }
      return told;
    });
    RunView run = agent->ask("Go?");
    expect_answered(*agent, run);
    EXPECT_EQ(answer_in(run), "all of it");
    EXPECT_EQ(agent->sent["send"]["A"], 1);
    EXPECT_GT(agent->bodies().size(), 2u);
  }
}

TEST_P(AgentReplies, WithErrorsOfTheServerAreRequestedAgain) {
  auto agent = world([](const Heard& heard) {
    auto refused = [&](int status, const char* type) {
      Told told = providers::refusal(heard.provider, status, type, "Not now.");
      told.headers.emplace_back("retry-after-ms", "20");
      return told;
    };
    if (heard.number % 4 == 1) return refused(429, "rate_limit_error");
    if (heard.number % 4 == 2) return refused(500, "api_error");
    if (heard.number % 4 == 3) return refused(529, "overloaded_error");
    if (heard.results.size() < 2) {
      std::string name(1, static_cast<char>('A' + heard.results.size()));
      return heard.reply({.calls = {call_of(name, "send", name)}});
    }
    return answer_with_results(heard);
  });
  RunView run = agent->ask("Go?");
  expect_answered(*agent, run);
  EXPECT_EQ(answer_in(run), "[send to A][send to B]");
  EXPECT_EQ(agent->bodies().size(), 12u);
  EXPECT_EQ(agent->sent["send"], (std::map<std::string, int>{{"A", 1}, {"B", 1}}));
}

TEST_P(AgentReplies, ThatDoNotComeAreRequestedAgain) {
  settings.timeouts.first_byte = settings.timeouts.idle = 300ms;
  auto agent = world([](const Heard& heard) {
    Told told =
        heard.results.empty() ? heard.reply({.calls = {call_of("a", "send", "A")}}) : answer(heard);
    if (heard.number > 2) return told;
    told.pieces.resize(heard.number == 1 ? 0 : 1);
    told.then = providers::Then::hang;
    return told;
  });
  RunView run = agent->ask("Go?");
  expect_answered(*agent, run);
  EXPECT_EQ(agent->sent["send"]["A"], 1);
  EXPECT_GE(agent->bodies().size(), 4u);
}

TEST_P(AgentReplies, OfMoreThanTheTimeOfANodeAreRequestedAgain) {
  options.model_timeout = 500ms;
  auto agent = world([](const Heard& heard) {
    Told told =
        heard.results.empty() ? heard.reply({.calls = {call_of("a", "send", "A")}}) : answer(heard);
    if (heard.number > 1) return told;
    told.pieces.resize(1);
    told.then = providers::Then::hang;
    return told;
  });
  RunView run = agent->ask("Go?");
  expect_answered(*agent, run);
  EXPECT_EQ(agent->sent["send"]["A"], 1);
  EXPECT_GE(agent->bodies().size(), 3u);
}

TEST_P(AgentReplies, WithInvalidArgumentsGetTheFaultAsAResult) {
  for (std::string arguments :
       {"{\"to\":", "nonsense", "[]", "7", "null", "\"text\"", "{\"to\":1}", "{\"TO\":\"A\"}",
        "{\"to\":\"A\",\"more\":1}", "{}", "", "{\"to\":\"\\u0000\\ud800\"", "{{{{{{{{", " "}) {
    auto agent = world([&](const Heard& heard) {
      if (!heard.results.empty()) return answer_with_results(heard);
      return heard.reply({.calls = {{"a", "look", arguments}, call_of("b", "look", "B")}});
    });
    RunView run = agent->ask("Go?");
    expect_answered(*agent, run);
    EXPECT_THAT(answer_in(run), HasSubstr("Error: the arguments do not fit")) << arguments;
    EXPECT_THAT(answer_in(run), EndsWith("[look to B]")) << arguments;
    EXPECT_EQ(agent->sent["look"].size(), 1u);
  }
}

TEST_P(AgentReplies, WithUnknownToolsOrIdsThatOccurTwiceGetAResultForEach) {
  auto agent = world([](const Heard& heard) {
    // The same ids in both replies, twice in each, and some that no provider accepts.
    std::string place = "P" + std::to_string(heard.results.size());
    if (heard.results.size() > 8) return answer_with_results(heard);
    return heard.reply({.calls = {call_of("a", "look", place + "1"), call_of("a", "send", place),
                                  call_of("", "look", place + "2"), call_of("b c", "no tool!", "D"),
                                  call_of("call_1", "", "E"),
                                  call_of(std::string(500, 'i'), std::string(500, 'n'), "F")}});
  });
  RunView run = agent->ask("Go?");
  expect_answered(*agent, run);
  EXPECT_EQ(agent->sent["send"].size(), 2u);
  EXPECT_EQ(agent->sent["look"].size(), 4u);
  EXPECT_THAT(answer_in(run), HasSubstr("there is no tool \"no tool!\""));
}

TEST_P(AgentReplies, WithTheSameCallForEverEndAtTheLimitOfSteps) {
  options.steps_max = 6;
  auto agent = world([](const Heard& heard) {
    return heard.reply({.words = {"Again."}, .calls = {call_of("a", "look", "A")}});
  });
  RunView run = agent->ask("Go?");
  expect_answered(*agent, run);
  EXPECT_EQ(run.row.outcome, "steps_spent");
  EXPECT_EQ(agent->sent["look"]["A"], 2);
  EXPECT_EQ(agent->bodies().size(), 6u);
}

TEST_P(AgentReplies, WithAThousandCallsHaveResultsForAsManyAsAreKept) {
  auto agent = world([](const Heard& heard) {
    if (!heard.results.empty()) return answer(heard, std::to_string(heard.results.size()));
    providers::Speech speech;
    for (int i = 0; i < 1'000; ++i) {
      speech.calls.push_back(call_of("call-" + std::to_string(i), "look", std::to_string(i)));
    }
    return heard.reply(speech);
  });
  RunView run = agent->ask("Go?");
  expect_answered(*agent, run);
  EXPECT_EQ(answer_in(run), std::to_string(turn_calls_max));
  EXPECT_EQ(agent->sent["look"].size(), turn_calls_max);
}

// A text, a call's arguments, calls, and a line, each without an end: the client closes the
// connection when a limit is reached, and the next question is answered.
TEST_P(AgentReplies, WithoutAnEndAreNotReadBeyondTheirLimit) {
  settings.reply_bytes_max = 50'000;
  std::vector<providers::Speech> speeches = {
      {.words = {std::string(5'000, 'x')}},
      {.calls = {{"a", "look", R"({"to":")" + std::string(5'000, 'x') + R"("})"}}},
      {.calls = std::vector<SpokenCall>(500, call_of("", "look", "A"))},
      {}};
  for (std::size_t i = 0; i < speeches.size(); ++i) {
    auto agent = world([&](const Heard& heard) {
      if (heard.number > 1) return answer(heard);
      Told told = heard.reply(speeches[i]);
      // Ends with the long text, or in the middle of a call.
      auto is_text = [](const std::string& piece) { return piece.find("xxx") != piece.npos; };
      std::size_t middle = told.pieces.size() / 2;
      if (i == 0) {
        auto found = std::find_if(told.pieces.begin(), told.pieces.end(), is_text);
        middle = static_cast<std::size_t>(found - told.pieces.begin()) + 1;
      }
      told.pieces.resize(middle);
      if (i + 1 == speeches.size()) told.pieces = {std::string(5'000, 'x')};
      told.then = providers::Then::repeat;
      return told;
    });
    RunView run = agent->ask("Go?");
    EXPECT_EQ(run.row.status, RunStatus::failed) << i;
    EXPECT_EQ(run.row.error_code, "exhausted") << i << ": " << run.row.error;
    expect_answered(*agent, agent->ask("And now?"));
    EXPECT_EQ(agent->closed_early(), 1) << i;
    EXPECT_THAT(agent->sent, IsEmpty());
  }
}

TEST_P(AgentReplies, ThatCallASlowToolGetItsTimeOutAsAResult) {
  auto slow = [](ToolEffect effect, std::string name) {
    return make_tool<CallArguments>(
        {.name = std::move(name), .effect = effect, .timeout = 100ms},
        [](const CallArguments&, ToolContext&) -> Task<Result<std::string>> {
          co_await sleep_for(1h);
          co_return std::string("late");
        });
  };
  tools = {slow(ToolEffect::reads, "slow_read"), slow(ToolEffect::keyed, "slow_write")};
  auto agent = world([](const Heard& heard) {
    if (!heard.results.empty()) return answer_with_results(heard);
    return heard.reply({.calls = {call_of("a", "slow_read", "A"), call_of("b", "slow_write", "B"),
                                  call_of("c", "look", "C")}});
  });
  RunView run = agent->ask("Go?");
  expect_answered(*agent, run);
  EXPECT_EQ(answer_in(run),
            "[Error: The tool \"slow_read\" did not end within 100 ms.]"
            "[Error: The tool \"slow_write\" did not end within 100 ms.][look to C]");
}

TEST_P(AgentReplies, CutAtTheirMaximumLengthExecuteNoCall) {
  auto agent = world([](const Heard& heard) {
    providers::Speech speech{.words = {"As far as"}, .calls = {call_of("a", "send", "A")}};
    speech.is_cut = true;
    return heard.reply(speech);
  });
  RunView run = agent->ask("Go?");
  expect_answered(*agent, run);
  EXPECT_EQ(answer_in(run), "As far as");
  EXPECT_THAT(agent->sent, IsEmpty());
  expect_answered(*agent, agent->ask("And then?"));
}

}  // namespace
}  // namespace belay::agents
