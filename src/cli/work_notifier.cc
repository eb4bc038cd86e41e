#include "cli/work_notifier.h"

#include "belay/store.h"
#include "store/postgres/address.h"
#include "worker/composite_notifier.h"

namespace belay::cli {
namespace {

// Combines the notifier of a PostgreSQL store, which it owns, with that of a Redis.
class StoreWakeUp final : public WorkNotifier {
 public:
  StoreWakeUp(std::unique_ptr<WorkNotifier> own, WorkNotifier& redis)
      : own_(std::move(own)), both_(*own_, redis) {}

  void notify(std::string_view queue) override { both_.notify(queue); }
  Subscription subscribe(std::string_view queue, std::function<void()> called) override {
    return both_.subscribe(queue, std::move(called));
  }

 private:
  const std::unique_ptr<WorkNotifier> own_;
  CompositeNotifier both_;
};

}  // namespace

Result<std::unique_ptr<WorkNotifier>> make_work_notifier(const Settings& settings,
                                                         WorkNotifier* redis) {
  if (!postgres::is_postgres_url(settings.store)) return std::unique_ptr<WorkNotifier>();
  auto made = open_postgres_wake_up(settings.store, settings.notify_url);
  if (!made.ok()) {
    Error failed = std::move(made).error();
    failed.message = "BELAY_NOTIFY_URL, or notify_url in the settings file: " + failed.message;
    return failed;
  }
  if (!redis) return made;
  std::unique_ptr<WorkNotifier> both = std::make_unique<StoreWakeUp>(*std::move(made), *redis);
  return both;
}

}  // namespace belay::cli
