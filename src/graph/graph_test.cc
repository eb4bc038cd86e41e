#include "belay/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay {
namespace {

using testing::HasSubstr;

struct Mail {
  std::string topic{};
  std::string draft{};
  std::vector<std::string> log{};
  int visits = 0;
  bool awaiting = false;
};

Update<Mail> pass(const Mail&, Context&) { return unchanged<Mail>(); }
Task<Update<Mail>> pass_later(const Mail&, Context&) { co_return unchanged<Mail>(); }
Result<Update<Mail>> refuse(const Mail&, Context&) {
  return error(ErrorCode::invalid, "The node does not like its input.");
}

GraphBuilder<Mail> sound_mail() {
  GraphBuilder<Mail> graph{"mail"};
  graph.node("write", pass_later).retry({.attempts = 3});
  graph.approval("review", &Mail::draft, {.question = "Send this mail?"})
      .approved("send")
      .rejected("write");
  graph.node("send", pass);
  graph.edge(start, "write").edge("write", "review").edge("send", end);
  return graph;
}

std::string fault_of(GraphBuilder<Mail> graph) {
  auto built = std::move(graph).build();
  return built.ok() ? std::string() : built.error().message;
}

TEST(GraphBuilder, BuildsASoundGraph) {
  auto built = sound_mail().build();
  ASSERT_TRUE(built.ok()) << built.error().message;
  EXPECT_EQ(built->name(), "mail");
  EXPECT_EQ(built->definition()->entries.front(), "write");
  EXPECT_EQ(built->definition()->nodes.size(), 3u);
}

TEST(GraphBuilder, TakesPlainFunctionsTasksAndResultsAsNodes) {
  GraphBuilder<Mail> graph{"forms"};
  graph.node("a", pass);
  graph.node("b", pass_later);
  graph.node("c", refuse);
  graph.node("d", [](const Mail& mail, Context&) { return set(&Mail::draft, mail.topic); });
  graph.edge(start, "a").edge("a", "b").edge("b", "c").edge("c", "d").edge("d", end);
  auto built = std::move(graph).build();
  ASSERT_TRUE(built.ok()) << built.error().message;
  EXPECT_TRUE(built->definition()->find("a")->run_plain);
  EXPECT_TRUE(built->definition()->find("b")->run_task);
}

TEST(GraphBuilder, NamesAnEdgeToAMissingNode) {
  auto graph = sound_mail();
  graph.node("extra", pass);
  graph.edge("extra", "nowhere");
  EXPECT_THAT(fault_of(std::move(graph)), HasSubstr("\"extra\" leads to \"nowhere\""));
}

TEST(GraphBuilder, NamesAnEdgeFromAMissingNode) {
  auto graph = sound_mail();
  graph.edge("ghost", "send");
  EXPECT_THAT(fault_of(std::move(graph)), HasSubstr("starts at \"ghost\", which does not exist"));
}

TEST(GraphBuilder, NamesAnUnreachableNode) {
  auto graph = sound_mail();
  graph.node("island", pass);
  graph.edge("island", end);
  EXPECT_THAT(fault_of(std::move(graph)), HasSubstr("No edge leads to the node \"island\""));
}

TEST(GraphBuilder, NamesACycleWithoutAWayOut) {
  GraphBuilder<Mail> graph{"ring"};
  graph.node("a", pass);
  graph.node("b", pass);
  graph.node("c", pass);
  graph.edge(start, "a").edge("b", "c").edge("c", "b");
  graph.branch("a", [](const Mail& mail) { return mail.visits > 1; }, {end, "b"});
  std::string fault = fault_of(std::move(graph));
  EXPECT_THAT(fault, HasSubstr("From the node \"b\" no path leads to the end"));
  EXPECT_THAT(fault, HasSubstr("From the node \"c\" no path leads to the end"));
}

TEST(GraphBuilder, AcceptsACycleWithAWayOut) {
  GraphBuilder<Mail> graph{"loop"};
  graph.node("a", pass);
  graph.edge(start, "a");
  graph.branch("a", [](const Mail& mail) { return mail.visits > 3; }, {"a", end});
  EXPECT_EQ(fault_of(std::move(graph)), "");
}

TEST(GraphBuilder, ReportsAllFaultsAtOnce) {
  GraphBuilder<Mail> graph{"bad"};
  graph.node("a", pass).retry({.attempts = 0});
  graph.node("a", pass);
  graph.node("end", pass);
  graph.node("lonely", pass).timeout(std::chrono::milliseconds(0));
  graph.approval("ask", &Mail::draft, {.question = "?"});
  graph.edge("a", "b");
  std::string fault = fault_of(std::move(graph));
  EXPECT_THAT(fault, HasSubstr("(1) "));
  EXPECT_THAT(fault, HasSubstr("Two nodes are named \"a\""));
  EXPECT_THAT(fault, HasSubstr("A node is named \"end\""));
  EXPECT_THAT(fault, HasSubstr("\"a\" has 0 attempts"));
  EXPECT_THAT(fault, HasSubstr("\"lonely\" has a timeout that is not above zero"));
  EXPECT_THAT(fault, HasSubstr("No edge leaves the node \"lonely\""));
  EXPECT_THAT(fault, HasSubstr("Write .approved("));
  EXPECT_THAT(fault, HasSubstr("Write .rejected("));
  EXPECT_THAT(fault, HasSubstr("leads to \"b\", which does not exist"));
  EXPECT_THAT(fault, HasSubstr("It has no start"));
}

TEST(GraphBuilder, RefusesABranchBesideAnotherWay) {
  auto graph = sound_mail();
  graph.branch("send", [](const Mail&) { return 0; }, {"write", end});
  EXPECT_THAT(fault_of(std::move(graph)), HasSubstr("A branch and another edge start at \"send\""));
}

TEST(GraphBuilder, RefusesTheSameEdgeTwice) {
  auto graph = sound_mail();
  graph.edge("send", end);
  EXPECT_THAT(fault_of(std::move(graph)), HasSubstr("Two edges lead from \"send\" to \"end\""));
}

TEST(GraphBuilder, LetsSeveralEdgesLeadOnFromOneNode) {
  GraphBuilder<Mail> graph{"fan"};
  for (std::string_view name : {"a", "b", "c", "d"}) graph.node(name, pass);
  graph.edge(start, "a").edge(start, "b").edge("a", "c").edge("a", end);
  graph.join({"b", "c"}, "d").edge("d", end);
  auto built = std::move(graph).build();
  ASSERT_TRUE(built.ok()) << built.error().message;
  EXPECT_EQ(built->definition()->entries, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(built->definition()->find("a")->targets, (std::vector<std::string>{"c", "end"}));
}

TEST(GraphBuilder, RefusesAJoinOfOneNodeOrOfUnknownOnes) {
  GraphBuilder<Mail> graph{"join"};
  graph.node("a", pass);
  graph.edge(start, "a").edge("a", end).join({"a"}, end).join({"a", "b"}, "c");
  std::string fault = fault_of(std::move(graph));
  EXPECT_THAT(fault, HasSubstr("requires two or more different nodes"));
  EXPECT_THAT(fault, HasSubstr("waits for \"b\", which does not exist"));
  EXPECT_THAT(fault, HasSubstr("A join leads to \"c\", which does not exist"));
}

TEST(GraphBuilder, RefusesAnEdgeFromAnApproval) {
  auto graph = sound_mail();
  graph.edge("review", "send");
  EXPECT_THAT(fault_of(std::move(graph)), HasSubstr("starts at approval \"review\""));
}

TEST(GraphBuilder, RefusesABranchWithoutTargets) {
  GraphBuilder<Mail> graph{"none"};
  graph.node("a", pass);
  graph.edge(start, "a").branch("a", [](const Mail&) { return 0; }, {});
  EXPECT_THAT(fault_of(std::move(graph)), HasSubstr("The branch at \"a\" has no targets"));
}

TEST(GraphHash, IsTheSameForTheSameDeclaration) {
  EXPECT_EQ(sound_mail().build()->definition()->hash, sound_mail().build()->definition()->hash);
}

// The same graph as sound_mail() with other policies and texts, and one that rejects to another
// node.
GraphBuilder<Mail> other_mail(std::string_view rejected) {
  GraphBuilder<Mail> other{"mail"};
  other.node("write", pass_later).retry({.attempts = 4}).timeout(std::chrono::seconds(9));
  other.approval("review", &Mail::draft, {.question = "Really?", .expires = std::chrono::hours(3)})
      .approved("send")
      .rejected(rejected);
  other.node("send", pass).retry({.attempts = 9});
  other.describe("Sends mails.");
  other.edge(start, "write").edge("write", "review").edge("send", end);
  return other;
}

TEST(GraphHash, CoversTheStructureAndNoPolicyOrText) {
  Digest hash = sound_mail().build()->definition()->hash;
  EXPECT_EQ(other_mail("write").build()->definition()->hash, hash);
  EXPECT_NE(other_mail("send").build()->definition()->hash, hash);
}

TEST(GraphHash, OfFormerProgramsCoversPoliciesToo) {
  EXPECT_NE(other_mail("write").build()->definition()->former_hash,
            sound_mail().build()->definition()->former_hash);
}

struct MovedMail {
  std::string draft{};
  int n = 0;
};
struct MailMoved {
  int n = 0;
  std::string draft{};
};

template <typename State>
Digest hash_of_members() {
  GraphBuilder<State> graph{"moved"};
  graph.node("one", [](const State&, Context&) { return unchanged<State>(); });
  graph.edge(start, "one").edge("one", end);
  return std::move(graph).build()->definition()->hash;
}

TEST(GraphHash, StaysWhenMembersOfTheStateAreMoved) {
  EXPECT_EQ(hash_of_members<MovedMail>(), hash_of_members<MailMoved>());
}

}  // namespace
}  // namespace belay
