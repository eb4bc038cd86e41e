// A response describes exactly the run, thread or route that was requested.

#include "server/openapi.h"
#include "store/forwarding_store.h"
#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

struct ApiAnswers : ApiFixture {
  std::vector<ThreadRow> threads() {
    std::function<Result<std::vector<ThreadRow>>(Snapshot&)> reader = [](Snapshot& view) {
      ThreadFilter filter;
      filter.tenant = default_tenant();
      return view.threads(filter);
    };
    return block_on(loop, read<std::vector<ThreadRow>>(*store, std::move(reader))).value();
  }
  bool is_preserved(const std::string& thread) {
    for (const ThreadRow& row : threads()) {
      if (row.thread == ThreadId(thread)) return row.preserve;
    }
    ADD_FAILURE() << "there is no thread " << thread;
    return false;
  }
  // Adds a later run to a thread that has one: a copy of its first commit, under new ids.
  RunId begin_another_in(const std::string& thread) {
    RunRow row = all_runs().at(0);
    EXPECT_EQ(row.thread, ThreadId(thread));
    std::function<Result<std::vector<CheckpointRow>>(Snapshot&)> reader =
        [run = row.run](Snapshot& view) {
          CheckpointFilter filter;
          filter.tenant = default_tenant();
          filter.run = run;
          return view.checkpoints(filter);
        };
    auto checkpoints =
        block_on(loop, read<std::vector<CheckpointRow>>(*store, std::move(reader))).value();
    clock.move(std::chrono::seconds(1));
    Commit commit;
    commit.tenant = default_tenant();
    commit.run_guard.emplace();
    CheckpointRow first = checkpoints.back();
    EXPECT_EQ(first.seq, 1u);
    row.run = first.run = RunId(random_uuid(random));
    row.checkpoint = first.id = CheckpointId(random_uuid(random));
    row.status = first.status;
    row.seq = first.seq;
    row.epoch = first.epoch;
    row.reason.clear();
    row.created_at = row.updated_at = first.created_at = clock.now();
    commit.rows.run = row;
    commit.rows.checkpoint = first;
    EXPECT_EQ(block_on(loop, store->commit(std::move(commit))).value(), CommitOutcome::applied);
    return row.run;
  }
};

TEST_F(ApiAnswers, ARunIsFoundByItsIdAlsoWhereItsThreadHasALaterOne) {
  begin_urgent("first");
  std::string earlier = *get("/api/threads/first").body["runId"].as_string();
  auto alone = get("/api/runs/" + earlier);
  EXPECT_EQ(alone.body["runId"], Value(earlier));
  EXPECT_EQ(alone.body["state"]["draft"], Value("Dear urgent")) << "it is its thread's latest";
  std::string later = begin_another_in("first").text();

  auto old = get("/api/runs/" + earlier);
  EXPECT_EQ(old.status, 200);
  EXPECT_EQ(old.body["runId"], Value(earlier));
  EXPECT_EQ(old.body["status"], Value("paused"));
  EXPECT_EQ(old.body["state"]["draft"], Value("Dear urgent")) << to_json(old.body);
  auto latest = get("/api/runs/" + later);
  EXPECT_EQ(latest.status, 200);
  EXPECT_EQ(latest.body["runId"], Value(later));
  EXPECT_EQ(latest.body["status"], Value("running"));
  EXPECT_EQ(latest.body["state"]["draft"], Value(""));
}

TEST_F(ApiAnswers, AForkThatIsToBeQueuedWaitsInItsQueue) {
  begin_urgent("first");
  std::size_t asked = model.requests().size();
  auto forked = post("/api/threads/first/fork", R"({"threadId":"second","seq":1,"queued":true})");
  EXPECT_EQ(forked.status, 202) << to_json(forked.body);
  EXPECT_EQ(forked.body["status"], Value("queued"));
  loop.run_until(clock.now() + std::chrono::hours(1));
  EXPECT_EQ(get("/api/threads/second").body["status"], Value("queued"));
  EXPECT_EQ(model.requests().size(), asked) << "nobody works on the queue";
  auto begun = post("/api/threads/first/fork", R"({"threadId":"third","seq":1})");
  EXPECT_EQ(begun.body["status"], Value("paused")) << "one that is not to be queued has begun";
}

TEST_F(ApiAnswers, AThreadIsPreservedUntilItNoLongerIs) {
  begin_urgent("first");
  begin_urgent("second");
  EXPECT_FALSE(is_preserved("first"));
  EXPECT_EQ(send(request("PUT", "/api/threads/first/preserved")).status, 200);
  EXPECT_TRUE(is_preserved("first"));
  EXPECT_FALSE(is_preserved("second"));
  EXPECT_EQ(send(request("PUT", "/api/threads/first/preserved")).status, 200);
  EXPECT_TRUE(is_preserved("first"));
  EXPECT_EQ(send(request("DELETE", "/api/threads/first/preserved")).status, 200);
  EXPECT_FALSE(is_preserved("first"));
}

class RefusingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Task<Result<CommitOutcome>> commit(Commit) override {
    co_return error(ErrorCode::unavailable, "The disk is full.");
  }
};

TEST_F(ApiAnswers, AThreadWhoseStoreRefusesIsNotToldToBePreserved) {
  begin_urgent("first");
  RefusingStore refusing(*store);
  service = make_local_service(LocalServiceParts{
      refusing, refusing, *runtime, loop, clock, random, {graph.definition()}, {}, {}});
  api = make_api();
  auto answered = send(request("PUT", "/api/threads/first/preserved"));
  EXPECT_EQ(answered.status, 503) << to_json(answered.body);
  EXPECT_FALSE(is_preserved("first"));
}

TEST_F(ApiAnswers, TheDescriptionOffersTheProblemsOfEachRouteThatTakesAKey) {
  const Value& description = api->description();
  std::size_t guarded = 0;
  for (const Route& route : api->routes()) {
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
    const Value& responses = description["paths"][route.path][method]["responses"];
    bool is_open = route.permission == Permission::open;
    for (const char* status : {"401", "403", "409", "422", "429", "503"}) {
      const Value& problem = responses[status]["content"]["application/problem+json"];
      bool is_own = false;  // a response specific to the route, such as a health check's 503
      for (const ResponseSpec& answer : route.answers) {
        is_own = is_own || std::to_string(answer.status) == status;
      }
      if (is_own) continue;
      // An open route rejects a body that it does not accept, and unknown parameters.
      bool is_of_all = std::string_view(status) == "422";
      EXPECT_EQ(problem.is_null(), is_open && !is_of_all) << route.id << " " << status;
    }
    if (!is_open) ++guarded;
    for (const ResponseSpec& answer : route.answers) {
      EXPECT_NE(responses.find(std::to_string(answer.status)), nullptr) << route.id;
    }
  }
  EXPECT_GT(guarded, 20u);
}

}  // namespace
}  // namespace belay::server
