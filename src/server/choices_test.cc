// Decisions by choice over HTTP.

#include "belay/approval.h"
#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

struct ApiChoices : ApiFixture {
  ApiChoices() {
    GraphBuilder<Mail> made{"mail"};
    made.node("write", write_mail);
    made.approval("review", &Mail::draft, {.question = "Send?", .expires = Expiry::never})
        .approved("send")
        .choice("drop", end, "Send nothing")
        .needs(2);
    made.node("send", send_mail);
    made.edge(start, "write").edge("write", "review").edge("send", end);
    graph = std::move(made).build().value();
    api.reset();
    service.reset();
    runtime = process();
    service = make_service();
    api = make_api();
  }
  Answered decided(std::string body) { return post("/api/approvals/t/decision", std::move(body)); }
};

TEST_F(ApiChoices, AreShownAndDecidedByTheirNames) {
  post("/api/agents/mail/runs", R"({"input":{"topic":"rain"},"threadId":"t"})");
  Value shown = get("/api/threads/t/approval").body;
  const Value& drop = shown["choices"].as_array()->at(1);
  EXPECT_EQ(text(drop["name"]), "drop");
  EXPECT_EQ(text(drop["label"]), "Send nothing");
  EXPECT_TRUE(shown["expiresAt"].is_null());
  EXPECT_EQ(shown["needs"], Value(2));

  EXPECT_EQ(decided(R"({"choice":"burn"})").status, 422);
  EXPECT_EQ(decided(R"({"approved":false})").status, 422);
  EXPECT_EQ(decided(R"({"choice":"drop","approved":true})").status, 422);
  EXPECT_EQ(decided("{}").status, 422);

  auto first = decided(R"({"choice":"drop","decidedBy":"ana"})");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(text(first.body["approval"]["status"]), "open");
  EXPECT_EQ(text(first.body["approval"]["votes"].as_array()->at(0)["decidedBy"]), "ana");
  EXPECT_EQ(decided(R"({"approved":true,"decidedBy":"ana"})").status, 409);
  auto last = decided(R"({"choice":"drop","decidedBy":"ben"})");
  EXPECT_EQ(last.status, 200);
  EXPECT_EQ(text(last.body["approval"]["choice"]), "drop");
  EXPECT_EQ(text(last.body["run"]["status"]), "completed");
}

}  // namespace
}  // namespace belay::server
