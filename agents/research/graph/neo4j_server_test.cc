// The sink and the receiver, against a server on loopback that records requests.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <vector>

#include "agents/research/graph/graph_fixture.h"
#include "agents/research/graph/graph_sink.h"
#include "belay/open.h"
#include "tests/support/scripted_server.h"

namespace belay::research {

struct ServedRun {
  GraphDelivery delivery{};
};

namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kAcceptedBody = R"({"data":{"fields":[],"values":[]},"bookmarks":["FB:1"]})";

struct ServedReply {
  std::string status;
  std::string body = kAcceptedBody;
};

// Answers each request with the next reply, and the last one from then on.
class GraphServer {
 public:
  explicit GraphServer(std::vector<ServedReply> replies)
      : replies_(std::move(replies)), server_([this](net::Peer& peer, int) { answer(peer); }) {}

  std::string url() const { return server_.url(""); }
  std::vector<std::string> requests() {
    std::lock_guard held(mutex_);
    return requests_;
  }

 private:
  void answer(net::Peer& peer) {
    while (true) {
      std::string request = peer.request();
      if (request.empty()) return;
      ServedReply reply;
      {
        std::lock_guard held(mutex_);
        reply = replies_[std::min(requests_.size(), replies_.size() - 1)];
        requests_.push_back(std::move(request));
      }
      std::string text = "HTTP/1.1 " + reply.status + "\r\nContent-Type: application/json\r\n" +
                         "Content-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n" +
                         reply.body;
      if (!peer.send(text)) return;
    }
  }

