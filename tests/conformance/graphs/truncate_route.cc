#include "tests/conformance/graphs/truncate_route.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace belay::conformance {

// Not in the unnamed namespace, because the codec reads the names of its members.
struct TruncateBody {
  bool runs = false;
  bool threads = false;
  bool assistants = false;
  bool checkpointer = false;
  bool store = false;
};

namespace {

// A run that was cancelled might need some time to end.
constexpr int kAttempts = 250;
constexpr std::chrono::milliseconds kBetweenAttempts{20};
constexpr std::size_t kPage = 100;

bool is_selected(const TruncateBody& wanted, std::string_view collection) {
  auto begins = [&](std::string_view name) { return collection.starts_with(name); };
  return (wanted.threads && begins("langgraph_thread")) ||
         (wanted.runs && begins("langgraph_crons")) ||
         (wanted.assistants && begins("langgraph_assistant")) ||
         (wanted.store && begins("langgraph_store"));
}

// Returns whether the thread existed. Fails if it cannot be deleted, for example because a message
// waits for delivery.
Task<Result<bool>> remove_thread(RouteCall& call, ThreadId thread) {
  Error last = error(ErrorCode::conflict, "The thread was not deleted.");
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 1) co_await sleep_for(kBetweenAttempts);
    auto deleted = co_await call.service.delete_thread(call.who, thread);
    if (deleted.ok()) co_return true;
    last = std::move(deleted).error();
    if (last.code == ErrorCode::not_found) co_return false;
    if (last.code != ErrorCode::conflict) break;
    (void)co_await call.service.preserve(call.who, thread, false);
    std::string by = "truncate", on_behalf_of;
    std::optional<RunId> current;
    (void)co_await call.service.cancel(call.who, thread, std::move(by), std::move(on_behalf_of),
                                       current);
  }
  co_return last;
}

// Returns the users of the deleted threads.
Task<Result<std::set<UserId>>> remove_threads(RouteCall& call) {
  std::set<UserId> users;
  while (true) {
    ThreadPage page;
    page.limit = kPage;
    BELAY_CO_TRY(std::vector<ListedThread> threads,
                 co_await call.service.threads(call.who, std::move(page)));
    bool has_deleted = false;
    for (const ListedThread& each : threads) {
      users.insert(each.thread.user);
      ThreadId thread = each.thread.thread;
      BELAY_CO_TRY(bool existed, co_await remove_thread(call, std::move(thread)));
      has_deleted = has_deleted || existed;
    }
    // Of a page without a thread that existed, a second reading would be the same.
    if (!has_deleted) co_return std::move(users);
  }
}

Task<Result<Done>> remove_records(RouteCall& call, UserId user, std::string collection) {
  while (true) {
    RecordFilter filter;
    filter.collection = collection;
    filter.user = user;
    filter.limit = kPage;
    BELAY_CO_TRY(std::vector<RecordRow> rows,
                 co_await call.service.find_records(call.who, user, std::move(filter)));
    if (rows.empty()) co_return Done{};
    std::vector<RecordWrite> erasures;
    for (const RecordRow& row : rows) erasures.push_back(record_erasure(collection, user, row.key));
    BELAY_CO_CHECK(co_await call.service.save_records(call.who, std::move(erasures)));
  }
}

// The crons of the user: their schedules.
Task<Result<Done>> remove_crons(RouteCall& call, UserId user) {
  Schedules& schedules = call.service.schedules();
  SchedulePage page;
  page.user = user;
  page.limit = kPage;
  do {
    SchedulePage wanted = page;
    BELAY_CO_TRY(ListedSchedules listed, co_await schedules.list(call.who, std::move(wanted)));
    for (const ScheduleView& each : listed.schedules) {
      if (!each.schedule.name.starts_with("cron-")) continue;
      std::string name = each.schedule.name;
      auto removed = co_await schedules.remove(call.who, user, std::move(name));
      bool is_absent = !removed.ok() && removed.error().code == ErrorCode::not_found;
      if (!removed.ok() && !is_absent) co_return std::move(removed).error();
    }
    page.after = std::move(listed.next);
  } while (!page.after.empty());
  co_return Done{};
}

Task<Result<RouteReply>> truncate(RouteCall& call, std::vector<std::string> collections) {
  BELAY_CO_TRY(TruncateBody wanted, read_body<TruncateBody>(call));
  std::set<UserId> users;
  if (wanted.threads || wanted.runs || wanted.checkpointer) {
    BELAY_CO_TRY(users, co_await remove_threads(call));
  }
  users.insert(call.who.user);
  for (const UserId& user : users) {
    if (!wanted.runs) break;
    UserId owner = user;
    BELAY_CO_CHECK(co_await remove_crons(call, std::move(owner)));
  }
  for (const std::string& collection : collections) {
    if (!is_selected(wanted, collection)) continue;
    for (const UserId& user : users) {
      BELAY_CO_CHECK(co_await remove_records(call, user, collection));
    }
  }
  co_return route_reply(Value::object({{"ok", true}}));
}

}  // namespace

ModuleRoute truncate_route(std::vector<std::string> collections) {
  ModuleRoute route = route_of("POST", "/internal/truncate", "truncate",
                               "Deletion of all threads and records, for tests");
  route.permission = Permission::administer;
  route.body = body_schema<TruncateBody>();
  route.answers = {{200, "Deleted"}};
  route.handle = [collections = std::move(collections)](RouteCall& call) {
    return truncate(call, collections);
  };
  return route;
}

}  // namespace belay::conformance
