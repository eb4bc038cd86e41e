// The sinks in a run: what arrives, where a process dies, and how failures are reported.

#include "agents/research/graph/graph_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "agents/research/graph/fake_neo4j.h"
#include "agents/research/graph/graph_fixture.h"
#include "belay/testing.h"

namespace belay::research {

struct SinkRun {
  GraphDelivery delivery{};
};

namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

GraphRows delivered_rows() { return graph_rows(sample_results(), sample_subject()); }

// One figure: few batches, because a process dies at each point of their delivery.
GraphRows few_rows() {
  Results results;
  results.figures = {sample_figures().front()};
  GraphSubject subject = sample_subject();
  subject.peers.clear();
  subject.text.reset();
  return graph_rows(results, subject);
}

// A run with one node, which delivers the rows to the sink.
Result<Graph<SinkRun>> sink_graph(std::shared_ptr<GraphSink> sink,
                                  const GraphRows& rows = delivered_rows()) {
  GraphBuilder<SinkRun> graph{"graph_delivery"};
  graph.node("deliver", [sink, rows](const SinkRun&, Context& context) -> Task<Update<SinkRun>> {
    GraphDelivery delivery = co_await sink->deliver(rows, context);
    co_return set(&SinkRun::delivery, std::move(delivery));
  });
  graph.edge(start, "deliver").edge("deliver", end);
  return std::move(graph).build();
}

Neo4jSinkOptions small_batches() {
  Neo4jSinkOptions options;
  options.server.url = "https://graph.example.com:7473";
  options.server.user = "neo4j";
  options.server.password = "very-secret";
  options.limits.rows_max = 6;
  return options;
}

testing::ScenarioResult<SinkRun> deliver_to(const std::shared_ptr<FakeNeo4j>& server,
                                            const Neo4jSinkOptions& options) {
  return testing::World{}
      .http(server)
      .run(sink_graph(neo4j_sink(options).value()), SinkRun{})
      .approve_all();
}

// Everything that a delivery without faults stores.
FakeNeo4j::Stored whole_graph() {
  auto server = std::make_shared<FakeNeo4j>();
  EXPECT_TRUE(deliver_to(server, small_batches()).ok());
  return server->stored();
}

std::size_t batches_of_sample(const Neo4jSinkOptions& options) {
  return cypher_batches(delivered_rows(), options.with_constraints, options.limits).size();
}

TEST(NoGraphSink, DeliversNothing) {
  auto server = std::make_shared<FakeNeo4j>();
  auto run =
      testing::World{}.http(server).run(sink_graph(no_graph_sink()), SinkRun{}).approve_all();
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.state().delivery.outcome, GraphOutcome::off);
  EXPECT_THAT(server->calls(), IsEmpty());
  EXPECT_THAT(run.messages(), IsEmpty());
}

TEST(Neo4jSink, StoresTheWholeGraph) {
  auto server = std::make_shared<FakeNeo4j>();
  auto run = deliver_to(server, small_batches());
  ASSERT_TRUE(run.ok());
  const GraphDelivery& delivery = run.state().delivery;
  EXPECT_EQ(delivery.outcome, GraphOutcome::delivered);
  EXPECT_EQ(delivery.sink, "neo4j");
  EXPECT_EQ(delivery.place, "https://graph.example.com:7473, neo4j");
  EXPECT_EQ(delivery.batches, static_cast<std::int64_t>(batches_of_sample(small_batches())));
  EXPECT_EQ(delivery.delivered, delivery.batches);
  EXPECT_EQ(delivery.code + delivery.message, "");
  EXPECT_EQ(server->constraints().size(), 7u);
  GraphRows rows = delivered_rows();
  for (const GraphTable& table : graph_tables()) {
    std::string name(table.name);
    ASSERT_TRUE(server->stored().contains(name)) << name;
    EXPECT_EQ(server->stored().at(name).size(), rows.of(name).size()) << name;
    for (const auto& [key, row] : server->stored().at(name)) EXPECT_FALSE(row.is_null()) << key;
  }
}

