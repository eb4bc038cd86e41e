// Decisions by choice over HTTP.

#include "belay/approval.h"
#include "store/forwarding_store.h"
#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

using namespace std::chrono_literals;

// The reply of each commit arrives late.
class LateStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    auto outcome = co_await inner().commit(std::move(commit));
    co_await sleep_for(5s);
    co_return std::move(outcome);
  }
};

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

// Another vote decides before the reply of this one arrives.
TEST_F(ApiChoices, AcceptAVoteWhoseReplyIsLate) {
  post("/api/agents/mail/runs", R"({"input":{"topic":"rain"},"threadId":"t"})");
  LateStore late(*store);
  auto slow_runtime = Runtime::open(RuntimeParts{late, loop, clock, random, model}).value();
  slow_runtime->add(graph);
  auto slow_service = make_local_service(LocalServiceParts{
      late, late, *slow_runtime, loop, clock, random, {graph.definition()}, {}, {}});
  Api slow(ApiParts{*slow_service, loop, clock, random}, options, nullptr);
  auto sent = request("POST", "/api/approvals/t/decision",
                      R"({"choice":"approve","decidedBy":"ana","comment":"Fine."})");
  sent.headers.push_back({"Prefer", "wait=2"});
  std::optional<http::Response> answered;
  Spawned voting =
      spawn<http::Response>(loop, slow.answer(std::move(sent)),
                            [&](http::Response response) { answered = std::move(response); });
  loop.run_until(clock.now() + 1s);
  EXPECT_EQ(decided(R"({"choice":"approve","decidedBy":"ben"})").status, 200);
  loop.run_until(clock.now() + 2s);
  ASSERT_TRUE(answered);
  Value body = parse_json(answered->body).value();
  EXPECT_EQ(text(body["result"]), "accepted") << answered->body;
  EXPECT_EQ(text(body["approval"]["decidedBy"]), "ben");
  loop.run_until(clock.now() + 10s);
}

}  // namespace
}  // namespace belay::server