  std::vector<ServedReply> replies_;
  std::mutex mutex_;
  std::vector<std::string> requests_;  // guarded by mutex_
  net::ScriptedServer server_;         // last: it uses all members above
};

Neo4jSinkOptions served_options(const GraphServer& server) {
  Neo4jSinkOptions options;
  options.server.url = server.url();
  options.server.database = "research";
  options.server.user = "neo4j";
  options.server.password = "very secret";
  options.base = 1ms;
  options.cap = 5ms;
  return options;
}

std::shared_ptr<HttpAccess> loopback_access() {
  EgressPolicy policy;
  policy.allowed_networks = {"127.0.0.1"};
  policy.allowed_ports = {};
  return open_http(policy).value();
}

Graph<ServedRun> served_graph(const Neo4jSinkOptions& options) {
  auto sink = neo4j_sink(options).value();
  GraphBuilder<ServedRun> graph{"served_delivery"};
  graph.node("deliver", [sink](const ServedRun&, Context& context) -> Task<Update<ServedRun>> {
    GraphRows rows = graph_rows(sample_results(), sample_subject());
    GraphDelivery delivery = co_await sink->deliver(std::move(rows), context);
    co_return set(&ServedRun::delivery, std::move(delivery));
  });
  graph.edge(start, "deliver").edge("deliver", end);
  return std::move(graph).build().value();
}

std::unique_ptr<Embedded> embedded(std::shared_ptr<HttpAccess> http) {
  OpenOptions options;
  options.http = std::move(http);
  return open("memory:", std::move(options)).value();
}

GraphDelivery delivery_of(const RunView& view) {
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  return decode_json<ServedRun>(view.state).value().delivery;
}

std::size_t batches_served() {
  return cypher_batches(graph_rows(sample_results(), sample_subject()), true).size();
}

TEST(Neo4jServer, GetsEachStatementWithItsRowsAndTheLogin) {
  GraphServer server({ServedReply{"202 Accepted"}});
  auto belay = embedded(loopback_access());
  auto graph = served_graph(served_options(server));
  belay->add(graph);
  GraphDelivery delivery = delivery_of(belay->run(graph, ServedRun{}).value());
  EXPECT_EQ(delivery.outcome, GraphOutcome::delivered) << delivery.message;
  auto requests = server.requests();
  ASSERT_EQ(requests.size(), batches_served());
  EXPECT_THAT(requests, Each(AllOf(HasSubstr("POST /db/research/query/v2 HTTP/1.1\r\n"),
                                   HasSubstr("Content-Type: application/json\r\n"),
                                   HasSubstr("Authorization: Basic bmVvNGo6dmVyeSBzZWNyZXQ=\r\n"),
                                   HasSubstr("\r\n\r\n{\"parameters\":{"))));
  EXPECT_THAT(requests.front(), HasSubstr("CREATE CONSTRAINT belay_Company_key"));
  EXPECT_THAT(requests.back(), HasSubstr("MERGE (a)-[n:QUOTES]->(b)"));
}

TEST(Neo4jServer, GetsABatchAgainUntilItIsAccepted) {
  GraphServer server(
      {{"503 Service Unavailable", ""},
       {"429 Too Many Requests", ""},
       {"400 Bad Request",
        R"({"errors":[{"code":"Neo.TransientError.Transaction.DeadlockDetected"}]})"},
       {"202 Accepted"}});
  auto belay = embedded(loopback_access());
  auto graph = served_graph(served_options(server));
  belay->add(graph);
  GraphDelivery delivery = delivery_of(belay->run(graph, ServedRun{}).value());
  EXPECT_EQ(delivery.outcome, GraphOutcome::delivered) << delivery.message;
  EXPECT_EQ(server.requests().size(), batches_served() + 3);
}

TEST(Neo4jServer, ThatRefusesTheLoginDoesNotFailTheRun) {
  ServedReply refused{"401 Unauthorized",
                      R"({"errors":[{"code":"Neo.ClientError.Security.Unauthorized"}]})"};
  GraphServer server({refused});
  auto belay = embedded(loopback_access());
  auto graph = served_graph(served_options(server));
  belay->add(graph);
  GraphDelivery delivery = delivery_of(belay->run(graph, ServedRun{}).value());
  EXPECT_EQ(delivery.outcome, GraphOutcome::failed);
  EXPECT_EQ(delivery.code, "forbidden");
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(Neo4jServer, OfAForbiddenNetworkGetsNoRequest) {
  GraphServer server({ServedReply{"202 Accepted"}});
  auto belay = embedded(open_http().value());
  auto graph = served_graph(served_options(server));
  belay->add(graph);
  GraphDelivery delivery = delivery_of(belay->run(graph, ServedRun{}).value());
  EXPECT_EQ(delivery.outcome, GraphOutcome::failed);
  EXPECT_EQ(delivery.code, "forbidden");
  EXPECT_THAT(server.requests(), IsEmpty());
}

Task<Done> short_pause() {
  co_await sleep_for(5ms);
  co_return Done{};
}

TEST(Neo4jServer, GetsTheRestFromTheOutboxLater) {
  // The third batch is refused while the run lasts, and again by the first delivery.
  GraphServer server({{"202 Accepted"},
                      {"202 Accepted"},
                      {"503 Service Unavailable", ""},
                      {"503 Service Unavailable", ""},
                      {"202 Accepted"}});
  auto http = loopback_access();
  auto belay = embedded(http);
  Neo4jSinkOptions options = served_options(server);
  options.attempts = 1;
  auto graph = served_graph(options);
  belay->add(graph);
  GraphDelivery delivery = delivery_of(belay->run(graph, ServedRun{}).value());
  EXPECT_EQ(delivery.outcome, GraphOutcome::deferred);
  EXPECT_EQ(delivery.delivered, 2);
  EXPECT_EQ(server.requests().size(), 3u);
  auto connection = std::make_shared<GraphConnection>();
  connection->server = std::make_shared<const Neo4jOptions>(options.server);
  connection->http = http;
  DeliveryOptions quick;
  quick.retry.base = 1ms;
  belay->runtime().deliver(std::string(kGraphTopic), graph_receiver(connection), quick);
  std::size_t expected = batches_served() + 2;
  for (int i = 0; i < 2000 && server.requests().size() < expected; ++i) {
    ASSERT_TRUE(belay->work().ok());
    belay->wait(short_pause());
  }
  ASSERT_TRUE(belay->work().ok());
  auto requests = server.requests();
  EXPECT_EQ(requests.size(), expected);
  auto body_of = [](const std::string& request) {
    return request.substr(request.find("\r\n\r\n"));
  };
  std::set<std::string> bodies;
  for (const std::string& request : requests) bodies.insert(body_of(request));
  EXPECT_EQ(bodies.size(), batches_served());
}

}  // namespace
}  // namespace belay::research
