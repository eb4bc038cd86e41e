#include "graph/bill_of_materials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Billed {
  std::string text{};
};

struct BilledParts {
  std::string prompt = "Be brief.", tool = "weather: a city", model = "openai:small";
  int attempts = 1;
  std::string node = "ask";
  std::vector<std::string_view> refused = {};
};

std::shared_ptr<const GraphDefinition> billed(const BilledParts& parts = {}) {
  GraphBuilder<Billed> graph{"billed"};
  graph.node(parts.node, [](const Billed&, Context&) { return unchanged<Billed>(); })
      .retry({.attempts = parts.attempts});
  graph.edge(start, parts.node).edge(parts.node, end);
  graph.material("prompt", parts.prompt).material("tool weather", parts.tool);
  graph.material("model", parts.model);
  graph.on_changed_materials(MaterialChange::refuse, parts.refused);
  return std::move(graph).build().value().definition();
}

std::vector<std::string> changes(const BilledParts& parts) {
  return changed_groups(bill_of(*billed()), bill_of(*billed(parts)));
}

TEST(BillsOfMaterials, NameEachGroupThatChanged) {
  EXPECT_THAT(changes({}), IsEmpty());
  EXPECT_THAT(changes({.prompt = "Be kind."}), ElementsAre("prompts"));
  EXPECT_THAT(changes({.tool = "weather: a place"}), ElementsAre("tools"));
  EXPECT_THAT(changes({.model = "openai:large"}), ElementsAre("model"));
  EXPECT_THAT(changes({.attempts = 3}), ElementsAre("policy"));
  EXPECT_THAT(changes({.node = "answer"}), ElementsAre("agent", "policy"));
}

TEST(BillsOfMaterials, ContainTheModelAndNoPrompt) {
  BillOfMaterials bill = bill_of(*billed({.prompt = "secret"}));
  EXPECT_EQ(bill["model"], "openai:small");
  for (const auto& [group, text] : bill) EXPECT_EQ(text.find("secret"), text.npos) << group;
  EXPECT_EQ(bill_from(value_of(bill)), bill);
}

TEST(BillsOfMaterials, AreEmptyForAGraphThatDeclaresNothing) {
  GraphBuilder<Billed> graph{"plain"};
  graph.node("ask", [](const Billed&, Context&) { return unchanged<Billed>(); });
  graph.edge(start, "ask").edge("ask", end);
  auto plain = std::move(graph).build().value().definition();
  EXPECT_THAT(bill_of(*plain), IsEmpty());
  EXPECT_THAT(changed_groups({}, bill_of(*billed())), IsEmpty()) << "of an older program";
}

TEST(BillsOfMaterials, AreRefusedOnlyByTheNamedGroups) {
  auto strict = billed({.prompt = "Be kind.", .model = "openai:large", .refused = {"model"}});
  auto why = refusal_of(*strict, bill_of(*billed()));
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, HasSubstr("model"));
  EXPECT_THAT(*why, ::testing::Not(HasSubstr("prompts")));
  auto lenient = billed({.prompt = "Be kind.", .refused = {"model"}});
  EXPECT_FALSE(refusal_of(*lenient, bill_of(*billed())));
  EXPECT_FALSE(refusal_of(*strict, {})) << "a commit of an older program has no bill";
}

TEST(BillsOfMaterials, ReportRulesThatCannotApply) {
  GraphBuilder<Billed> graph{"wrong"};
  graph.node("ask", [](const Billed&, Context&) { return unchanged<Billed>(); });
  graph.edge(start, "ask").edge("ask", end);
  graph.on_changed_materials(MaterialChange::refuse, {"colour"});
  graph.on_changed_materials(MaterialChange::migrate, {"tools"});
  auto built = std::move(graph).build();
  ASSERT_FALSE(built.ok());
  EXPECT_THAT(built.error().message, HasSubstr("\"colour\""));
  EXPECT_THAT(built.error().message, HasSubstr("migrate_materials()"));
}

}  // namespace
}  // namespace belay
