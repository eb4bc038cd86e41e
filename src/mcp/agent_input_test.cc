// Forms of a server, for a tool of an agent: a person decides on them as on an approval.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/agent.h"
#include "belay/mcp.h"
#include "belay/runtime.h"
#include "belay/testing.h"

namespace belay::mcp {
namespace {

using ::testing::HasSubstr;

// An agent whose model calls one tool of a scripted server.
class FormAgent {
 public:
  explicit FormAgent(const std::string& tool) : model_(model_for(tool)) {
    ServerOptions options;
    options.name = "scripted";
    options.command = {SCRIPTED_MCP_SERVER, "modern", "--more"};
    server_ = open_server(std::move(options)).value();
    AgentOptions agent;
    agent.tools = block_on(*loop_, tools_of(server_, ToolSetOptions())).value().tools;
    graph_ = agent_graph("caller", std::move(agent)).value();
    restart();
  }

  // Ends the process and begins another one; the server remains.
  void restart() {
    runtime_.reset();
    RuntimeParts parts{*store_, *loop_, *clock_, *random_, model_};
    runtime_ = Runtime::open(std::move(parts)).value();
    runtime_->add(*graph_);
  }

  RunView start() {
    AgentState state;
    state.question = "Call it.";
    StartOptions options;
    options.thread = ThreadId("t");
    return block_on(*loop_, runtime_->start(*graph_, std::move(state), options)).value();
  }

  // Decides on the only approval, with the content of its form.
  RunView decide(bool approves, std::optional<Value> content) {
    RunView view = block_on(*loop_, runtime_->status(default_tenant(), ThreadId("t"))).value();
    EXPECT_EQ(view.approvals.size(), 1u);
    const ApprovalRow& approval = view.approvals.front();
    question_ = approval.question;
    payload_ = parse_json(*json_in_envelope(approval.payload)).value();
    Decision decision;
    decision.approved = approves;
    decision.decided_by = "ana";
    if (content) {
      Value edited = payload_;
      edited.as_object()->insert_or_assign("content", *content);
      decision.edited = std::move(edited);
    }
    auto decided = runtime_->decide(default_tenant(), approval.interrupt, decision);
    static_cast<void>(block_on(*loop_, std::move(decided)).value());
    auto resumed = runtime_->resume(default_tenant(), ThreadId("t"));
    static_cast<void>(block_on(*loop_, std::move(resumed)));
    return block_on(*loop_, runtime_->status(default_tenant(), ThreadId("t"))).value();
  }

  static ToolResult result_in(const RunView& view) {
    return decode_json<AgentState>(view.state).value().results["a"];
  }
  const std::string& question() const { return question_; }
  const Value& payload() const { return payload_; }

 private:
  static testing::ScriptedModel model_for(const std::string& tool) {
    return testing::calls({{"a", tool, Value(Value::Object())}}).replies("Done.");
  }

  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  std::unique_ptr<Clock> clock_ = system_clock();
  std::unique_ptr<Random> random_ = system_random();
  testing::ScriptedModel model_;
  std::unique_ptr<Store> store_ = open_store("memory:", *clock_, *random_).value();
  std::shared_ptr<Server> server_;
  std::optional<Graph<AgentState>> graph_;
  std::unique_ptr<Runtime> runtime_;
  std::string question_;
  Value payload_;
};

TEST(McpAgentInput, WaitsForAPersonAlsoAcrossProcesses) {
  for (const char* tool : {"scripted__form", "scripted__task_input"}) {
    FormAgent agent(tool);
    EXPECT_EQ(agent.start().row.status, RunStatus::paused) << tool;
    agent.restart();
    RunView ended = agent.decide(true, Value::object({{"color", "blue"}}));
    EXPECT_EQ(agent.question(), "The MCP server \"scripted\" asks, for its tool \"" +
                                    *agent.payload()["tool"].as_string() + "\": Which color?");
    EXPECT_EQ(agent.payload()["content"], Value::object({{"color", "red"}}));
    ASSERT_EQ(ended.row.status, RunStatus::completed) << tool;
    EXPECT_THAT(FormAgent::result_in(ended).text, HasSubstr(R"("color":"blue")"));
  }
}

TEST(McpAgentInput, ACallThatIsNotRepeatableWaitsToo) {
  FormAgent agent("scripted__unkeyed_form");
  EXPECT_EQ(agent.start().row.status, RunStatus::paused);
  RunView ended = agent.decide(true, std::nullopt);
  ASSERT_EQ(ended.row.status, RunStatus::completed);
  EXPECT_THAT(FormAgent::result_in(ended).text, HasSubstr(R"("color":"red")"));
}

TEST(McpAgentInput, ARejectionDeclinesTheForm) {
  FormAgent agent("scripted__form");
  EXPECT_EQ(agent.start().row.status, RunStatus::paused);
  RunView ended = agent.decide(false, std::nullopt);
  ASSERT_EQ(ended.row.status, RunStatus::completed);
  EXPECT_THAT(FormAgent::result_in(ended).text, HasSubstr(R"("action":"decline")"));
}

TEST(McpAgentInput, ContentThatDoesNotFitIsAnErrorForTheModel) {
  FormAgent agent("scripted__form");
  EXPECT_EQ(agent.start().row.status, RunStatus::paused);
  RunView ended = agent.decide(true, Value::object({{"color", "green"}}));
  ASSERT_EQ(ended.row.status, RunStatus::completed);
  EXPECT_TRUE(FormAgent::result_in(ended).is_error);
  EXPECT_THAT(FormAgent::result_in(ended).text, HasSubstr("does not fit its form"));
}

}  // namespace
}  // namespace belay::mcp
