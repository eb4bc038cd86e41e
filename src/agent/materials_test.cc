#include "agent/materials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/bill_of_materials.h"

namespace belay::agents {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

AgentOptions plain_options() {
  AgentOptions options;
  options.model = "openai:small";
  options.prompt = "Be brief.";
  return options;
}

std::shared_ptr<const GraphDefinition> agent_of(AgentOptions options) {
  return agent_graph("helper", std::move(options)).value().definition();
}

std::vector<std::string> changed_by(AgentOptions options) {
  return changed_groups(bill_of(*agent_of(plain_options())),
                        bill_of(*agent_of(std::move(options))));
}

TEST(AgentMaterials, ChangeWithTheOptionsThatTheyAreAbout) {
  EXPECT_THAT(changed_by(plain_options()), IsEmpty());
  AgentOptions options = plain_options();
  options.prompt = "Be kind.";
  EXPECT_THAT(changed_by(options), ElementsAre("prompts"));
  options = plain_options();
  options.model = "openai:large";
  EXPECT_THAT(changed_by(options), ElementsAre("model"));
  options = plain_options();
  options.steps_max = 3;
  EXPECT_THAT(changed_by(options), ElementsAre("policy"));
  options = plain_options();
  options.retry.attempts = 7;
  EXPECT_THAT(changed_by(options), ElementsAre("policy"));
}

TEST(AgentMaterials, ContainThePromptsOfSubAgents) {
  AgentOptions inner = plain_options();
  AgentOptions one = plain_options(), other = plain_options();
  one.agents.push_back(sub_agent("search", "Searches.", inner));
  inner.prompt = "Be kind.";
  other.agents.push_back(sub_agent("search", "Searches.", inner));
  EXPECT_THAT(changed_groups(bill_of(*agent_of(one)), bill_of(*agent_of(other))),
              ElementsAre("prompts"));
  EXPECT_THAT(changed_by(one), Contains("tools"));
}

TEST(AgentMaterials, AreRefusedByTheNamedGroups) {
  AgentOptions strict = plain_options();
  strict.model = "openai:large";
  strict.refused_changes = {"model"};
  auto why = refusal_of(*agent_of(strict), bill_of(*agent_of(plain_options())));
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, HasSubstr("model"));
  strict.refused_changes = {"colour"};
  EXPECT_FALSE(agent_graph("helper", strict).ok());
}

}  // namespace
}  // namespace belay::agents
