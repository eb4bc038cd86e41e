#pragma once
// agents/research/analysis/request_body.h - orders of analyses as bodies of requests. They name no
// data folders: a server reads those of its settings.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/research/analysis/analysis_batch.h"
#include "belay/route.h"

namespace belay::research {

// The options of an order. Not in the unnamed namespace, because the codec reads the names.
struct AnalysisBody {
  std::optional<std::string> ticker;
  std::optional<std::vector<std::string>> peers;
  std::optional<std::vector<std::string>> only;
  std::optional<std::string> asOf;
  std::optional<std::map<std::string, std::string>> ciks;
  std::optional<std::map<std::string, double>> constants;
  std::optional<bool> yes;
  std::optional<bool> checkpoints;
};

struct BatchBody {
  std::optional<std::vector<std::string>> tickers;  // TICKER, or TICKER=CIK
  std::optional<std::string> batch;
  std::optional<std::string> queue;
  std::optional<std::vector<std::string>> peers;
  std::optional<std::vector<std::string>> only;
  std::optional<std::string> asOf;
  std::optional<std::map<std::string, std::string>> ciks;
  std::optional<std::map<std::string, double>> constants;
  std::optional<bool> yes;
  std::optional<bool> checkpoints;
};

struct RetryBody {
  std::optional<std::string> specialist;
};

// The schemas of these bodies.
Value analysis_body_schema();
Value batch_body_schema();
Value retry_body_schema();

// Returns the checked order. Fails with `forbidden` if it approves its gate and the caller must not
// start runs without approvals.
Result<AnalysisRequest> request_in(const RouteRequest& call);
// The same for a batch. Without "batch", its id follows from the header Idempotency-Key, or else
// from the time.
Result<BatchOrder> batch_in(const RouteCall& call, const UserId& owner, Instant now);

// The id of the analysis that a request starts: the same for the same Idempotency-Key of a user.
// Without a key, it follows from the time and the order.
std::string new_analysis_id(const UserId& owner, std::string_view key,
                            const AnalysisRequest& request, Instant now);

}  // namespace belay::research
