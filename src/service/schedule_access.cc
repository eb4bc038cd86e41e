#include "service/schedule_access.h"

#include "belay/value.h"
#include "service/user_access.h"

namespace belay {
namespace {

class GuardedSchedules final : public Schedules {
 public:
  explicit GuardedSchedules(Schedules& all) : all_(all) {}

  Task<Result<ScheduleView>> add(const Principal& who, UserId user, std::string name,
                                 ScheduleChange wanted) override {
    BELAY_CO_CHECK(check_user(who, user));
    if (wanted.configuration) set_caller_of_run(who, user, *wanted.configuration);
    co_return co_await all_.add(who, std::move(user), std::move(name), std::move(wanted));
  }
  Task<Result<ScheduleView>> edit(const Principal& who, UserId user, std::string name,
                                  ScheduleChange change) override {
    BELAY_CO_CHECK(check_user(who, user));
    if (change.configuration) set_caller_of_run(who, user, *change.configuration);
    co_return co_await all_.edit(who, std::move(user), std::move(name), std::move(change));
  }
  Task<Result<ScheduleView>> show(const Principal& who, UserId user, std::string name,
                                  std::size_t count) override {
    BELAY_CO_CHECK(check_user(who, user));
    co_return co_await all_.show(who, std::move(user), std::move(name), count);
  }
  Task<Result<ListedSchedules>> list(const Principal& who, SchedulePage page) override {
    BELAY_CO_TRY(page.user, whom(who, std::move(page.user)));
    co_return co_await all_.list(who, std::move(page));
  }
  Task<Result<Done>> remove(const Principal& who, UserId user, std::string name) override {
    BELAY_CO_CHECK(check_user(who, user));
    co_return co_await all_.remove(who, std::move(user), std::move(name));
  }
  Task<Result<RunView>> run_now(const Principal& who, UserId user, std::string name,
                                std::string key) override {
    BELAY_CO_CHECK(check_user(who, user));
    co_return co_await all_.run_now(who, std::move(user), std::move(name), std::move(key));
  }
  Task<Result<Backfill>> backfill(const Principal& who, UserId user, std::string name,
                                  BackfillRange range) override {
    BELAY_CO_CHECK(check_user(who, user));
    co_return co_await all_.backfill(who, std::move(user), std::move(name), range);
  }
  Task<Result<ScheduleTicks>> ticks(const Principal& who, UserId user, std::string name,
                                    std::string after, std::size_t limit) override {
    BELAY_CO_CHECK(check_user(who, user));
    co_return co_await all_.ticks(who, std::move(user), std::move(name), std::move(after), limit);
  }

 private:
  Schedules& all_;
};

}  // namespace

void set_caller_of_run(const Principal& who, const UserId& user, std::string& configuration) {
  constexpr const char* member = "langgraph_auth_user_id";
  if (is_unrestricted(who) || configuration.empty()) return;
  auto parsed = parse_json(configuration);
  Value::Object* all = parsed.ok() ? parsed->as_object() : nullptr;
  auto found = all ? all->find("configurable") : Value::Object::iterator();
  Value::Object* configurable = all && found != all->end() ? found->second.as_object() : nullptr;
  if (!configurable || !configurable->contains(member)) return;
  configurable->insert_or_assign(member, user.text);
  configuration = to_json(*parsed);
}

std::unique_ptr<Schedules> with_access_rules(Schedules& all) {
  return std::make_unique<GuardedSchedules>(all);
}

}  // namespace belay
