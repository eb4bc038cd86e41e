// Processes that end at any point of a run. The receivers count the calls, the server rejects
// invalid conversations, and each request must begin with the bytes of the previous one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iostream>

#include "tests/agents/agent_world.h"

namespace belay::agents {
namespace {

using providers::Provider;
using providers::SpokenCall;
using providers::Told;
using ::testing::IsEmpty;

constexpr std::array kProviders = {Provider::ollama, Provider::openai, Provider::anthropic};

struct AgentDeaths : ::testing::TestWithParam<Provider> {};
INSTANTIATE_TEST_SUITE_P(All, AgentDeaths, ::testing::ValuesIn(kProviders), [](const auto& one) {
  return std::string(providers::name_of(one.param));
});

SpokenCall call_to(const std::string& tool, const std::string& to) {
  return {to, tool, R"({"to":")" + to + R"("})"};
}

// The tools of all classes; calls of "ask_send" wait for an approval.
std::vector<Tool> tools_of(AgentWorld& world) {
  return {world.counted_tool({.name = "look", .effect = ToolEffect::reads}),
          world.counted_tool({.name = "keep", .effect = ToolEffect::keyed}),
          world.counted_tool({.name = "send", .effect = ToolEffect::unkeyed}),
          world.counted_tool({.name = "ask_send", .approval = ToolApproval::always})};
}

// The calls of a tool have distinct keys; none of an unkeyed tool happened twice.
void expect_once_each(const AgentWorld& world, const std::string& tool, std::size_t calls) {
  auto found = world.received.find(tool);
  std::size_t keys = found == world.received.end() ? 0 : found->second.size();
  EXPECT_EQ(keys, calls) << tool;
  if (keys == 0 || tool == "look" || tool == "keep") return;
  for (const auto& [key, times] : found->second) EXPECT_EQ(times, 1) << tool << " " << key;
}

void expect_valid(const AgentWorld& world, const RunView& run) {
  EXPECT_EQ(run.row.status, RunStatus::completed) << run.row.error;
  EXPECT_THAT(world.rejections(), IsEmpty());
  EXPECT_EQ(world.prefix_fault(), "");
}

// Two replies with calls of every class in parallel, then the answer.
Told two_rounds(const Heard& heard) {
  auto round = [&](const std::string& number) {
    return heard.reply(
        {.words = {"Round ", number},
         .calls = {call_to("look", "a" + number), call_to("keep", "b" + number),
                   call_to("send", "c" + number), call_to("ask_send", "d" + number)}});
  };
  if (heard.results.empty()) return round("1");
  if (heard.results.size() == 4) return round("2");
  return heard.reply({.words = {"done"}});
}

RunView play_two_rounds(AgentWorld& world) {
  world.ask("Go?");
  world.decide("d1", Verdict::approve);
  return world.decide("d2", Verdict::approve);
}

TEST_P(AgentDeaths, AtAnyCommitRequestOrCallRepeatNothingThatIsCommitted) {
  // In CI every third point for each protocol, other ones for each; in a soak all.
  const int stride = cases_of(3, 1);
  const int first = 1 + (stride > 1 ? static_cast<int>(GetParam()) : 0);
  int deaths = 0;
  for (Death kind : {Death::before_commit, Death::after_commit, Death::request, Death::call}) {
    for (int number = first;; number += stride) {
      AgentWorld world(GetParam(), two_rounds);
      world.use(tools_of(world));
      world.die_at({kind, number});
      RunView run = play_two_rounds(world);
      SCOPED_TRACE(std::to_string(static_cast<int>(kind)) + " " + std::to_string(number));
      expect_valid(world, run);
      for (const char* tool : {"look", "keep", "send", "ask_send"}) {
        expect_once_each(world, tool,
                         tool == std::string("look") ? world.received["look"].size() : 2);
      }
      EXPECT_EQ(world.sent["look"].size(), 2u);
      EXPECT_LE(world.bodies().size(), 3u + static_cast<std::size_t>(world.deaths));
      if (HasFailure() || world.deaths == 0) break;
      ++deaths;
    }
  }
  EXPECT_GT(deaths, 40 / stride);
}

// Each of these steps is a reply with one call; a process ends in each of them, at another point of
// the step each time.
TEST_P(AgentDeaths, InEveryStepOfALongRunKeepThePrefixOfItsRequests) {
  const int steps = cases_of(25, 100);
  AgentOptions options;
  options.steps_max = steps + 2;
  constexpr std::array kinds = {Death::request, Death::before_commit, Death::call,
                                Death::after_commit};
  AgentWorld* process = nullptr;
  std::atomic<int> next = 0;  // the step that no process has reached
  AgentWorld world(
      GetParam(),
      [&](const Heard& heard) {
        auto step = static_cast<int>(heard.results.size());
        if (step == steps) return heard.reply({.words = {"done"}});
        if (step == next) {
          ++next;
          process->die_at({kinds[static_cast<std::size_t>(step) % kinds.size()], 1});
        }
        std::string to = std::to_string(step);
        return heard.reply(
            {.words = {"Step " + to}, .calls = {call_to(step % 2 == 0 ? "keep" : "send", to)}});
      },
      options);
  process = &world;
  world.use(tools_of(world));
  RunView run = world.ask("Take all steps.");
  expect_valid(world, run);
  EXPECT_GE(world.deaths, steps - 1);
  expect_once_each(world, "keep", static_cast<std::size_t>(steps + 1) / 2);
  expect_once_each(world, "send", static_cast<std::size_t>(steps) / 2);
}

// For each step, a run in which one process ends at the reply of that step.
TEST_P(AgentDeaths, AtOneStepOfALongRunKeepThePrefixOfItsRequests) {
  const int steps = cases_of(10, 100);
  std::string undisturbed;
  for (int death = 0; death <= steps; ++death) {
    AgentOptions options;
    options.steps_max = steps + 2;
    AgentWorld world(
        GetParam(),
        [&](const Heard& heard) {
          std::string to = std::to_string(heard.results.size());
          if (heard.results.size() == static_cast<std::size_t>(steps)) {
            return heard.reply({.words = {"done"}});
          }
          return heard.reply({.calls = {call_to("keep", to)}});
        },
        options);
    world.use(tools_of(world));
    // A start, then for each step the commits of a reply and of a result.
    if (death > 0) world.die_at({Death::before_commit, 2 * death});
    RunView run = world.ask("Take all steps.");
    expect_valid(world, run);
    EXPECT_EQ(world.deaths, death > 0 ? 1 : 0);
    expect_once_each(world, "keep", static_cast<std::size_t>(steps));
    std::string last = world.bodies().back();
    if (death == 0) undisturbed = last;
    EXPECT_EQ(last, undisturbed) << "the whole conversation, byte for byte";
    if (HasFailure()) break;
  }
}

constexpr int kVerdicts = 4;
constexpr int kMixes = kVerdicts * kVerdicts * kVerdicts * kVerdicts;
constexpr int kOrders = 24;

Told four_calls(const Heard& heard) {
  if (!heard.results.empty()) {
    providers::Speech speech;
    for (const std::string& result : heard.results) speech.words.push_back(result + "|");
    return heard.reply(speech);
  }
  return heard.reply({.calls = {call_to("ask_send", "a"), call_to("ask_send", "b"),
                                call_to("ask_send", "c"), call_to("ask_send", "d")}});
}

std::string result_for(Verdict verdict, const std::string& call) {
  switch (verdict) {
    case Verdict::approve:
      return "ask_send to " + call;
    case Verdict::reject:
      return "Error: a person rejected this call. It was not made.";
    case Verdict::edit:
      return "[A person changed the arguments to {\"to\":\"edited-" + call +
             "\"}.]\nask_send to edited-" + call;
    case Verdict::expire:
      break;
  }
  return "Error: this call was not approved in time. It was not made.";
}

// The result of a call whose outcome a person confirmed after the end of a process.
std::string confirmed_for(Verdict verdict, const std::string& call) {
  std::string confirmed = "The call happened, as a person confirmed. Its result is not known.";
  if (verdict != Verdict::edit) return confirmed;
  return "[A person changed the arguments to {\"to\":\"edited-" + call + "\"}.]\n" + confirmed;
}

// Four calls that wait at the same time, decided in one of all orders with one of all combinations
// of verdicts, and a process that ends at a commit.
struct FourCalls {
  Provider provider;
  int order = 0;
  int mix = 0;
  DeathPoint death;

