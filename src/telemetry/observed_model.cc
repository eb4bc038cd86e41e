#include "belay/telemetry.h"
#include "telemetry/families.h"

namespace belay {
namespace {

class ObservedModel final : public Model {
 public:
  ObservedModel(std::shared_ptr<Model> inner, Clock& clock, Telemetry telemetry)
      : inner_(std::move(inner)), clock_(clock), telemetry_(telemetry) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override {
    Instant began = clock_.now();
    auto reply = co_await inner_->generate(std::move(request));
    count(reply, clock_.now() - began);
    if (!reply.ok()) report(reply.error());
    co_return std::move(reply);
  }

  std::string name() const override { return inner_->name(); }
  std::optional<ModelPrice> price(const ModelRequest& request) const override {
    return inner_->price(request);
  }
  std::int64_t input_tokens_max(const ModelRequest& request) const override {
    return inner_->input_tokens_max(request);
  }

 private:
  void count(const Result<ModelReply>& reply, std::chrono::microseconds time) const {
    if (!telemetry_.metrics) return;
    std::string_view result = reply.ok() ? std::string_view("ok") : name_of(reply.error().code);
    telemetry_.metrics->observe(telemetry::kModelSeconds, {{"result", result}},
                                std::chrono::duration<double>(time).count());
    if (!reply.ok() || !reply->usage) return;
    auto add = [&](std::string_view direction, std::int64_t tokens) {
      telemetry_.metrics->add(telemetry::kModelTokens,
                              {{"model", reply->model}, {"direction", direction}},
                              static_cast<double>(tokens));
    };
    add("input", reply->usage->input_tokens);
    add("output", reply->usage->output_tokens);
    telemetry_.metrics->add(telemetry::kModelCachedTokens, {{"model", reply->model}},
                            static_cast<double>(reply->usage->cached_input_tokens));
  }

  void report(const Error& failed) const {
    bool is_logged = telemetry_.log && telemetry_.log->wants(LogLevel::warning);
    if (!is_logged) return;
    LogEntry entry;
    entry.level = LogLevel::warning;
    entry.event = "model.failed";
    entry.fields = {{"code", std::string(name_of(failed.code))}};
    entry.message = failed.message;
    telemetry_.log->write(std::move(entry));
  }

  const std::shared_ptr<Model> inner_;
  Clock& clock_;
  const Telemetry telemetry_;
};

}  // namespace

std::shared_ptr<Model> make_observed_model(std::shared_ptr<Model> inner, Clock& clock,
                                           Telemetry telemetry) {
  return std::make_shared<ObservedModel>(std::move(inner), clock, telemetry);
}

}  // namespace belay
