#include "agents/research/graph/graph_sink.h"

#include <functional>
#include <utility>

#include "agents/research/graph/atomic_file.h"

namespace belay::research {

class NoGraphSink final : public GraphSink {
 public:
  std::string_view name() const override { return "none"; }
  Task<GraphDelivery> deliver(GraphRows, Context&) override { co_return GraphDelivery(); }
};

class CypherFileSink final : public GraphSink {
 public:
  explicit CypherFileSink(CypherFileOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "file"; }

  // A repeated call writes the same bytes.
  Task<GraphDelivery> deliver(GraphRows rows, Context& context) override {
    GraphDelivery delivery;
    delivery.sink = name();
    delivery.place = options_.folder + "/" + rows.name + ".cypher";
    auto kept = std::make_shared<const GraphRows>(std::move(rows));
    auto action = [this, &context, &delivery, kept] { return written(kept, delivery, context); };
    co_return co_await context.keyed_effect("graph/file", action);
  }

 private:
  // The result of the effect: a file that cannot be written is a result, too.
  Task<GraphDelivery> written(std::shared_ptr<const GraphRows> rows, GraphDelivery delivery,
                              Context& context) const {
    std::function<Result<Done>()> write = [rows = std::move(rows), options = options_,
                                           path = delivery.place] {
      return write_atomically(path, cypher_file(*rows, options.dialect, options.limits));
    };
    auto done = co_await context.run_blocking(std::move(write));
    delivery.outcome = done.ok() ? GraphOutcome::delivered : GraphOutcome::failed;
    if (!done.ok()) {
      delivery.code = name_of(done.error().code);
      delivery.message = done.error().message;
    }
    co_return delivery;
  }

  const CypherFileOptions options_;
};

namespace {

Task<Result<Done>> deliver_batch(std::shared_ptr<const GraphConnection> connection,
                                 OutboxMessage message) {
  std::shared_ptr<const Neo4jOptions> server = connection->server;
  std::shared_ptr<HttpAccess> http = connection->http;
  if (!server || !http) {
    co_return error(ErrorCode::unavailable,
                    "No Neo4j is set for the messages of the graph. Set its URL.");
  }
  BELAY_CO_TRY(CypherBatch batch, cypher_batch_from(message.body));
  BELAY_CO_TRY(CypherRequest request, cypher_request(batch));
  co_return co_await send_to_neo4j(std::move(server), std::move(request), *http);
}

}  // namespace

std::shared_ptr<GraphSink> no_graph_sink() { return std::make_shared<NoGraphSink>(); }

Result<std::shared_ptr<GraphSink>> cypher_file_sink(CypherFileOptions options) {
  while (options.folder.size() > 1 && options.folder.ends_with('/')) options.folder.pop_back();
  if (options.folder.empty()) {
    return error(ErrorCode::invalid, "The Cypher file of an analysis has no folder. Set it.");
  }
  return std::shared_ptr<GraphSink>(std::make_shared<CypherFileSink>(std::move(options)));
}

Receiver graph_receiver(std::shared_ptr<const GraphConnection> connection) {
  return [connection = std::move(connection)](OutboxMessage message) {
    return deliver_batch(connection, std::move(message));
  };
}

}  // namespace belay::research
