#pragma once
// models/model_list.h - failover: calls the models of a list in order until one replies. A request
// that names a model is sent to this one only. Each call passes the circuit breaker, the slots and
// the rate limit of the model's server.

#include <functional>
#include <map>
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
  // `open` returns the model of a request that names one which is not in the list; null: such a
  // request fails with `invalid`. Requires at least one member.
  using Open = std::function<Result<Member>(const std::string& name)>;
  explicit ModelList(std::vector<Member> members, Open open = nullptr)
      : members_(std::move(members)), open_(std::move(open)) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override;
  std::string name() const override;  // of all members, in their order
  // Without ModelRequest::model, both return the maximum over all members: the model that will
  // reply is not known in advance.
  std::optional<ModelPrice> price(const ModelRequest& request) const override;
  std::int64_t input_tokens_max(const ModelRequest& request) const override;

 private:
  static Task<Result<ModelReply>> ask(const Member& member, ModelRequest request);
  Result<const Member*> named(const std::string& name) const;

  const std::vector<Member> members_;
  const Open open_;
  // Opened at the first request that names it. A model is used on one executor: see models.h.
  mutable std::map<std::string, Member, std::less<>> named_;
};

}  // namespace belay::models
