#include "server/mcp_progress.h"

#include <algorithm>

namespace belay::server {
namespace {

// The interval at which a run that does not exist yet is looked for, and its maximum.
constexpr std::chrono::milliseconds kFirstPause{20};
constexpr std::chrono::milliseconds kLongestPause{1'000};

}  // namespace

const Value& progress_token_of(const McpMessage& message) {
  return message.params["_meta"]["progressToken"];
}

Task<std::optional<McpReply>> ProgressStream::begin(Task<McpReply> reply) {
  std::function<void(McpReply)> on_reply = [this](McpReply made) {
    reply_ = std::move(made);
    wake_.complete(Done{});
  };
  std::function<void(Done)> nothing = [](Done) {};
  replying_ = spawn<McpReply>(executor_, std::move(reply), std::move(on_reply));
  if (!run_.thread.empty()) following_ = spawn<Done>(executor_, follow(), std::move(nothing));
  while (!reply_ && ended_ == 0) {
    wake_ = Completion<Done>();
    co_await wake_;
  }
  co_return std::move(reply_);
}

Task<std::optional<Value>> ProgressStream::next() {
  while (!has_replied_) {
    if (ended_ > reported_) {
      reported_ = ended_;
      Value::Object params{{"message", "The step \"" + last_step_ + "\" has ended."},
                           {"progress", ended_},
                           {"progressToken", token_}};
      co_return mcp_notification("notifications/progress", std::move(params));
    }
    if (reply_) {
      has_replied_ = true;
      co_return std::move(reply_->document);
    }
    wake_ = Completion<Done>();
    co_await wake_;
  }
  co_return std::nullopt;
}

// Returns the run when it exists. An older run of the thread, which has ended, is not it.
Task<RunId> ProgressStream::found_run() {
  std::chrono::milliseconds pause = kFirstPause;
  while (true) {
    auto row = co_await run_.service.run_of(run_.who, run_.thread, std::nullopt);
    if (row.ok() && !is_final(row->status)) {
      if (start_ && row->created_at >= start_->asked_at) start_->keep();
      co_return row->run;
    }
    co_await sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

Task<Done> ProgressStream::follow() {
  EventOptions options;
  options.run = co_await found_run();
  options.thread = run_.thread;
  options.kinds = {EventKind::tasks};
  options.poll_max = kLongestPause;
  auto reader = co_await run_.service.events(run_.who, std::move(options));
  if (!reader.ok()) co_return Done{};
  while (true) {
    auto events = co_await (*reader)->next();
    // The reply reports a failure of the store, or does not depend on it.
    if (!events.ok() || events->empty()) co_return Done{};
    for (const StreamEvent& event : *events) {
      if (event.body["event"] != Value("ended")) continue;
      ++ended_;
      last_step_ = event.node;
    }
    wake_.complete(Done{});
  }
}

}  // namespace belay::server
