#include "langgraph/sent_before.h"

#include <algorithm>

#include "base/run_of_key.h"
#include "langgraph/records.h"
#include "langgraph/state.h"

namespace belay::langgraph {
namespace {

using server::Call;

std::string id_of_key(const Call& call, const ThreadId& thread, std::string_view key) {
  Digest digest =
      sha256("langgraph run\n" + call.who.user.text + '\n' + thread.text + '\n' + std::string(key));
  Uuid id;
  std::copy_n(digest.begin(), id.bytes.size(), id.bytes.begin());
  return id.text();
}

bool can_be_answered_again(RunStatus status) {
  return is_final(status) && status != RunStatus::completed;
}

}  // namespace

RequestRandom::RequestRandom(const Call& call, Random& random) : random_(random) {
  std::string_view key = call.request.header("Idempotency-Key");
  if (key.empty()) return;
  seed_ = "langgraph ids\n" + call.who.tenant.text + '\n' + call.who.user.text + '\n';
  seed_ += key;
}

std::uint64_t RequestRandom::bits() {
  if (seed_.empty()) return random_.bits();
  Digest digest = sha256(seed_ + '\n' + std::to_string(count_++));
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof bits; ++i) bits = bits << 8 | digest[i];
  return bits;
}

Task<Result<SentBefore>> sent_before(const Call& call, const ThreadView& thread) {
  SentBefore before;
  std::string key(call.request.header("Idempotency-Key"));
  if (key.empty()) co_return std::move(before);
  UserId user = thread.user;
  std::string id = id_of_key(call, thread.id, key);
  BELAY_CO_TRY(auto record, co_await existing_record(call, std::move(user), std::move(id)));
  before.has_continued = record.has_value();
  auto row = co_await call.service.run(call.who, run_of_key(call.who.tenant, thread.user, key));
  bool is_absent = !row.ok() && row.error().code == ErrorCode::not_found;
  if (!row.ok() && !is_absent) co_return std::move(row).error();
  bool is_of_thread = row.ok() && row->thread == thread.id;
  if (is_of_thread) before.started = *std::move(row);
  co_return std::move(before);
}

Task<Result<Done>> set_checkpoint(const Call& call, WantedRun& wanted) {
  const ThreadView* thread = wanted.thread ? &*wanted.thread : nullptr;
  const RunBody& body = wanted.body;
  bool has_ended = thread && thread->has_run() && is_final(thread->listed->run->status);
  bool continues = body.input.is_null() && body.resume.is_null() && !body.change && has_ended;
  bool answers =
      !body.resume.is_null() && has_ended && can_be_answered_again(thread->listed->run->status);
  bool begins_at_newest = continues || answers || wanted.forks;
  std::string checkpoint = body.checkpoint;
  auto from = co_await commit_of_checkpoint(call, thread, std::move(checkpoint), begins_at_newest);
  if (!from.ok() && from.error().code != ErrorCode::not_found) co_return std::move(from).error();
  // Read after the checkpoint: one that another request has made the second newest in between
  // belongs to a run that is found here.
  SentBefore before;
  if (thread) {
    BELAY_CO_TRY(before, co_await sent_before(call, *thread));
  }
  wanted.was_started = before.started.has_value();
  if (before.has_continued) {
    from = std::optional<RunCommit>();
  } else if (before.started) {
    std::optional<RunCommit> origin = origin_of(*before.started);
    bool names_it = origin && from.ok() && *from;  // the service compares them
    if (!names_it) from = std::move(origin);
  }
  BELAY_CO_TRY(wanted.from, std::move(from));
  co_return Done{};
}

std::string continuing_id(AgentServer& served, const Call& call, const WantedRun& wanted) {
  std::string_view key = call.request.header("Idempotency-Key");
  if (!key.empty() && wanted.thread) return id_of_key(call, wanted.thread->id, key);
  return random_uuid(served.world.parts.random).text();
}

Task<Result<std::optional<ProtocolRun>>> known_run(const Call& call, WantedRun& wanted) {
  bool is_resume = !wanted.body.resume.is_null();
  bool passes = wanted.body.input.is_null() && !wanted.body.change && !wanted.from;
  bool has_key = !call.request.header("Idempotency-Key").empty();
  bool may_be_known = (is_resume || passes) && has_key && wanted.thread;
  if (!may_be_known) co_return std::optional<ProtocolRun>();
  std::string id = wanted.continuing_id;
  UserId user = wanted.thread->user;
  UserId owner = user;
  BELAY_CO_TRY(auto record, co_await existing_record(call, std::move(owner), std::move(id)));
  if (!record) co_return std::optional<ProtocolRun>();
  if (record->is_partial) {
    wanted.unbegun = std::move(record);
    co_return std::optional<ProtocolRun>();
  }
  id = wanted.continuing_id;
  auto run = co_await find_run_by_id(call, std::move(id), std::move(user));
  bool is_known = run.ok() && run->record.after == record->after;
  if (is_known) co_return std::optional(*std::move(run));
  bool is_absent = run.ok() || run.error().code == ErrorCode::not_found;
  if (!is_absent) co_return std::move(run).error();
  wanted.unbegun = std::move(record);
  co_return std::optional<ProtocolRun>();
}

}  // namespace belay::langgraph
