#include "client/remote_schedules.h"

#include "client/requests.h"
#include "service/json_decode.h"
#include "service/schedule_documents.h"

namespace belay::client {
namespace {

constexpr std::string_view kSchedulesPath = "/api/schedules";
// Timeout of a backfill, which starts as many runs as limits::backfill_ticks_max permits.
constexpr std::chrono::milliseconds kBackfillWithin{600'000};

// The user of a key is that of its requests.
std::optional<UserId> named_user(const UserId& user) {
  if (user == UserId("local")) return std::nullopt;
  return user;
}

Target schedule_target(const UserId& user, const std::string& name, std::string_view more = "") {
  Target target(Target(kSchedulesPath).segment(name).text() + std::string(more));
  add_user(target, named_user(user));
  return target;
}

class RemoteSchedules final : public Schedules {
 public:
  RemoteSchedules(Connection& connection, Random& random)
      : connection_(connection), random_(random) {}

  Task<Result<ScheduleView>> add(const Principal&, UserId user, std::string name,
                                 ScheduleChange wanted) override {
    Target target(kSchedulesPath);
    add_user(target, named_user(user));
    Value body = schedule_body(wanted);
    body.as_object()->emplace("name", std::move(name));
    return get<ScheduleView>(post(target.text(), std::move(body)), schedule_from);
  }

  Task<Result<ScheduleView>> edit(const Principal&, UserId user, std::string name,
                                  ScheduleChange change) override {
    Target target = schedule_target(user, name);
    Ask ask = ask_to("PATCH", target.text(), schedule_body(change));
    return get<ScheduleView>(std::move(ask), schedule_from);
  }

  Task<Result<ScheduleView>> show(const Principal&, UserId user, std::string name,
                                  std::size_t count) override {
    Target target = schedule_target(user, name);
    target.query("count", static_cast<std::uint64_t>(count));
    return get<ScheduleView>(ask_to("GET", target.text()), schedule_from);
  }

  Task<Result<ListedSchedules>> list(const Principal&, SchedulePage page) override {
    Target target(kSchedulesPath);
    add_user(target, page.user);
    if (!page.after.empty()) target.query("after", page.after);
    target.query("limit", page_limit(page.limit));
    return get<ListedSchedules>(ask_to("GET", target.text()), schedules_from);
  }

  Task<Result<Done>> remove(const Principal&, UserId user, std::string name) override {
    Target target = schedule_target(user, name);
    auto document = co_await connection_.ask_again_for(ask_to("DELETE", target.text()));
    if (!document.ok()) co_return std::move(document).error();
    co_return Done{};
  }

  Task<Result<RunView>> run_now(const Principal&, UserId user, std::string name,
                                std::string key) override {
    if (key.empty()) key = random_uuid(random_).text();
    Ask ask = post(schedule_target(user, name, "/run").text());
    ask.headers.push_back({"Idempotency-Key", std::move(key)});
    return get<RunView>(std::move(ask), run_view_from);
  }

  Task<Result<Backfill>> backfill(const Principal&, UserId user, std::string name,
                                  BackfillRange range) override {
    Value body = Value::object({{"after", to_text(range.after)},
                                {"until", to_text(range.until)},
                                {"dryRun", range.dry_run}});
    Ask ask = post(schedule_target(user, name, "/backfill").text(), std::move(body));
    ask.first_byte = kBackfillWithin;
    return get<Backfill>(std::move(ask), backfill_from);
  }

  Task<Result<ScheduleTicks>> ticks(const Principal&, UserId user, std::string name,
                                    std::string after, std::size_t limit) override {
    Target target = schedule_target(user, name, "/ticks");
    if (!after.empty()) target.query("after", after);
    target.query("limit", page_limit(limit));
    return get<ScheduleTicks>(ask_to("GET", target.text()), schedule_ticks_from);
  }

 private:
  template <typename T>
  Task<Result<T>> get(Ask ask, Result<T> (*read)(const Value&)) {
    auto document = co_await connection_.ask_again_for(std::move(ask));
    if (!document.ok()) co_return std::move(document).error();
    co_return connection_.fitting(read(*document));
  }

  Connection& connection_;
  Random& random_;
};

}  // namespace

std::unique_ptr<Schedules> remote_schedules(Connection& connection, Random& random) {
  return std::make_unique<RemoteSchedules>(connection, random);
}

}  // namespace belay::client
