#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "belay/graph.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct Mail {
  std::string topic{};
  std::string draft{};
};

Update<Mail> pass(const Mail&, Context&) { return unchanged<Mail>(); }

Graph<Mail> mail() {
  GraphBuilder<Mail> graph{"mail"};
  graph.node("write", pass).retry({.attempts = 3, .base = 500ms}).timeout(90s);
  graph.approval("review", &Mail::draft, {.question = "Send?", .expires = 24h})
      .approved("send")
      .rejected("write");
  graph.node("send", pass);
  graph.edge(start, "write").edge("send", end);
  graph.branch("write", [](const Mail& mail) { return !mail.draft.empty(); }, {end, "review"});
  return std::move(graph).build().value();
}

// A graph whose names contain special characters of each syntax.
Graph<Mail> awkward() {
  GraphBuilder<Mail> graph{"a \"graph\" \\ of # <b>"};
  graph.node("end\"];x[\"", pass);
  graph.node("back\\slash", pass);
  graph.node("`tick` & <br/> #35;", pass);
  graph.node("größer → 100 %", pass);
  graph.edge(start, "end\"];x[\"").edge("end\"];x[\"", "back\\slash");
  graph.edge("back\\slash", "`tick` & <br/> #35;");
  graph.edge("`tick` & <br/> #35;", "größer → 100 %").edge("größer → 100 %", end);
  return std::move(graph).build().value();
}

// Returns the SVG that Graphviz creates from the text; empty if it reports an error.
std::string drawn(const std::string& dot) {
  std::string stem = testing::TempDir() + "belay_diagram_" +
                     testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ofstream(stem + ".dot") << dot;
  std::string line = "dot -Tsvg -o '" + stem + ".svg' '" + stem + ".dot'";
  std::string svg;
  if (std::system(line.c_str()) == 0) {
    std::ifstream made(stem + ".svg");
    svg.assign(std::istreambuf_iterator<char>(made), {});
  }
  std::remove((stem + ".dot").c_str());
  std::remove((stem + ".svg").c_str());
  return svg;
}

bool has_graphviz() { return std::system("dot -V >/dev/null 2>&1") == 0; }

TEST(Diagram, MermaidShowsEveryNodeWayAndPolicy) {
  EXPECT_EQ(to_mermaid(*mail().definition()),
            R"(flowchart TD
  begin(["start"])
  n0["write<br/>3 attempts, waits 500 ms to 10 s<br/>at most 90 s"]
  n1{{"review<br/>asks about draft<br/>expires after 24 h"}}
  n2["send"]
  finish(["end"])
  begin --> n0
  n0 -.-> finish
  n0 -.-> n1
  n1 -->|"approved"| n2
  n1 -->|"rejected or expired"| n0
  n2 --> finish
)");
}

TEST(Diagram, DotShowsTheSame) {
  EXPECT_EQ(to_dot(*mail().definition()),
            R"(digraph "mail" {
  begin [label="start", shape=oval];
  n0 [label="write\n3 attempts, waits 500 ms to 10 s\nat most 90 s", shape=box];
  n1 [label="review\nasks about draft\nexpires after 24 h", shape=hexagon];
  n2 [label="send", shape=box];
  finish [label="end", shape=oval];
  begin -> n0;
  n0 -> finish [style=dashed];
  n0 -> n1 [style=dashed];
  n1 -> n2 [label="approved"];
  n1 -> n0 [label="rejected or expired"];
  n2 -> finish;
}
)");
}

TEST(Diagram, OutlineShowsTheSame) {
  EXPECT_EQ(to_outline(*mail().definition()),
            R"(start
  -> write
write (3 attempts, waits 500 ms to 10 s; at most 90 s)
  -> end  if chosen
  -> review  if chosen
review (asks about draft; expires after 24 h)
  -> send  when approved
  -> write  when rejected or expired
send
  -> end
)");
}

TEST(Diagram, AnApprovalThatMayBeSkippedSaysSo) {
  GraphBuilder<Mail> graph{"mail"};
  graph.approval("review", &Mail::draft, {.question = "Send?"})
      .when([](const Mail& mail) { return mail.draft.size() > 5; })
      .approved(end)
      .rejected(end);
  graph.edge(start, "review");
  std::string text = to_mermaid(*std::move(graph).build()->definition());
  EXPECT_THAT(text, HasSubstr("may ask about draft"));
  EXPECT_THAT(text, HasSubstr("approved, or not asked"));
}

TEST(Diagram, NamesCannotBreakOutOfAMermaidLabel) {
  std::string text = to_mermaid(*awkward().definition());
  EXPECT_THAT(text, HasSubstr(R"(n0["end#quot;];x[#quot;"])"));
  EXPECT_THAT(text, HasSubstr(R"(n2["#96;tick#96; #amp; #lt;br/#gt; #35;35;"])"));
}

TEST(Diagram, GraphvizDrawsWhatDotSays) {
  if (!has_graphviz()) GTEST_SKIP() << "Graphviz (dot) is not installed.";
  std::string svg = drawn(to_dot(*mail().definition()));
  for (std::string_view text : {">write<", ">review<", ">send<", ">approved<", ">start<", ">end<",
                                ">3 attempts, waits 500 ms to 10 s<"}) {
    EXPECT_THAT(svg, HasSubstr(std::string(text)));
  }
}

TEST(Diagram, GraphvizDrawsAwkwardNamesAsTheyAre) {
  if (!has_graphviz()) GTEST_SKIP() << "Graphviz (dot) is not installed.";
  std::string svg = drawn(to_dot(*awkward().definition()));
  for (std::string_view text : {"end&quot;];x[&quot;", "back\\slash", "größer → 100 %"}) {
    EXPECT_THAT(svg, HasSubstr(std::string(text)));
  }
}

}  // namespace
}  // namespace belay
