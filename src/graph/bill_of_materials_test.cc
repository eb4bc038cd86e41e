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

TEST(BillsOfMaterials, NameTheDefaultModelOfTheProgramWhereTheGraphNamesNone) {
  auto of = [](const std::string& model) {
    return bill_of(*with_default_model(billed({.model = "", .refused = {"model"}}), model));
  };
  EXPECT_EQ(of("builtin-rules/2")["model"], "builtin-rules/2");
  EXPECT_THAT(changed_groups(of("builtin-rules/2"), of("openai:small")), ElementsAre("model"));
  EXPECT_THAT(changed_groups(of("openai:small"), of("openai:small")), IsEmpty());
  // A process without a named model, and older programs, wrote no name.
  EXPECT_THAT(changed_groups(of(""), of("openai:small")), IsEmpty());
  EXPECT_THAT(changed_groups(of("openai:small"), of("")), IsEmpty());
  EXPECT_EQ(bill_of(*with_default_model(billed(), "openai:large"))["model"], "openai:small")
      << "the graph names it";
}

TEST(BillsOfMaterials, NameTheDefaultModelOfSubgraphs) {
  GraphBuilder<Billed> inner{"inner"};
  inner.node("ask", [](const Billed&, Context&) { return unchanged<Billed>(); });
  inner.edge(start, "ask").edge("ask", end).material("model", "");
  GraphBuilder<Billed> outer{"outer"};
  outer.subgraph(
      "inner", std::move(inner).build().value(), [](const Billed& state) { return state; },
      [](const Billed&) { return unchanged<Billed>(); });
  outer.edge(start, "inner").edge("inner", end);
  auto graph = with_default_model(std::move(outer).build().value().definition(), "openai:small");
  EXPECT_EQ(bill_of(*graph)["model"], "openai:small");
}

TEST(BillsOfMaterials, ReturnTheGroupsThatARuleRefuses) {
  auto strict = billed({.prompt = "Be kind.", .model = "openai:large", .refused = {"model"}});
  BillOfMaterials refused = refused_by(*strict, bill_of(*billed()));
  EXPECT_EQ(refused, (BillOfMaterials{{"model", "openai:large"}}));
  EXPECT_THAT(refused_by(*strict, bill_of(*strict)), IsEmpty());
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
