#pragma once
// models/model_list.h - models in the order in which they are asked, each behind its server's
// circuit, slots and rate.

#include <memory>
#include <string>
#include <vector>

#include "base/dependency.h"
#include "belay/models.h"
#include "models/rate_limiter.h"

namespace belay::models {

// What all models of one server share.
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
    std::shared_ptr<ServerGuard> guard;  // null for a model of the program's own
  };
  // REQUIRES: at least one member.
  explicit ModelList(std::vector<Member> members) : members_(std::move(members)) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override;
  // The dearest one's, and the most: which of them will answer is not known before.
  std::optional<ModelPrice> price(const ModelRequest& request) const override;
  std::int64_t input_tokens_max(const ModelRequest& request) const override;

 private:
  static Task<Result<ModelReply>> ask(const Member& member, ModelRequest request);

  const std::vector<Member> members_;
};

}  // namespace belay::models
