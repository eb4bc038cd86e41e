// A2aEndpoint: the configs of push notifications.

#include <algorithm>

#include "a2a/a2a_endpoint.h"

namespace belay::a2a {
namespace {

using server::Call;
using server::Reply;

constexpr std::size_t kConfigsMax = 10;

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
  if (auto failure = read_text(request.params, "taskId", task)) co_return *std::move(failure);
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
  std::string task = push.task;
  auto others = co_await configs_of(call, std::move(task));
  if (!others.ok()) co_return failure_of(others.error());
  std::erase_if(*others, [&push](const A2aPush& other) { return other.id == push.id; });
  if (others->size() >= kConfigsMax) {
    co_return Failure{Fault::invalid_params, "A task can have at most 10 configs."};
  }
  auto write = record_write(push, UserId());
  if (!write.ok()) co_return failure_of(write.error());
  std::vector<RecordWrite> writes;
  writes.push_back(*std::move(write));
  Principal who = tenant_of(call);
  auto saved = co_await call.service.save_records(who, std::move(writes));
  if (!saved.ok()) co_return failure_of(saved.error());
  start_delivery();
  co_return std::nullopt;
}

Task<Reply> A2aEndpoint::read_configs(Call& call, const A2aRequest& request) {
  auto found = co_await configured_run(call, request);
  if (auto* failure = std::get_if<Failure>(&found)) co_return fault_reply(request.id, *failure);
  std::string task = std::get<RunRow>(found).run.text();
  auto pushes = co_await configs_of(call, std::move(task));
  if (!pushes.ok()) co_return fault_reply(request.id, failure_of(pushes.error()));
  Value::Array configs;
  for (const A2aPush& push : *pushes) configs.push_back(config_of(push));
  if (request.method == "ListTaskPushNotificationConfigs") {
    Value page = Value::object({{"configs", std::move(configs)}, {"nextPageToken", ""}});
    co_return result_reply(request.id, std::move(page));
  }
  const Value& id = request.params["id"];
  auto named = std::find_if(configs.begin(), configs.end(),
                            [&id](const Value& config) { return config["id"] == id; });
  if (named != configs.end()) co_return result_reply(request.id, std::move(*named));
  Failure absent{Fault::unknown_task, "The task has no such config."};
  co_return fault_reply(request.id, absent);
}

Task<Reply> A2aEndpoint::delete_config(Call& call, const A2aRequest& request) {
  auto found = co_await configured_run(call, request);
  if (auto* failure = std::get_if<Failure>(&found)) co_return fault_reply(request.id, *failure);
  A2aPush push;
  if (auto failure = read_text(request.params, "id", push.config)) {
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
