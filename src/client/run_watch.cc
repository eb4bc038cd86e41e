#include "client/run_watch.h"

namespace belay::client {
namespace {

// Poll interval for a thread that does not exist yet.
constexpr std::chrono::milliseconds kNotBegun{50};
// Larger than the index of any event in a commit.
constexpr std::uint64_t kLastIndex = 1'000'000'000;

}  // namespace

RunWatch::RunWatch(Connection& connection, Executor& executor, const ProgressObserver& observer,
                   ThreadId thread, std::optional<RunId> run, std::uint64_t after)
    : connection_(connection),
      executor_(executor),
      observer_(observer),
      thread_(std::move(thread)),
      run_(run),
      after_(after),
      seen_(after) {
  std::function<void(Done)> ended = [this](Done) {
    has_ended_ = true;
    news_.complete(Done{});
  };
  watching_ = spawn<Done>(executor_, watch(), std::move(ended));
}

RunWatch::~RunWatch() { executor_.cancel(timer_); }

Task<Done> RunWatch::news(std::chrono::milliseconds at_most) {
  if (has_ended_) {
    co_await sleep_for(at_most);
    co_return Done{};
  }
  news_ = Completion<Done>();
  timer_ = executor_.call_after(at_most, [news = news_] { news.complete(Done{}); });
  co_await news_;
  executor_.cancel(timer_);
  co_return Done{};
}

Task<Done> RunWatch::reach(std::uint64_t seq, std::chrono::milliseconds at_most) {
  constexpr std::chrono::milliseconds step{20};
  while (seen_ < seq && !has_ended_ && at_most.count() > 0) {
    auto wait = std::min(step, at_most);
    at_most -= wait;
    co_await sleep_for(wait);
  }
  co_return Done{};
}

Task<Done> RunWatch::watch() {
  while (true) {
    EventOptions options;
    options.thread = thread_;
    options.run = run_;
    options.kinds = ProgressEvents::kinds();
    // Includes the last known commit: the duration of the next one is measured from it.
    if (after_ > 1) options.after = EventId{after_ - 1, kLastIndex};
    auto reader = co_await RemoteEvents::open(connection_, std::move(options));
    if (reader.ok()) co_return co_await read(**reader);
    ErrorCode code = reader.error().code;
    bool may_come = code == ErrorCode::not_found || code == ErrorCode::unavailable;
    if (!may_come) co_return Done{};
    co_await sleep_for(kNotBegun);
  }
}

// Ends at the first error: the call that waits for the run polls its status anyway.
Task<Done> RunWatch::read(EventReader& reader) {
  while (true) {
    auto events = co_await reader.next();
    if (!events.ok() || events->empty()) co_return Done{};
    for (const StreamEvent& event : *events) take(event);
    news_.complete(Done{});
  }
}

void RunWatch::take(const StreamEvent& event) {
  auto said = progress_.take(event);
  if (!event.id) return;
  bool is_new = event.id->seq > after_;
  if (said && is_new && observer_) observer_(*said);
  bool is_commit = event.kind == EventKind::checkpoints && event.checkpoint_ns.empty();
  // The event of a final status follows that of its commit.
  if (is_commit || event.kind == EventKind::status) seen_ = std::max(seen_, event.id->seq);
}

}  // namespace belay::client
