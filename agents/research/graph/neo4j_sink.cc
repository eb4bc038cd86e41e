// The sink that sends batches to Neo4j, each as a keyed effect.

#include <algorithm>
#include <utility>

#include "agents/research/graph/graph_sink.h"
#include "agents/research/graph/graph_text.h"

namespace belay::research {

// The recorded result of the effect of one batch: a batch that was refused is a result, too.
struct BatchReceipt {
  bool sent = false;
  std::string code{};
  std::string message{};
};

namespace {

constexpr std::uint64_t kJitterPercent = 20;

// Returns the delay before the next call after `failures` failures in a row.
std::chrono::milliseconds delay_before_retry(const Neo4jSinkOptions& options, int failures,
                                             const Error& why, std::uint64_t bits) {
  auto delay = std::max(options.base, std::chrono::milliseconds(1));
  for (int i = 1; i < failures && delay < options.cap; ++i) delay *= 2;
  delay = std::min(delay, std::max(options.cap, std::chrono::milliseconds(1)));
  auto percent = static_cast<std::int64_t>(100 - kJitterPercent + bits % (2 * kJitterPercent + 1));
  delay = delay * percent / 100;
  return why.retry_after ? std::max(delay, *why.retry_after) : delay;
}

Task<BatchReceipt> receipt_of(std::shared_ptr<const Neo4jSinkOptions> options,
                              std::shared_ptr<const Neo4jOptions> server, CypherRequest request,
                              Context& context) {
  HttpAccess& http = context.http();
  for (int failures = 1;; ++failures) {
    auto sent = co_await send_to_neo4j(server, request, http);
    if (sent.ok()) co_return BatchReceipt{true, {}, {}};
    const Error& why = sent.error();
    auto delay = delay_before_retry(*options, failures, why, context.random_bits());
    bool is_last = why.code != ErrorCode::unavailable || failures >= options->attempts ||
                   delay > options->wait_max;
    if (is_last) co_return BatchReceipt{false, std::string(name_of(why.code)), why.message};
    co_await sleep_for(delay);
  }
}

// The content is part of the name: an effect of a former version of the program, which made other
// batches, is not taken for this one.
std::string batch_effect_name(std::size_t index, const CypherRequest& request) {
  return "graph/neo4j/" + std::to_string(index) + "/" +
         content_hash(request.statement + to_json(request.parameters));
}

}  // namespace

class Neo4jSink final : public GraphSink {
 public:
  explicit Neo4jSink(Neo4jSinkOptions options)
      : server_(std::make_shared<const Neo4jOptions>(options.server)),
        options_(std::make_shared<const Neo4jSinkOptions>(std::move(options))) {}

  std::string_view name() const override { return "neo4j"; }

  Task<GraphDelivery> deliver(GraphRows rows, Context& context) override {
    std::vector<CypherBatch> batches =
        cypher_batches(rows, options_->with_constraints, options_->limits);
    GraphDelivery delivery;
    delivery.sink = name();
    delivery.place = neo4j_place(*server_);
    delivery.batches = static_cast<std::int64_t>(batches.size());
    delivery.outcome = GraphOutcome::delivered;
    std::size_t next = 0;
    while (next < batches.size() && !options_->through_outbox) {
      CypherRequest request = cypher_request(batches[next]).value();
      std::string effect = batch_effect_name(next, request);
      auto send = [options = options_, server = server_, request = std::move(request), &context] {
        return receipt_of(options, server, request, context);
      };
      BatchReceipt receipt = co_await context.keyed_effect(std::move(effect), send);
      if (!receipt.sent) {
        delivery.outcome = GraphOutcome::failed;
        delivery.code = std::move(receipt.code);
        delivery.message = std::move(receipt.message);
        break;
      }
      ++next;
      ++delivery.delivered;
    }
    bool is_temporary =
        options_->through_outbox || delivery.code == name_of(ErrorCode::unavailable);
    if (next < batches.size() && is_temporary && options_->defers) {
      delivery.outcome = GraphOutcome::deferred;
      for (; next < batches.size(); ++next) {
        context.publish(std::string(kGraphTopic), cypher_document(batches[next]));
      }
    }
    co_return delivery;
  }

 private:
  const std::shared_ptr<const Neo4jOptions> server_;
  const std::shared_ptr<const Neo4jSinkOptions> options_;
};

Result<std::shared_ptr<GraphSink>> neo4j_sink(Neo4jSinkOptions options) {
  BELAY_CHECK(check_neo4j(options.server));
  if (options.limits.rows_max == 0 || options.limits.bytes_max == 0 || options.attempts < 1) {
    return error(ErrorCode::invalid,
                 "The limits and the attempts of the sink for Neo4j must be at least 1.");
  }
  if (options.through_outbox) options.defers = true;
  return std::shared_ptr<GraphSink>(std::make_shared<Neo4jSink>(std::move(options)));
}

}  // namespace belay::research
