// Counts the reads before the first commit, and the commits, of starts and decisions: docs/walks.md
// lists the hops.

#include "store/forwarding_store.h"
#include "tests/support/api_fixture.h"
#include "tests/support/principals.h"

namespace belay::server {
namespace {

// Lists the reads before the first commit.
class CallCountingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    ++commits;
    return inner().commit(std::move(commit));
  }
  Task<Result<Done>> read(Reader reader) override {
    if (commits == 0) ++reads_before_commit;
    return inner().read(std::move(reader));
  }
  int commits = 0;
  int reads_before_commit = 0;
};

struct StoreCalls : ApiFixture {
  CallCountingStore counting{*store};
  std::unique_ptr<Runtime> counted = counted_runtime();

  StoreCalls() {
    service = make_local_service(LocalServiceParts{
        counting, counting, *counted, loop, clock, random, {graph.definition()}, {}, {}});
    api = make_api();
  }
  ~StoreCalls() override {
    api.reset();
    service.reset();
  }

  std::unique_ptr<Runtime> counted_runtime() {
    auto made = Runtime::open(RuntimeParts{counting, loop, clock, random, model}).value();
    made->add(graph);
    return made;
  }
  void expect(int reads, int commits) {
    EXPECT_EQ(counting.reads_before_commit, reads);
    EXPECT_EQ(counting.commits, commits);
  }
  void restart_count() { counting.commits = counting.reads_before_commit = 0; }
  InterruptId approval() {
    Whose any;
    return block_on(loop, service->approval_of(local_program, ThreadId("t"), any))
        .value()
        .interrupt;
  }
};

TEST_F(StoreCalls, OfAStartWithoutANameAreItsCommits) {
  post("/api/agents/mail/runs", R"({"input":{"topic":"calm"}})");
  expect(0, 3);
}

TEST_F(StoreCalls, OfAStartWithAnIdempotencyKeyAreOneReadForTheSameStart) {
  for (int commits : {3, 0}) {
    restart_count();
    auto sent = request("POST", "/api/agents/mail/runs", R"({"input":{"topic":"calm"}})");
    sent.headers.push_back({"Idempotency-Key", "monday"});
    EXPECT_EQ(send(std::move(sent)).status, 200);
    expect(1, commits);
  }
}

// A caller that draws the same id twice: the store guards the thread, and the run is found then.
TEST_F(StoreCalls, OfAThreadThatIsNotNewFindItsRun) {
  StartRun start;
  start.agent = "mail";
  start.input = Value::object({{"topic", "calm"}});
  start.thread = ThreadId("t");
  start.thread_is_new = true;
  StartRun again = start;
  EXPECT_TRUE(block_on(loop, service->start(local_program, std::move(start))).ok());
  StartRun queued = again;
  queued.queued = true;
  StartRun other = again;
  other.input = Value::object({{"topic", "wild"}});
  EXPECT_TRUE(block_on(loop, service->start(local_program, std::move(again))).ok());
  EXPECT_TRUE(block_on(loop, service->start(local_program, std::move(queued))).ok());
  auto refused = block_on(loop, service->start(local_program, std::move(other)));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(StoreCalls, OfAStartWithANameAreOneReadForTheSameStart) {
  post("/api/agents/mail/runs", R"({"input":{"topic":"calm"},"threadId":"t"})");
  expect(1, 3);
  restart_count();
  post("/api/agents/mail/runs", R"({"input":{"topic":"calm"},"threadId":"t"})");
  expect(1, 0);
}

TEST_F(StoreCalls, OfADecisionInTheLibraryAreOneRead) {
  begin_urgent("t");
  InterruptId asked = approval();
  restart_count();
  block_on(loop, counted->decide(default_tenant(), asked, approve())).value();
  expect(1, 2);
}

TEST_F(StoreCalls, OfADecisionByItsUserAreOneRead) {
  begin_urgent("t");
  InterruptId asked = approval();
  Principal owner = holder_of_key("local", Permission::read);
  Principal stranger = holder_of_key("zoe", Permission::read);
  restart_count();
  auto refused = block_on(loop, service->decide(stranger, asked, approve()));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::not_found) << "as if it did not exist";
  expect(1, 0);
  restart_count();
  EXPECT_TRUE(block_on(loop, service->decide(owner, asked, approve())).ok());
  expect(1, 2);
}

// The route finds the approval by the start of its id, or by its thread.
TEST_F(StoreCalls, OfADecisionOverHttpAreTwoReads) {
  begin_urgent("t");
  restart_count();
  EXPECT_EQ(post("/api/approvals/t/decision", R"({"approved":true})").status, 200);
  expect(2, 2);
}

TEST_F(StoreCalls, OfADecisionThatIsRepeatedAreReadsAlone) {
  begin_urgent("t");
  InterruptId asked = approval();
  post("/api/approvals/t/decision", R"({"approved":true})");
  restart_count();
  EXPECT_EQ(post("/api/approvals/" + asked.text() + "/decision", R"({"approved":true})").status,
            200);
  expect(2, 0);
}

}  // namespace
}  // namespace belay::server
