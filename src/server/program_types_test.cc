// The types of a program in the description, compared with real responses.

#include "server/program_types.h"

#include "belay/models.h"
#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

struct FindMail {
  std::string topic;
  std::int64_t most = 1;
};

Task<Result<std::string>> find_mail(const FindMail&, ToolContext&) { co_return std::string(); }

struct ProgramTypesOfTheApi : ApiFixture {
  ProgramTypesOfTheApi() {
    options.types.graphs = {graph.definition()};
    options.types.collections = {record_collection<SentMail>(), "unknown"};
    ToolOptions tool;
    tool.name = "find_mail";
    options.types.tools.push_back(make_tool<FindMail>(std::move(tool), find_mail));
    api = make_api();
  }
  const Value& schemas() { return api->description()["components"]["schemas"]; }

  // Returns why a value does not fit a component; empty if it does.
  std::string misfit(const Value& value, const std::string& component) {
    Value root = Value::object({{"$ref", "#/components/schemas/" + component},
                                {"components", api->description()["components"]}});
    return schema_violation(root, value).value_or("");
  }
};

TEST_F(ProgramTypesOfTheApi, DescribeEachRunWithItsStateAndItsApproval) {
  begin_urgent("first");
  Value run = get("/api/threads/first").body["runId"];
  Value paused = get("/api/runs/" + *run.as_string()).body;
  for (const char* component : {"Run", "AgentRun_mail", "AnyRun"}) {
    EXPECT_EQ(misfit(paused, component), "") << component;
  }
  EXPECT_NE(misfit(paused, "RunOfOtherAgent"), "");
  EXPECT_EQ(misfit(paused["state"], "AgentState_mail"), "");
  EXPECT_EQ(misfit(paused["approval"], "Approval_mail_review"), "");
  EXPECT_EQ(misfit(paused["approval"], "AnyApproval"), "");
  EXPECT_EQ(misfit(get("/api/approvals").body, "ApprovalList"), "");
  Value decided = post("/api/approvals/first/decision", R"({"approved":true})").body;
  EXPECT_EQ(misfit(decided, "Decision"), "");
}

TEST_F(ProgramTypesOfTheApi, DescribeAForkAsARunOrAPreview) {
  begin_urgent("first");
  Value content = api->description()["paths"]["/api/threads/{threadId}/fork"]["post"]["responses"]
                                    ["200"]["content"]["application/json"];
  Value root = content["schema"];
  root.as_object()->emplace("components", api->description()["components"]);
  Value preview = post("/api/threads/first/fork", R"({"preview":true})").body;
  EXPECT_EQ(schema_violation(root, preview).value_or(""), "") << to_json(preview);
  EXPECT_EQ(misfit(preview, "ForkPreview"), "");
  EXPECT_NE(misfit(preview, "AnyRun"), "");
  Value forked = post("/api/threads/first/fork", R"({"threadId":"second"})").body;
  EXPECT_EQ(schema_violation(root, forked).value_or(""), "") << to_json(forked);
  EXPECT_EQ(misfit(forked, "AnyRun"), "");
}

TEST_F(ProgramTypesOfTheApi, AcceptNoStateOfAnotherKind) {
  begin_urgent("first");
  Value run = get("/api/threads/first").body;
  Value state = run["state"];
  state.as_object()->insert_or_assign("rounds", "three");
  EXPECT_NE(misfit(state, "AgentState_mail"), "");
  state = run["state"];
  state.as_object()->erase("draft");
  EXPECT_NE(misfit(state, "AgentState_mail"), "");
  EXPECT_EQ(misfit(state, "AgentInput_mail"), "") << "an input can omit each member";
}

TEST_F(ProgramTypesOfTheApi, DescribeTheStartOfEachAgentAndTheRecordsOfEachCollection) {
  const Value& paths = api->description()["paths"];
  const Value& start = paths["/api/agents/mail/runs"]["post"];
  const Value& body = start["requestBody"]["content"]["application/json"]["schema"];
  EXPECT_EQ(body["properties"]["input"]["$ref"], Value("#/components/schemas/AgentInput_mail"));
  EXPECT_EQ(start["x-begins-run"], Value(true));
  EXPECT_TRUE(paths["/api/agents/{agent}/runs"].is_null());
  Value any = Value::object({{"operationId", "startRun"}, {"path", "/api/agents/{agent}/runs"}});
  EXPECT_EQ(start["x-other-paths"], Value(Value::Array{any}));
  EXPECT_FALSE(paths["/api/records/sent_mails"]["get"].is_null());
  EXPECT_TRUE(paths["/api/records/unknown"].is_null());

  EXPECT_EQ(post("/api/agents/mail/runs", R"({"input":{"topic":"calm"}})").status, 200);
  Value records = get("/api/records/sent_mails").body;
  EXPECT_EQ(misfit(records, "RecordList_sent_mails"), "");
  EXPECT_EQ(records["records"].as_array()->size(), 1u);
}

TEST_F(ProgramTypesOfTheApi, DescribeTheArgumentsOfTools) {
  EXPECT_EQ(misfit(Value::object({{"topic", "x"}, {"most", 2}}), "ToolArguments_find_mail"), "");
  EXPECT_NE(misfit(Value::object({{"topic", 7}, {"most", 2}}), "ToolArguments_find_mail"), "");
  EXPECT_EQ(schemas()["ToolCall_find_mail"]["properties"]["tool"]["const"], Value("find_mail"));
}

TEST_F(ProgramTypesOfTheApi, DescribeTheChoicesOfEachDecision) {
  EXPECT_EQ(
      misfit(Value::object({{"choice", "approve"}, {"edited", "text"}}), "Decision_mail_review"),
      "");
  EXPECT_NE(misfit(Value::object({{"choice", "burn"}}), "Decision_mail_review"), "");
  EXPECT_NE(misfit(Value::object({{"edited", 7}}), "Decision_mail_review"), "");
}

TEST_F(ProgramTypesOfTheApi, HaveDifferentNamesForSimilarAgents) {
  GraphBuilder<Mail> other{"ma il"}, another{"ma/il"};
  for (GraphBuilder<Mail>* each : {&other, &another}) {
    each->node("write", write_mail);
    each->edge(start, "write").edge("write", end);
  }
  options.types.graphs = {std::move(other).build().value().definition(),
                          std::move(another).build().value().definition(), graph.definition(),
                          graph.definition()};
  api = make_api();
  for (const char* name : {"AgentRun_ma_il", "AgentRun_ma_il_2", "AgentRun_mail"}) {
    EXPECT_NE(schemas().find(name), nullptr) << name;
  }
  EXPECT_EQ(schemas()["AnyRun"]["oneOf"].as_array()->size(), 4u);
  EXPECT_FALSE(api->description()["paths"]["/api/agents/ma%2Fil/runs"].is_null());
}

TEST_F(ProgramTypesOfTheApi, AreAbsentWithoutAProgram) {
  options.types = {};
  api = make_api();
  EXPECT_EQ(schemas().find("AnyRun"), nullptr);
  EXPECT_EQ(schemas().find("AnyApproval"), nullptr);
}

}  // namespace
}  // namespace belay::server
