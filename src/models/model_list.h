#pragma once
// models/model_list.h - failover: calls the models of a list in order until one replies. Each call
// passes the circuit breaker, the slots and the rate limit of the model's server.

#include <memory>
#include <string>
#include <vector>

#include "base/dependency.h"
#include "belay/models.h"
#include "models/rate_limiter.h"

namespace belay::models {

// Shared by all models of one server.
struct ServerGuard {
  ServerGuard(const std::string& name, const ModelSettings& settings, Clock& clock,
              const std::string& url = {})
      : dependency(name, settings.limits, clock),
        rate(settings.calls_per_minute, clock, settings.shared_rate_limit, "calls:" + url) {}
  Dependency dependency;
  RateLimiter rate;
};

class ModelList final : public Model {
 public:
  struct Member {
    std::string name;
    std::shared_ptr<Model> model;
    std::shared_ptr<ServerGuard> guard;  // null for a local model of the program
  };
  // Requires at least one member.
  explicit ModelList(std::vector<Member> members) : members_(std::move(members)) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override;
  // Both return the maximum over all members: the model that will reply is not known in advance.
  std::optional<ModelPrice> price(const ModelRequest& request) const override;
  std::int64_t input_tokens_max(const ModelRequest& request) const override;

 private:
  static Task<Result<ModelReply>> ask(const Member& member, ModelRequest request);

  const std::vector<Member> members_;
};

}  // namespace belay::models
