#pragma once
// agents/research/graph/graph_sink.h - GraphSink: delivers the graph of an analysis to a file or to
// Neo4j, and the receiver of the batches that could not be delivered immediately.
//
// A sink is called in a node. Each batch for Neo4j is a keyed effect of that node: its receipt is
// committed before the next batch is sent, and a process that continues the run after a crash sends
// the batches without a receipt. Batches are therefore delivered at least once; MERGE makes the
// repetition harmless. If the server is unavailable, the remaining batches become messages of the
// outbox, in the commit of the node, and graph_receiver() delivers them later.
//
// A failure of a sink is data, and not an error of the node: it does not fail the analysis.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "agents/research/graph/cypher.h"
#include "agents/research/graph/neo4j_query.h"
#include "belay/context.h"
#include "belay/runtime.h"

namespace belay::research {

enum class GraphOutcome {
  off,        // nothing was delivered: there is no sink
  delivered,  // everything
  deferred,   // the other batches are in the outbox
  failed,     // see `code` and `message`; the other batches are lost
};

// The result of a delivery, for the state of a run.
struct GraphDelivery {
  std::string sink = "none";
  GraphOutcome outcome = GraphOutcome::off;
  std::string place{};         // path of the file, or URL and database
  std::int64_t batches = 0;    // for Neo4j, with those of constraints
  std::int64_t delivered = 0;  // of them; without those in the outbox
  std::string code{};          // name of the ErrorCode that ended the delivery; empty: none
  std::string message{};       // the fact, without user, password and token
};

class GraphSink {
 public:
  virtual ~GraphSink() = default;
  // "none", "file" or "neo4j".
  virtual std::string_view name() const = 0;
  // Delivers the rows. The sink and the context must live until the task has ended. Use it once in
  // a node: the names of its effects begin with "graph/". Throws only if the receipt of an effect
  // cannot be committed.
  virtual Task<GraphDelivery> deliver(GraphRows rows, Context& context) = 0;
};

// Delivers nothing.
std::shared_ptr<GraphSink> no_graph_sink();

struct CypherFileOptions {
  std::string folder;  // created if it does not exist
  CypherDialect dialect = CypherDialect::neo4j;
  CypherLimits limits = {};
};

// Writes FOLDER/TICKER-ASOF.cypher atomically (atomic_file.h). Fails with `invalid` without a
// folder.
Result<std::shared_ptr<GraphSink>> cypher_file_sink(CypherFileOptions options);

// The topic of the outbox messages, for Module::receivers.
inline constexpr std::string_view kGraphTopic = "research.graph";

struct Neo4jSinkOptions {
  Neo4jOptions server;
  CypherLimits limits = {};
  bool with_constraints = true;  // declares that the keys are unique, before the rows
  // Calls for one batch while the server is unavailable, including the first; between them, a
  // delay that doubles from `base` to `cap`, +-20 %, and at least that of Retry-After. A longer
  // Retry-After than `wait_max` ends the calls.
  int attempts = 4;
  std::chrono::milliseconds base{500};
  std::chrono::milliseconds cap{5'000};
  std::chrono::milliseconds wait_max{20'000};
  // The outbox gets the batches that could not be delivered. False: they are lost, and the outcome
  // is `failed`.
  bool defers = true;
  // All batches go to the outbox, without a call in the node: for processes with a worker.
  bool through_outbox = false;
};

// Sends with Context::http(), under its policy. Fails with `invalid` as check_neo4j(), or for
// limits of 0.
Result<std::shared_ptr<GraphSink>> neo4j_sink(Neo4jSinkOptions options);

// The server of the receiver. Both members may be set until the first message arrives.
struct GraphConnection {
  std::shared_ptr<const Neo4jOptions> server = nullptr;
  std::shared_ptr<HttpAccess> http = nullptr;
};

// Delivers the messages of kGraphTopic: one call for each, which the outbox repeats after an error.
// Without a server or an access, a delivery fails with `unavailable`.
Receiver graph_receiver(std::shared_ptr<const GraphConnection> connection);

}  // namespace belay::research
