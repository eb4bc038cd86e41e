// A2aEndpoint: the configs of push notifications.

#include <algorithm>

#include "a2a/a2a_endpoint.h"

namespace belay::a2a {
namespace {

using server::Call;
using server::Reply;

constexpr std::size_t kConfigsMax = 10;
// Each round in which a config is not saved has saved another one.
constexpr std::size_t kRoundsMax = 100;

// Configs are records of the tenant. The access to the task of a config is that to the config.
Principal tenant_of(const Call& call) {
  Principal who;
  who.tenant = call.who.tenant;
  return who;
}

Task<Result<std::vector<A2aPush>>> configs_of(const Call& call, std::string task) {
  std::unique_ptr<Records> records = records_of(call.service, tenant_of(call), UserId());
  auto found = co_await records->where(&A2aPush::task, std::move(task), kConfigsMax + 1);
  co_return std::move(found);
}

}  // namespace

Task<Reply> A2aEndpoint::push_config(Call& call, const A2aRequest& request) {
  if (!delivery_) co_return fault_reply(request.id, no_notifications());
  const std::string& method = request.method;
  bool reads =
      method == "GetTaskPushNotificationConfig" || method == "ListTaskPushNotificationConfigs";
  if (reads) co_return co_await read_configs(call, request);
  bool creates = method == "CreateTaskPushNotificationConfig";
  if (!creates && method != "DeleteTaskPushNotificationConfig") {
    Failure unknown{Fault::unknown_method, "Unknown method."};
    co_return fault_reply(request.id, unknown);
  }
  if (call.who.permission < Permission::run) {
    co_return fault_reply(request.id, lacks(Permission::run));
  }
  if (creates) co_return co_await create_config(call, request);
  co_return co_await delete_config(call, request);
}

// Returns the run of the task that the params name.
Task<A2aEndpoint::Outcome<RunRow>> A2aEndpoint::configured_run(Call& call,
                                                               const A2aRequest& request) {
  std::string task;
  if (auto failure = required_text(request.params, "taskId", task)) co_return *std::move(failure);
  std::string agent = request.agent;
  co_return co_await run_of(call, std::move(task), std::move(agent));
}

Task<Reply> A2aEndpoint::create_config(Call& call, const A2aRequest& request) {
  A2aPush push;
  if (auto failure = read_push(request.params, push)) co_return fault_reply(request.id, *failure);
  auto found = co_await configured_run(call, request);
  if (auto* failure = std::get_if<Failure>(&found)) co_return fault_reply(request.id, *failure);
  RunId run = std::get<RunRow>(found).run;
  push.task = run.text();
  Value config = config_of(push);
  auto failure = co_await add_config(call, run, std::move(push));
  if (failure) co_return fault_reply(request.id, *failure);
  co_return result_reply(request.id, std::move(config));
}

// Saves a config, also instead of one with its id.
Task<std::optional<Failure>> A2aEndpoint::add_config(const Call& call, RunId run, A2aPush push) {
  push.task = run.text();
  push.id = push_key(push.task, push.config);
  push.created_at = push.wake = world_.parts.clock.now();
  Result<Done> added = Done{};
  for (std::size_t round = 0; round < kRoundsMax; ++round) {
    A2aPush tried = push;
    added = co_await try_to_add(call, std::move(tried));
    bool is_late = !added.ok() && added.error().code == ErrorCode::conflict;
    if (!is_late) break;
  }
  if (!added.ok()) co_return failure_of(added.error());
  start_delivery();
  co_return std::nullopt;
}

// `conflict` if another request has added a config meanwhile.
Task<Result<Done>> A2aEndpoint::try_to_add(const Call& call, A2aPush push) {
  Principal who = tenant_of(call);
  std::unique_ptr<Records> records = records_of(call.service, who, UserId());
  std::string task = push.task;
  BELAY_CO_TRY(auto last, co_await records->get_versioned<A2aPushCount>(std::move(task)));
  task = push.task;
  BELAY_CO_TRY(std::vector<A2aPush> others, co_await configs_of(call, std::move(task)));
  std::erase_if(others, [&push](const A2aPush& other) { return other.id == push.id; });
  if (others.size() >= kConfigsMax) {
    co_return error(ErrorCode::invalid, "A task can have at most 10 configs.");
  }
  A2aPushCount count;
  count.task = push.task;
  count.change = random_uuid(world_.parts.random).text();
  count.changed_at = push.created_at;
  std::vector<RecordWrite> writes(2);
  BELAY_CO_TRY(writes[0], record_write(count, UserId()));
  writes[0].expected_version = last ? last->version : 0;
  BELAY_CO_TRY(writes[1], record_write(push, UserId()));
  co_return co_await call.service.save_records(who, std::move(writes));
}

Task<Reply> A2aEndpoint::read_configs(Call& call, const A2aRequest& request) {
  bool lists = request.method == "ListTaskPushNotificationConfigs";
  std::string id;
  std::optional<Failure> unnamed;
  if (!lists) unnamed = required_text(request.params, "id", id);
  if (unnamed) co_return fault_reply(request.id, *unnamed);
  auto found = co_await configured_run(call, request);
  if (auto* failure = std::get_if<Failure>(&found)) co_return fault_reply(request.id, *failure);
  std::string task = std::get<RunRow>(found).run.text();
  auto pushes = co_await configs_of(call, std::move(task));
  if (!pushes.ok()) co_return fault_reply(request.id, failure_of(pushes.error()));
  Value::Array configs;
  for (const A2aPush& push : *pushes) configs.push_back(config_of(push));
  if (lists) {
    Value page = Value::object({{"configs", std::move(configs)}, {"nextPageToken", ""}});
    co_return result_reply(request.id, std::move(page));
  }
  auto named = std::find_if(configs.begin(), configs.end(),
                            [&id](const Value& config) { return config["id"] == Value(id); });
  if (named != configs.end()) co_return result_reply(request.id, std::move(*named));
  Failure absent{Fault::unknown_task, "The task has no such config."};
  co_return fault_reply(request.id, absent);
}

Task<Reply> A2aEndpoint::delete_config(Call& call, const A2aRequest& request) {
  auto found = co_await configured_run(call, request);
  if (auto* failure = std::get_if<Failure>(&found)) co_return fault_reply(request.id, *failure);
  A2aPush push;
  if (auto failure = required_text(request.params, "id", push.config)) {
    co_return fault_reply(request.id, *failure);
  }
  push.id = push_key(std::get<RunRow>(found).run.text(), push.config);
  auto write = record_write(push, UserId());
  if (!write.ok()) co_return fault_reply(request.id, failure_of(write.error()));
  write->erase = true;
  std::vector<RecordWrite> writes;
  writes.push_back(*std::move(write));
  Principal who = tenant_of(call);
  auto erased = co_await call.service.save_records(who, std::move(writes));
  if (!erased.ok()) co_return fault_reply(request.id, failure_of(erased.error()));
  co_return result_reply(request.id, Value(Value::Object()));
}

}  // namespace belay::a2a