TEST(Neo4jSink, StoresTheSameGraphWhenTheAnalysisIsRepeated) {
  auto server = std::make_shared<FakeNeo4j>();
  ASSERT_TRUE(deliver_to(server, small_batches()).ok());
  ASSERT_TRUE(deliver_to(server, small_batches()).ok());
  EXPECT_EQ(server->stored(), whole_graph());
  for (const auto& [body, times] : server->executed()) EXPECT_EQ(times, 2) << body;
}

TEST(Neo4jSink, LeavesOutTheConstraintsIfTheyAreOff) {
  auto server = std::make_shared<FakeNeo4j>();
  Neo4jSinkOptions options = small_batches();
  options.with_constraints = false;
  ASSERT_TRUE(deliver_to(server, options).ok());
  EXPECT_THAT(server->constraints(), IsEmpty());
  EXPECT_EQ(server->stored(), whole_graph());
}

TEST(Neo4jSink, RepeatsABatchWhileTheServerIsUnavailable) {
  auto server = std::make_shared<FakeNeo4j>();
  server->executes();
  server->responds(503);
  server->responds(200,
                   R"({"errors":[{"code":"Neo.TransientError.Transaction.DeadlockDetected"}]})");
  server->fails(error(ErrorCode::unavailable, "No connection."));
  server->executes();
  server->responds(429);
  auto run = deliver_to(server, small_batches());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.state().delivery.outcome, GraphOutcome::delivered);
  EXPECT_EQ(server->stored(), whole_graph());
  EXPECT_EQ(server->calls().size(), batches_of_sample(small_batches()) + 4);
  for (const auto& [body, times] : server->executed()) EXPECT_EQ(times, 1) << body;
  EXPECT_EQ(run.attempts("deliver"), 1);
}

// The time of a run whose first call of each of these numbers failed.
std::chrono::microseconds time_with(const std::shared_ptr<FakeNeo4j>& server,
                                    const Neo4jSinkOptions& options) {
  auto run = deliver_to(server, options);
  EXPECT_EQ(run.state().delivery.outcome, GraphOutcome::delivered);
  return run.commits().back().created_at - run.commits().front().created_at;
}

TEST(Neo4jSink, WaitsLongerAfterEachFailure) {
  auto server = std::make_shared<FakeNeo4j>();
  for (int i = 0; i < 3; ++i) server->responds(503);
  auto time = time_with(server, small_batches());
  EXPECT_GE(time, 2800ms) << "500, 1000 and 2000 ms, less 20 %";
  EXPECT_LE(time, 4300ms);
}

TEST(Neo4jSink, WaitsAtLeastTheTimeOfRetryAfter) {
  auto server = std::make_shared<FakeNeo4j>();
  server->responds(429, "", {{"Retry-After", "17"}});
  auto time = time_with(server, small_batches());
  EXPECT_GE(time, 17s);
  EXPECT_LE(time, 18s);
}

TEST(Neo4jSink, DefersTheRestIfTheServerStaysUnavailable) {
  auto server = std::make_shared<FakeNeo4j>();
  for (int i = 0; i < 9; ++i) server->executes();
  server->always_responds(503);
  auto run = deliver_to(server, small_batches());
  ASSERT_TRUE(run.ok()) << "the run is not failed";
  const GraphDelivery& delivery = run.state().delivery;
  EXPECT_EQ(delivery.outcome, GraphOutcome::deferred);
  EXPECT_EQ(delivery.delivered, 9);
  EXPECT_EQ(delivery.code, "unavailable");
  EXPECT_THAT(delivery.message, HasSubstr("status 503"));
  EXPECT_EQ(server->calls().size(), 9u + 4u);
  EXPECT_EQ(run.messages().size(), batches_of_sample(small_batches()) - 9);
  for (const auto& message : run.messages()) EXPECT_EQ(message.topic, kGraphTopic);
}

