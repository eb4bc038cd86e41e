#include "agents/research/analysis/request_body.h"

namespace belay::research {
namespace {

constexpr std::string_view kKeyHeader = "Idempotency-Key";

// A hash of its parts, as an id. The first part separates the ids of different kinds.
std::string id_of_parts(std::initializer_list<std::string> parts) {
  std::string seed;
  for (const std::string& part : parts) seed += part + '\0';
  return derived_uuid(seed).text();
}

// The members that both bodies have.
template <typename Body>
AnalysisRequest options_in(Body body) {
  AnalysisRequest request;
  if (body.peers) request.peers = *std::move(body.peers);
  if (body.only) request.only = *std::move(body.only);
  if (body.asOf) request.asOf = *std::move(body.asOf);
  if (body.ciks) request.ciks = *std::move(body.ciks);
  if (body.constants) request.constants = *std::move(body.constants);
  request.yes = body.yes.value_or(false);
  request.checkpoints = body.checkpoints.value_or(true);
  return request;
}

Result<Done> check_gates(const Principal& who, const AnalysisRequest& request) {
  if (!request.yes || who.may_skip_approvals || is_unrestricted(who)) return Done{};
  return error(ErrorCode::forbidden,
               "This API key cannot start analyses without approval. Omit \"yes\", or use a key "
               "with that permission.");
}

}  // namespace

Value analysis_body_schema() { return body_schema<AnalysisBody>({"ticker"}); }
Value batch_body_schema() { return body_schema<BatchBody>({"tickers"}); }
Value retry_body_schema() { return body_schema<RetryBody>({"specialist"}); }

Result<AnalysisRequest> request_in(const RouteRequest& call) {
  BELAY_TRY(AnalysisBody body, read_body<AnalysisBody>(call));
  AnalysisRequest request = options_in(body);
  request.ticker = body.ticker.value_or("");
  BELAY_CHECK(check_order(request));
  BELAY_CHECK(check_gates(call.who, request));
  return request;
}

Result<BatchOrder> batch_in(const RouteCall& call, const UserId& owner, Instant now) {
  BELAY_TRY(BatchBody body, read_body<BatchBody>(call));
  BatchOrder order;
  order.request = options_in(body);
  BELAY_CHECK(check_gates(call.who, order.request));
  order.queue = body.queue.value_or(order.queue);
  BatchTickers tickers;
  for (const std::string& each : body.tickers.value_or(std::vector<std::string>())) {
    BELAY_TRY(BatchTicker entry, batch_ticker_from(each));
    BELAY_CHECK(tickers.add(std::move(entry)));
  }
  order.tickers = tickers.take();
  std::string key(call.header(kKeyHeader));
  if (!key.empty()) BELAY_CHECK(check_name(kKeyHeader, key));
  if (body.batch) {
    order.batch = *std::move(body.batch);
  } else if (!key.empty()) {
    order.batch = id_of_parts({"research batch of a key", owner.text, key});
  } else {
    order.batch = id_of_parts({"research batch at", owner.text, to_text(now), to_json(call.body)});
  }
  return order;
}

std::string new_analysis_id(const UserId& owner, std::string_view key,
                            const AnalysisRequest& request, Instant now) {
  if (!key.empty()) {
    return id_of_parts({"research analysis of a key", owner.text, std::string(key)});
  }
  return id_of_parts(
      {"research analysis at", owner.text, to_text(now), encode_json(request).value_or("")});
}

}  // namespace belay::research
