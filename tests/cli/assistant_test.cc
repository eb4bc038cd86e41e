// The assistant's reply is the result that the user wants: every view of its run shows it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/belay_process.h"
#include "tests/providers/scripted_provider.h"

namespace belay::cli::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CliAssistant : public ::testing::Test {
 protected:
  CliAssistant() { set_model("plain"); }
  void set_model(const std::string& name) {
    world.setting.environment["BELAY_MODEL"] = "openai:" + name;
    world.setting.environment["BELAY_MODEL_URL"] = provider.url("/v1");
  }
  Outcome ask(const std::string& thread) {
    return world.run({"run", "assistant", "--input", "question=Hello?", "--thread", thread});
  }
  static constexpr const char* kAnswer = "Hello, w\xC3\xB6rld!";

  providers::ScriptedProvider provider;
  World world;
};

TEST_F(CliAssistant, ItsAnswerIsTheResult) {
  Outcome piped = ask("t");
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_THAT(piped.out, HasSubstr(std::string("\n") + kAnswer + "\n"));
  EXPECT_THAT(piped.out, Not(HasSubstr("\"question\""))) << "an answer, not a state";
  EXPECT_THAT(world.run({"state", "t"}).out, HasSubstr(kAnswer));
  EXPECT_THAT(ask("t").out, HasSubstr(kAnswer)) << "the same thread again shows its result";
  world.setting.terminal = true;
  EXPECT_THAT(ask("in a terminal").out, HasSubstr(kAnswer));
}

TEST_F(CliAssistant, WithoutAnAnswerShowsNone) {
  world.setting.environment["BELAY_MODEL"] = "builtin";
  Outcome failed = ask("t");
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.out, Not(HasSubstr(kAnswer)));
}

}  // namespace
}  // namespace belay::cli::tests