TEST(Neo4jSink, DefersTheRestIfTheServerIsBusyForLong) {
  auto server = std::make_shared<FakeNeo4j>();
  server->responds(503, "", {{"Retry-After", "600"}});
  auto run = deliver_to(server, small_batches());
  EXPECT_EQ(run.state().delivery.outcome, GraphOutcome::deferred);
  EXPECT_EQ(server->calls().size(), 1u);
  EXPECT_EQ(run.messages().size(), batches_of_sample(small_batches()));
}

TEST(Neo4jSink, ReportsAServerThatStaysUnavailableIfItDoesNotDefer) {
  auto server = std::make_shared<FakeNeo4j>();
  server->always_responds(503);
  Neo4jSinkOptions options = small_batches();
  options.defers = false;
  auto run = deliver_to(server, options);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.state().delivery.outcome, GraphOutcome::failed);
  EXPECT_EQ(run.state().delivery.code, "unavailable");
  EXPECT_THAT(run.messages(), IsEmpty());
}

TEST(Neo4jSink, ReportsAPermanentErrorWithoutARepetition) {
  struct Case {
    int status;
    std::string body;
    std::string code;
  };
  for (const Case& each :
       {Case{401, R"({"errors":[{"code":"Neo.ClientError.Security.Unauthorized"}]})", "forbidden"},
        Case{400, R"({"errors":[{"code":"Neo.ClientError.Statement.SyntaxError"}]})", "invalid"},
        Case{404, "", "not_found"}, Case{200, "<html>", "invalid"}}) {
    auto server = std::make_shared<FakeNeo4j>();
    server->executes();
    server->responds(each.status, each.body);
    auto run = deliver_to(server, small_batches());
    ASSERT_TRUE(run.ok()) << "the run is not failed";
    const GraphDelivery& delivery = run.state().delivery;
    EXPECT_EQ(delivery.outcome, GraphOutcome::failed);
    EXPECT_EQ(delivery.code, each.code);
    EXPECT_EQ(delivery.delivered, 1);
    EXPECT_THAT(delivery.message, HasSubstr("status " + std::to_string(each.status)));
    EXPECT_EQ(server->calls().size(), 2u);
    EXPECT_THAT(run.messages(), IsEmpty());
  }
}

TEST(Neo4jSink, ReportsAnAddressThatThePolicyForbids) {
  auto server = std::make_shared<FakeNeo4j>();
  server->fails(error(ErrorCode::forbidden, "The policy does not permit the URL."));
  auto run = deliver_to(server, small_batches());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.state().delivery.outcome, GraphOutcome::failed);
  EXPECT_EQ(run.state().delivery.code, "forbidden");
  EXPECT_EQ(server->calls().size(), 1u);
}

TEST(Neo4jSink, StoresNoSecret) {
  auto server = std::make_shared<FakeNeo4j>();
  for (int i = 0; i < 3; ++i) server->executes();
  server->always_responds(503);
  auto run = deliver_to(server, small_batches());
  EXPECT_EQ(server->calls().front().headers.back().value, "Basic bmVvNGo6dmVyeS1zZWNyZXQ=");
  std::string stored = encode_json(run.state().delivery).value();
  for (const auto& message : run.messages()) stored += to_json(message.body);
  for (const EventRow& event : run.events()) stored += event.body;
  EXPECT_THAT(stored, AllOf(Not(HasSubstr("very-secret")), Not(HasSubstr("bmVvNGo6"))));
}

// Delivers few rows, and ends the process at this point, if there is one.
testing::ScenarioResult<SinkRun> deliver_few(const std::shared_ptr<FakeNeo4j>& server,
                                             const Neo4jSinkOptions& options,
                                             const std::optional<testing::CrashPoint>& crash = {}) {
  auto scenario = testing::World{}.http(server).run(
      sink_graph(neo4j_sink(options).value(), few_rows()), SinkRun{});
  if (crash) scenario.crash_at(*crash);
  return scenario.approve_all();
}

