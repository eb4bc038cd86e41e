#include "cli/service_telemetry.h"

#include <unistd.h>

namespace belay::cli {

ServiceTelemetry::ServiceTelemetry(const Settings& settings, Clock& clock, Output& output,
                                   bool is_service)
    : output_(output), failure_webhook_url_(settings.failure_webhook_url) {
  if (!is_service) return;
  metrics_ = make_metrics();
  if (!settings.log_level || output.options().quiet) return;
  LogOptions options;
  options.level = *settings.log_level;
  options.format = settings.log_format;
  log_ = make_log(clock, options, log_to_descriptor(STDERR_FILENO));
  if (options.format == LogFormat::json) output_.log_progress(log_.get());
}

ServiceTelemetry::~ServiceTelemetry() { output_.log_progress(nullptr); }

ProgressObserver ServiceTelemetry::unless_logged(ProgressObserver observer) const {
  return log_ ? nullptr : std::move(observer);
}

std::shared_ptr<Model> ServiceTelemetry::around(std::shared_ptr<Model> model, Clock& clock) const {
  return metrics_ ? make_observed_model(std::move(model), clock, parts()) : std::move(model);
}

Result<Store*> ServiceTelemetry::around(Store& store, Clock& clock, Executor& executor,
                                        Random& random) {
  if (!metrics_) return &store;
  FailureAlert alert;
  if (!failure_webhook_url_.empty()) {
    BELAY_TRY(webhook_,
              telemetry::FailureWebhook::open(failure_webhook_url_, executor, random, log_.get()));
    alert.reporter = [this](const FailureReport& report) { webhook_->send(report); };
  }
  observed_ = make_observed_store(store, clock, parts(), alert);
  return observed_.get();
}

std::unique_ptr<telemetry::HeldLoopReport> ServiceTelemetry::watch_loop(RuntimeParts& parts) const {
  if (!metrics_) return nullptr;
  auto report = std::make_unique<telemetry::HeldLoopReport>(this->parts(), parts.store,
                                                            parts.executor, parts.clock);
  parts.on_held_loop = [kept = report.get()](const HeldLoop& held) { kept->note(held); };
  return report;
}

}  // namespace belay::cli
