#pragma once
// a2a/a2a_endpoint.h - A2aEndpoint: the agents of a service as agents of A2A (docs/a2a.md).
//
// A task is a run, and its id is that of the run; the context is its thread. Every server on the
// store can therefore answer for it, also after a restart. Requests depend on nothing but
// themselves and the store.
//
// Threading: the loop's thread.

#include <memory>
#include <variant>

#include "a2a/a2a_message.h"
#include "a2a/a2a_options.h"
#include "a2a/a2a_task.h"
#include "a2a/push_delivery.h"
#include "a2a/task_list.h"
#include "server/routes.h"

namespace belay::a2a {

// True if the message of a request has started a run before: server::Route::finds_run.
Task<bool> finds_task(const server::Call& call);

class A2aEndpoint {
 public:
  A2aEndpoint(server::ApiContext& world, A2aOptions options);

  // Begins to send the changes of tasks to the addresses of push notification configs.
  void start_delivery();

  // Answers a request to `request.agent`, with a stream if its method has one.
  Task<server::Reply> answer(server::Call call, A2aRequest request);
  // The card of an agent, or of the server if `agent` is empty.
  Task<Result<server::Reply>> card(server::Call call, std::string agent);

 private:
  template <typename T>
  using Outcome = std::variant<T, Failure>;

  Task<server::Reply> send(server::Call& call, const A2aRequest& request, const Value& agent);
  Task<Outcome<RunView>> start(server::Call& call, const A2aRequest& request, const Value& agent,
                               SentMessage message);
  Task<Outcome<RunView>> reply_to_approval(server::Call& call, const A2aRequest& request,
                                           SentMessage message);
  Task<Outcome<InterruptId>> bound_approval(server::Call& call, RunRow run, SentMessage message);
  Task<Outcome<RunView>> decide(server::Call& call, const RunRow& run, InterruptId interrupt,
                                SentMessage message);
  Task<Result<RunView>> rested(server::Call& call, RunView view, Instant until);
  Task<server::Reply> get(server::Call& call, const A2aRequest& request);
  Task<server::Reply> list(server::Call& call, const A2aRequest& request);
  Task<Result<std::vector<RunRow>>> listed_runs(server::Call& call, const TaskQuery& query);
  Task<server::Reply> cancel(server::Call& call, const A2aRequest& request);
  Task<server::Reply> subscribe(server::Call& call, const A2aRequest& request);
  Task<server::Reply> stream_of(server::Call& call, const Value& id, RunView view,
                                const TaskForm& form, std::optional<EventId> after,
                                bool ends_with_pause);
  Task<server::Reply> push_config(server::Call& call, const A2aRequest& request);
  Task<server::Reply> create_config(server::Call& call, const A2aRequest& request);
  Task<server::Reply> read_configs(server::Call& call, const A2aRequest& request);
  Task<server::Reply> delete_config(server::Call& call, const A2aRequest& request);
  Task<Outcome<RunRow>> configured_run(server::Call& call, const A2aRequest& request);
  std::optional<Failure> check_config(const SentMessage& message) const;
  Task<std::optional<Failure>> add_sent_config(const server::Call& call, RunId run, Value config);
  Task<std::optional<Failure>> add_config(const server::Call& call, RunId run, A2aPush push);
  Task<Result<Done>> try_to_add(const server::Call& call, A2aPush push);
  Task<Outcome<RunView>> view_of(server::Call& call, const A2aRequest& request);
  Task<Outcome<RunRow>> run_of(server::Call& call, std::string task, std::string agent);

  server::ApiContext& world_;
  const A2aOptions options_;
  std::unique_ptr<PushDelivery> delivery_;  // null: no push notifications
};

}  // namespace belay::a2a