  // Returns whether a process ended.
  bool play() const {
    AgentWorld world(provider, four_calls);
    world.use(tools_of(world));
    world.die_at(death);
    world.ask("Send four.");
    std::vector<std::string> calls = {"a", "b", "c", "d"};
    std::map<std::string, Verdict> verdicts;
    int rest = mix;
    for (const std::string& call : calls) {
      verdicts[call] = static_cast<Verdict>(rest % kVerdicts);
      rest /= kVerdicts;
    }
    for (int i = 0; i < order; ++i) std::next_permutation(calls.begin(), calls.end());
    for (const std::string& call : calls) world.decide(call, verdicts[call]);
    RunView run = world.wait_a_day();
    expect_valid(world, run);
    expect(world, run, verdicts);
    return world.deaths > 0;
  }

  void expect(AgentWorld& world, const RunView& run,
              const std::map<std::string, Verdict>& verdicts) const {
    std::map<std::string, int> sent;
    std::string rest = *run.state["answer"].as_string();
    for (const auto& [call, verdict] : verdicts) {
      if (verdict == Verdict::approve) sent[call] = 1;
      if (verdict == Verdict::edit) sent["edited-" + call] = 1;
      bool is_sent = verdict == Verdict::approve || verdict == Verdict::edit;
      std::string result = result_for(verdict, call) + "|";
      std::string confirmed = confirmed_for(verdict, call) + "|";
      bool is_confirmed = is_sent && world.deaths > 0 && rest.starts_with(confirmed);
      EXPECT_TRUE(is_confirmed || rest.starts_with(result)) << call << ": " << rest;
      rest.erase(0, std::min(rest.size(), (is_confirmed ? confirmed : result).size()));
    }
    EXPECT_EQ(rest, "");
    EXPECT_EQ(world.sent["ask_send"], sent);
    EXPECT_LE(world.bodies().size(), 2u + static_cast<std::size_t>(world.deaths));
  }
};

// In CI every 2003rd scenario, in a soak every 23rd: both are primes, so that all orders, verdicts
// and protocols occur.
TEST(AgentFourApprovals, HoldInAnyOrderWithAnyVerdictsWhereverAProcessEnds) {
  constexpr int commits_max = 40;
  const int stride = cases_of(2'003, 23);
  int scenarios = 0;
  int deaths = 0;
  for (int i = 0; i < kOrders * kMixes * commits_max; i += stride) {
    FourCalls four{kProviders[static_cast<std::size_t>(scenarios) % kProviders.size()],
                   i % kOrders,
                   i / kOrders % kMixes,
                   {}};
    int commit = i / (kOrders * kMixes) + 1;
    four.death = {commit % 2 == 0 ? Death::before_commit : Death::after_commit, (commit + 1) / 2};
    SCOPED_TRACE("order " + std::to_string(four.order) + ", verdicts " + std::to_string(four.mix) +
                 ", commit " + std::to_string(commit));
    ++scenarios;
    deaths += four.play();
    if (::testing::Test::HasFailure()) break;
  }
  std::cout << "evidence: four approvals over HTTP: " << scenarios << " scenarios, " << deaths
            << " with a process that ended at a commit" << std::endl;
  EXPECT_GT(deaths, scenarios / 2);
}

}  // namespace
}  // namespace belay::agents
