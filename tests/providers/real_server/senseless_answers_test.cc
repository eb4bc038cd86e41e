// Replies of a real model to an agent that requires JSON: they satisfy the schema if the server
// enforces it, and are senseless. Either there is a result that a person can judge, or the run
// fails with a reason.

#include <gmock/gmock.h>

#include <map>

#include "tests/providers/real_server/real_server_world.h"

namespace belay::providers {
namespace {

using cli::tests::note_line;
using cli::tests::Outcome;
using cli::tests::text;
using cli::tests::Words;
using ::testing::HasSubstr;

constexpr const char* date = "2026-01-01";
constexpr const char* thread = "a-thread";

// The exit code of the command for each status of the run.
const std::map<std::string, int> codes = {{"completed", 0}, {"paused", 3}, {"failed", 1}};
// The reason of the failure, by error code.
const std::map<std::string, std::string> reasons = {{"unavailable", "Invalid LLM response format"},
                                                    {"exhausted", "Schedule validation failed"}};

class SenselessAnswers : public RealServer {
 protected:
  // Runs an agent with a server that samples with this seed.
  Value run(const char* agent, int seed, Outcome& outcome) {
    start({"--seed", std::to_string(seed)});
    EXPECT_EQ(world.run({"notes", "import", "-"}, note_line(date, "I slept badly.")).code, 0);
    outcome = world.run({"run", agent, "--date", date, "--thread", thread, "--max-retries", "2",
                         "--max-tokens", "1000000", "--json"});
    return outcome.json();
  }

  // Expects a completed run, a run that waits for an approval, or one that failed with a reason;
  // and a complete count of tokens.
  void expect_clear(const Value& run, const Outcome& outcome) {
    std::string status = text(run["status"]);
    ASSERT_TRUE(codes.contains(status)) << outcome.code << outcome.out << outcome.err;
    EXPECT_EQ(outcome.code, codes.at(status)) << outcome.out << outcome.err;
    if (status == "failed") {
      std::string code = text(run["error"]["code"]);
      ASSERT_TRUE(reasons.contains(code)) << outcome.out;
      EXPECT_THAT(text(run["error"]["message"]), HasSubstr(reasons.at(code)));
    }
    std::int64_t tokens = 0;
    Value calls = calls_of(thread);
    for (const Value& call : *calls.as_array()) {
      for (const char* side : {"input_tokens", "output_tokens"}) {
        auto count = call["reply"]["usage"][side].as_int();
        ASSERT_TRUE(count) << to_json(call);
        tokens += *count;
      }
    }
    EXPECT_GT(tokens, 0);
    EXPECT_EQ(run["spending"]["tokens"], Value(tokens)) << to_json(run["spending"]);
    EXPECT_EQ(run["spending"]["reservedTokens"], Value(0));
  }

  // With OpenAI's protocol llama.cpp enforces the schema; with Anthropic's the schema is only part
  // of the prompt.
  void expect_members(const Words& names) {
    if (provider() != "openai") return;
    Value calls = calls_of(thread);
    for (const Value& call : *calls.as_array()) {
      auto answer = parse_json(text(call["reply"]["text"]));
      ASSERT_TRUE(answer.ok()) << to_json(call);
      for (const std::string& name : names) EXPECT_TRUE(answer->find(name)) << to_json(*answer);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Protocols, SenselessAnswers, ::testing::Values("openai", "anthropic"),
                         name_of_protocol);

TEST_P(SenselessAnswers, MakeAnAuditThatCanBeJudgedOrNone) {
  for (int seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    cli::tests::World fresh;
    world.setting.environment["BELAY_STORE"] = "sqlite:" + fresh.store_path();
    Outcome outcome;
    Value audit = run("daily-audit", seed, outcome);
    expect_clear(audit, outcome);
    expect_members({"summary", "riskLevel", "keyInsights"});
    if (text(audit["status"]) == "failed") continue;
    const Value& analysis = audit["state"]["analysis"];
    EXPECT_EQ(analysis["provider"], Value("openai")) << to_json(analysis);
    EXPECT_FALSE(text(analysis["summary"]).empty());
    auto risk = analysis["riskLevel"].as_int();
    EXPECT_TRUE(!risk || (*risk >= 1 && *risk <= 10)) << to_json(analysis);
    bool asks_somebody = !risk || *risk >= 7;
    EXPECT_EQ(text(audit["status"]), asks_somebody ? "paused" : "completed");
  }
}

TEST_P(SenselessAnswers, MakeARoutineThatIsOneOrNone) {
  for (int seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    cli::tests::World fresh;
    world.setting.environment["BELAY_STORE"] = "sqlite:" + fresh.store_path();
    Outcome outcome;
    Value routine = run("routine", seed, outcome);
    expect_clear(routine, outcome);
    expect_members({"activities"});
  }
}

}  // namespace
}  // namespace belay::providers