Neo4jSinkOptions few_batches() {
  Neo4jSinkOptions options = small_batches();
  options.with_constraints = false;
  return options;
}

TEST(Neo4jSink, DeliversEachBatchAtLeastOnceWhereverTheProcessDies) {
  std::size_t batches = cypher_batches(few_rows(), false, few_batches().limits).size();
  auto undisturbed = std::make_shared<FakeNeo4j>();
  auto baseline = deliver_few(undisturbed, few_batches());
  EXPECT_EQ(undisturbed->calls().size(), batches);
  ASSERT_GE(baseline.crash_points().size(), 3 * batches);
  std::size_t repeated = 0;
  for (const testing::CrashPoint& crash : baseline.crash_points()) {
    auto server = std::make_shared<FakeNeo4j>();
    auto run = deliver_few(server, few_batches(), crash);
    ASSERT_TRUE(run.ok()) << crash << ": " << run.error()->message;
    EXPECT_EQ(run.crashes(), 1) << crash;
    EXPECT_EQ(run.state(), baseline.state()) << crash;
    EXPECT_EQ(server->stored(), undisturbed->stored()) << crash;
    EXPECT_LE(server->calls().size(), batches + 1) << crash << ": only the batch in progress";
    repeated += server->calls().size() - batches;
  }
  EXPECT_GE(repeated, batches) << "a batch whose receipt was lost is sent again";
}

TEST(Neo4jSink, DeliversOrDefersEachBatchWhereverTheProcessDies) {
  Neo4jSinkOptions options = few_batches();
  options.attempts = 1;
  auto failing = [] {
    auto server = std::make_shared<FakeNeo4j>();
    for (int i = 0; i < 5; ++i) server->executes();
    server->always_responds(503);
    return server;
  };
  auto baseline = deliver_few(failing(), options);
  ASSERT_EQ(baseline.state().delivery.outcome, GraphOutcome::deferred);
  std::size_t batches = cypher_batches(few_rows(), false, options.limits).size();
  for (const testing::CrashPoint& crash : baseline.crash_points()) {
    auto server = failing();
    auto run = deliver_few(server, options, crash);
    ASSERT_TRUE(run.ok()) << crash;
    std::set<std::string> arrived;
    for (const auto& [body, times] : server->executed()) arrived.insert(body);
    for (const auto& message : run.messages()) {
      CypherBatch batch = cypher_batch_from(message.body).value();
      CypherRequest request = cypher_request(batch).value();
      arrived.insert(neo4j_call(options.server, request).body);
    }
    EXPECT_EQ(arrived.size(), batches) << crash;
  }
}

TEST(Neo4jSink, PublishesEverythingIfItGoesThroughTheOutbox) {
  auto server = std::make_shared<FakeNeo4j>();
  Neo4jSinkOptions options = small_batches();
  options.through_outbox = true;
  auto run = deliver_to(server, options);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.state().delivery.outcome, GraphOutcome::deferred);
  EXPECT_EQ(run.state().delivery.code, "");
  EXPECT_THAT(server->calls(), IsEmpty());
  EXPECT_EQ(run.messages().size(), batches_of_sample(options));
}

TEST(Neo4jSink, OfInvalidOptionsIsRefused) {
  Neo4jSinkOptions options = small_batches();
  options.server.url = "graph.example.com";
  EXPECT_FALSE(neo4j_sink(options).ok());
  options = small_batches();
  options.limits.rows_max = 0;
  EXPECT_FALSE(neo4j_sink(options).ok());
  options = small_batches();
  options.attempts = 0;
  EXPECT_FALSE(neo4j_sink(options).ok());
}

}  // namespace
}  // namespace belay::research
