#include "server/mcp_subscription.h"

#include <algorithm>

#include "server/mcp_endpoint.h"
#include "server/mcp_tasks.h"

namespace belay::server {
namespace {

constexpr std::string_view kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";
constexpr std::size_t kTasksInOneStream = 100;
constexpr int kTooManyRequests = 429;
// How often a task that waits is read: if the store reports cheaply that nothing has changed, and
// if it does not.
constexpr std::chrono::milliseconds kPauseOfTask{1'000};
constexpr std::chrono::milliseconds kPauseWithoutVersion{5'000};

// Identifies the state of a task, as far as the client can see it.
std::string identity_of(const Value::Object& task) {
  std::string identity;
  auto status = task.find("status");
  if (status != task.end()) identity = to_json(status->second);
  auto requests = task.find("inputRequests");
  if (requests == task.end()) return identity;
  for (const auto& [name, request] : *requests->second.as_object()) identity += " " + name;
  return identity;
}

// Returns the tasks that a filter names, each once; an error for any other form.
Result<std::vector<std::string>> named_tasks(const Value& filter) {
  std::vector<std::string> names;
  const Value* ids = filter.find("taskIds");
  if (!ids) return names;
  const Value::Array* list = ids->as_array();
  if (!list || list->size() > kTasksInOneStream) {
    return error(ErrorCode::invalid, "taskIds is not an array of at most 100 ids.");
  }
  for (const Value& id : *list) {
    const std::string* text = id.as_string();
    if (!text) return error(ErrorCode::invalid, "taskIds is not an array of strings.");
    if (std::find(names.begin(), names.end(), *text) == names.end()) names.push_back(*text);
  }
  return names;
}

}  // namespace

std::shared_ptr<void> SubscriptionSlots::take(const std::string& user) {
  std::size_t& count = (*counts_)[user];
  if (count >= per_user_max_) return nullptr;
  ++count;
  auto release = [counts = counts_, user](void*) {
    auto found = counts->find(user);
    if (--found->second == 0) counts->erase(found);
  };
  return {static_cast<void*>(counts_.get()), std::move(release)};
}

Task<McpReply> McpEndpoint::listen(Call& call, const McpMessage& message) {
  const Value& wanted = message.params["notifications"];
  if (!wanted.as_object()) {
    co_return mcp_fault(message, McpFault::invalid_params, "notifications is not an object.");
  }
  if (wanted.find("taskIds") && !message.has_tasks) co_return mcp_without_tasks(message);
  if (call.who.permission < Permission::read) co_return mcp_forbidden(message, Permission::read);
  auto names = named_tasks(wanted);
  if (!names.ok()) co_return mcp_failed(message, names.error());
  auto slot = slots_.take(call.who.user.text);
  if (!slot) {
    McpReply refused =
        mcp_fault(message, McpFault::refused, "Too many subscriptions of this user are open.");
    refused.status = kTooManyRequests;
    co_return std::move(refused);
  }
  std::vector<RunRow> tasks;
  Value::Array accepted;
  for (const std::string& name : *names) {
    auto id = uuid_from(name);
    if (!id) continue;
    auto row = co_await call.service.run(call.who, RunId(*id));
    if (!row.ok() && row.error().code != ErrorCode::not_found) {
      co_return mcp_failed(message, row.error());
    }
    // A task of another user is omitted like one that does not exist.
    if (!row.ok()) continue;
    accepted.emplace_back(row->run.text());
    tasks.push_back(*std::move(row));
  }
  Value::Object filter;
  if (wanted.find("taskIds")) filter.emplace("taskIds", std::move(accepted));
  McpReply reply;
  reply.stream = std::make_unique<SubscriptionStream>(call.service, world_.parts.executor, call.who,
                                                      message, Value(std::move(filter)),
                                                      std::move(tasks), std::move(slot));
  co_return std::move(reply);
}

SubscriptionStream::SubscriptionStream(Service& service, Executor& executor, Principal who,
                                       McpMessage message, Value filter, std::vector<RunRow> tasks,
                                       std::shared_ptr<void> slot)
    : service_(service),
      executor_(executor),
      who_(std::move(who)),
      message_(std::move(message)),
      filter_(std::move(filter)),
      slot_(std::move(slot)) {
  for (RunRow& row : tasks) {
    Watched& task = tasks_.emplace_back();
    task.thread = std::move(row.thread);
    task.run = row.run;
    task.status = row.status;
  }
}

Task<std::optional<Value>> SubscriptionStream::next() {
  if (!is_acknowledged_) {
    is_acknowledged_ = true;
    co_return tagged("notifications/subscriptions/acknowledged",
                     {{"notifications", std::move(filter_)}});
  }
  while (!has_replied_) {
    for (Watched& task : tasks_) {
      if (!std::exchange(task.is_changed, false)) continue;
      auto notification = co_await read(task);
      if (notification) co_return std::move(notification);
    }
    bool is_over = std::all_of(tasks_.begin(), tasks_.end(),
                               [](const Watched& each) { return each.has_ended; });
    if (is_over) {
      has_replied_ = true;
      Value::Object meta = mcp_result_meta();
      meta.emplace(std::string(kSubscriptionKey), message_.id);
      co_return mcp_result(message_, {{"_meta", Value(std::move(meta))}}).document;
    }
    bool is_changed = std::any_of(tasks_.begin(), tasks_.end(),
                                  [](const Watched& each) { return each.is_changed; });
    if (is_changed) continue;
    wake_ = Completion<Done>();
    co_await wake_;
  }
  co_return std::nullopt;
}

// Reads a task, and returns the notification if its state is not the one that was sent.
Task<std::optional<Value>> SubscriptionStream::read(Watched& task) {
  task.version = service_.store_version();
  ThreadId thread = task.thread;
  auto view = co_await service_.status(who_, std::move(thread), std::nullopt, task.run);
  // A run that the retention has deleted meanwhile does not change any more.
  bool is_gone = !view.ok() && view.error().code == ErrorCode::not_found;
  if (is_gone) task.has_ended = true;
  if (!view.ok()) task.version = std::nullopt;
  std::optional<Value> notification;
  if (view.ok()) {
    task.status = view->row.status;
    task.has_ended = has_result(view->row);
    Value::Object document = task_of(*view, message_);
    add_details(*view, message_, document);
    std::string identity = identity_of(document);
    if (identity != task.sent) {
      task.sent = std::move(identity);
      notification = tagged("notifications/tasks", std::move(document));
    }
  }
  if (!task.has_ended && !task.follower) {
    std::function<void(Done)> nothing = [](Done) {};
    task.follower = spawn<Done>(executor_, follow(task), std::move(nothing));
  }
  co_return std::move(notification);
}

// Marks the task as changed whenever it can have changed, until it has ended.
Task<Done> SubscriptionStream::follow(Watched& task) {
  while (!task.has_ended) {
    bool is_waiting = is_settled(task.status);
    if (!is_waiting) {
      ThreadId thread = task.thread;
      auto view = co_await service_.wait_for(who_, std::move(thread), task.run);
      if (view.ok()) task.status = view->row.status;
      is_waiting = !view.ok();
    }
    if (is_waiting) co_await paused(task);
    task.is_changed = true;
    wake_.complete(Done{});
  }
  co_return Done{};
}

// Waits until a task that no operation of the service waits for can have changed.
Task<Done> SubscriptionStream::paused(Watched& task) {
  std::optional<std::uint64_t> version;
  const auto pause = task.version ? kPauseOfTask : kPauseWithoutVersion;
  do {
    co_await sleep_for(pause);
    version = service_.store_version();
  } while (version && version == task.version && !task.is_changed);
  co_return Done{};
}

Value SubscriptionStream::tagged(std::string_view method, Value::Object params) const {
  Value::Object meta{{std::string(kSubscriptionKey), message_.id}};
  params.insert_or_assign("_meta", Value(std::move(meta)));
  return mcp_notification(method, std::move(params));
}

}  // namespace belay::server
