#pragma once
// cli/service_telemetry.h - ServiceTelemetry: the log and the metrics of `serve` and `worker`.

#include <memory>

#include "belay/telemetry.h"
#include "cli/output.h"
#include "cli/settings.h"
#include "telemetry/failure_webhook.h"
#include "telemetry/held_loop_report.h"

namespace belay::cli {

// The log is written to standard error. In the JSON format, the lines of progress are entries of
// it, too: all lines of standard error are then JSON.
class ServiceTelemetry {
 public:
  // No log and no metrics unless `is_service`; no log with --quiet. The arguments must outlive the
  // object.
  ServiceTelemetry(const Settings& settings, Clock& clock, Output& output, bool is_service);
  ~ServiceTelemetry();
  ServiceTelemetry(const ServiceTelemetry&) = delete;
  ServiceTelemetry& operator=(const ServiceTelemetry&) = delete;

  Telemetry parts() const { return {log_.get(), metrics_.get()}; }
  // Null if there is a log: it contains the progress of runs.
  ProgressObserver unless_logged(ProgressObserver observer) const;
  std::shared_ptr<Model> around(std::shared_ptr<Model> model, Clock& clock) const;
  // Returns a store that reports to these parts and to the webhook of settings.failure_webhook_url,
  // or `store`. Call it once. Fails with `invalid` for an invalid URL.
  Result<Store*> around(Store& store, Clock& clock, Executor& executor, Random& random);
  // Reports the nodes of a runtime that hold the loop; null unless this is a service. Keep the
  // object until the runtime is destroyed, and destroy it before the store.
  std::unique_ptr<telemetry::HeldLoopReport> watch_loop(RuntimeParts& parts) const;

 private:
  Output& output_;
  const std::string failure_webhook_url_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<telemetry::FailureWebhook> webhook_;  // null: none
  std::unique_ptr<Store> observed_;
};

}  // namespace belay::cli
