#include "cli/live_words.h"

#include <algorithm>

namespace belay::cli {
namespace {

// Poll interval for a run that has not started: doubled after each poll, since a run can wait in a
// queue for long.
constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::milliseconds kLongestPause{1'000};
// Larger than the index of any event in a commit.
constexpr std::uint64_t kAfterAll = 1'000'000'000;

// Returns the number of bytes at the end of `text` that begin a character without ending it.
std::size_t open_bytes(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    std::size_t whole = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return whole > back ? back : 0;
  }
  return 0;
}

}  // namespace

std::string WordJoiner::take(const StreamEvent& event) {
  const std::string* text = event.body["text"].as_string();
  if (event.kind != EventKind::messages || event.id || !text) return "";
  Shown& shown = tasks_[event.task];
  bool is_new = last_ != event.task || event.attempt > shown.attempt;
  if (event.attempt < shown.attempt) return "";
  if (event.attempt > shown.attempt) shown = {event.attempt, 0, ""};
  std::uint64_t end_at = event.offset + text->size();
  if (end_at <= shown.bytes) return "";
  std::string_view fresh = *text;
  if (event.offset < shown.bytes) fresh.remove_prefix(shown.bytes - event.offset);
  shown.bytes = end_at;
  std::string whole = std::exchange(shown.rest, "") + std::string(fresh);
  std::size_t open = open_bytes(whole);
  shown.rest = whole.substr(whole.size() - open);
  whole.resize(whole.size() - open);
  if (is_new && last_) whole.insert(0, "\n");
  last_ = event.task;
  return whole;
}

LiveWords::LiveWords(CommandContext& world, ThreadId thread)
    : world_(world), thread_(std::move(thread)) {
  const OutputOptions& options = world.output.options();
  if (!options.live || options.quiet || options.json || thread_.empty()) return;
  std::function<void(Done)> ended = [](Done) {};
  following_ = spawn<Done>(world.executor, follow(), std::move(ended));
}

Task<Done> LiveWords::follow() {
  std::optional<RunId> before;
  bool is_first = true;
  std::chrono::milliseconds pause = kFirstPause;
  while (true) {
    ThreadId thread = thread_;
    auto run = co_await world_.service.run_of(world_.who, std::move(thread), std::nullopt);
    bool is_absent = !run.ok() && run.error().code == ErrorCode::not_found;
    if (!run.ok() && !is_absent) co_return Done{};
    if (run.ok()) {
      bool is_other = !is_first && before != run->run;
      if (is_other || run->status == RunStatus::running) {
        RunRow row = *std::move(run);
        co_return co_await read_words(std::move(row));
      }
      if (is_first) before = run->run;
    }
    is_first = false;
    co_await sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

// Ends at the first error: the command shows the result anyway.
Task<Done> LiveWords::read_words(RunRow run) {
  EventOptions options;
  options.thread = run.thread;
  options.run = run.run;
  options.kinds = {EventKind::messages};
  if (run.seq > 1) options.after = EventId{run.seq - 1, kAfterAll};
  auto reader = co_await world_.service.events(world_.who, std::move(options));
  if (!reader.ok()) co_return Done{};
  while (true) {
    auto events = co_await (*reader)->next();
    if (!events.ok() || events->empty()) co_return Done{};
    for (const StreamEvent& event : *events) world_.output.words(joiner_.take(event));
  }
}

}  // namespace belay::cli
