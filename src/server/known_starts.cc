// Repeated starts, which find the run of their key, and threads that a caller does not see.

#include "base/run_of_key.h"
#include "server/routes.h"
#include "service/run_request.h"

namespace belay::server {

Task<bool> finds_run_of(const Call& call, StartNames names) {
  bool is_of_key = names.thread.empty();
  if (names.key.empty()) co_return false;
  auto run =
      co_await call.service.run(call.who, run_of_key(call.who.tenant, names.user, names.key));
  if (run.ok()) co_return true;
  // The run of an agent with one run per thread has another id.
  if (!is_of_key) {
    auto has_one = co_await has_one_run_per_thread(call.service, call.who, std::move(names.agent));
    if (!has_one.ok() || !*has_one) co_return false;
  }
  ThreadId thread = is_of_key ? thread_of_key(names.user, names.key) : std::move(names.thread);
  auto there = co_await call.service.run_of(call.who, std::move(thread), std::nullopt);
  co_return there.ok();
}

Task<bool> finds_run_of_header(const Call& call) {
  StartNames names;
  auto agent = call.path.find("agent");
  auto thread = call.path.find("threadId");
  const std::string* named_thread = call.body["threadId"].as_string();
  const std::string* named_user = call.body["userId"].as_string();
  if (agent != call.path.end()) names.agent = agent->second;
  if (thread != call.path.end()) names.thread = ThreadId(thread->second);
  if (named_thread) names.thread = ThreadId(*named_thread);
  names.user = named_user ? UserId(*named_user) : call.who.user;
  names.key = call.request.header("Idempotency-Key");
  return finds_run_of(call, std::move(names));
}

Task<bool> is_hidden_thread(const Call& call, ThreadId thread) {
  auto run = co_await call.service.run_of(call.who, std::move(thread), std::nullopt);
  co_return !run.ok() && run.error().code == ErrorCode::not_found;
}

}  // namespace belay::server
