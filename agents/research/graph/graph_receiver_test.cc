// The receiver of the outbox messages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "agents/research/graph/fake_neo4j.h"
#include "agents/research/graph/graph_fixture.h"
#include "agents/research/graph/graph_sink.h"

namespace belay::research {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

Neo4jOptions receiving_server() {
  Neo4jOptions options;
  options.url = "https://graph.example.com:7473";
  return options;
}

// The messages of the sample graph.
std::vector<Value> graph_messages() {
  CypherLimits limits;
  limits.rows_max = 6;
  std::vector<Value> bodies;
  for (const CypherBatch& batch :
       cypher_batches(graph_rows(sample_results(), sample_subject()), true, limits)) {
    bodies.push_back(cypher_document(batch));
  }
  return bodies;
}

std::shared_ptr<GraphConnection> connection_to(std::shared_ptr<FakeNeo4j> server) {
  auto connection = std::make_shared<GraphConnection>();
  connection->server = std::make_shared<const Neo4jOptions>(receiving_server());
  connection->http = std::move(server);
  return connection;
}

Result<Done> receive(const Receiver& receiver, Value body) {
  OutboxMessage message;
  message.id = "run/1/0";
  message.topic = kGraphTopic;
  message.body = std::move(body);
  auto loop = make_event_loop();
  return block_on(*loop, receiver(std::move(message)));
}

TEST(GraphReceiver, CompletesTheGraphInWhateverOrderTheMessagesArrive) {
  std::vector<Value> messages = graph_messages();
  auto in_order = std::make_shared<FakeNeo4j>();
  for (const Value& body : messages) {
    EXPECT_TRUE(receive(graph_receiver(connection_to(in_order)), body).ok());
  }
  std::mt19937 random(13);
  for (int i = 0; i < 10; ++i) {
    std::shuffle(messages.begin(), messages.end(), random);
    auto server = std::make_shared<FakeNeo4j>();
    Receiver receiver = graph_receiver(connection_to(server));
    for (const Value& body : messages) EXPECT_TRUE(receive(receiver, body).ok());
    EXPECT_TRUE(receive(receiver, messages.front()).ok()) << "a repeated delivery";
    EXPECT_EQ(server->stored(), in_order->stored());
    EXPECT_EQ(server->constraints().size(), 7u);
  }
}

TEST(GraphReceiver, CallsOnceAndReportsTheError) {
  Value body = graph_messages().back();
  auto server = std::make_shared<FakeNeo4j>();
  server->responds(503, "", {{"Retry-After", "9"}});
  server->responds(401);
  Receiver receiver = graph_receiver(connection_to(server));
  Error busy = receive(receiver, body).error();
  EXPECT_EQ(busy.code, ErrorCode::unavailable);
  EXPECT_EQ(busy.retry_after, 9s);
  EXPECT_EQ(receive(receiver, body).error().code, ErrorCode::forbidden);
  EXPECT_EQ(server->calls().size(), 2u);
}

TEST(GraphReceiver, RefusesOtherMessages) {
  auto server = std::make_shared<FakeNeo4j>();
  Receiver receiver = graph_receiver(connection_to(server));
  for (const char* text : {"null", "{}", R"({"table":"User","rows":[],"constraint":false})",
                           R"({"table":"Metric","rows":[{"key":"a"}],"constraint":false})"}) {
    EXPECT_EQ(receive(receiver, parse_json(text).value()).error().code, ErrorCode::invalid) << text;
  }
  EXPECT_THAT(server->calls(), IsEmpty());
}

TEST(GraphReceiver, FailsWithUnavailableUntilItHasAConnection) {
  Value body = graph_messages().back();
  auto connection = std::make_shared<GraphConnection>();
  Receiver receiver = graph_receiver(connection);
  EXPECT_EQ(receive(receiver, body).error().code, ErrorCode::unavailable);
  auto server = std::make_shared<FakeNeo4j>();
  *connection = *connection_to(server);
  EXPECT_TRUE(receive(receiver, body).ok());
}

}  // namespace
}  // namespace belay::research
