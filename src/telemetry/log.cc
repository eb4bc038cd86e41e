#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "base/characters.h"
#include "base/start_thread.h"
#include "belay/telemetry.h"
#include "belay/value.h"
#include "store/enum_names.h"

namespace belay {

template <>
inline constexpr std::array<std::string_view, 4> store::enum_names<LogLevel>{"debug", "info",
                                                                             "warning", "error"};
template <>
inline constexpr std::array<std::string_view, 2> store::enum_names<LogFormat>{"text", "json"};

namespace {

constexpr std::chrono::seconds kEndWithin{1};

bool is_plain(std::string_view value) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@";
  return !value.empty() && value.find_first_not_of(kPlain) == value.npos;
}

// A message stays on one line, and cannot move the cursor of a terminal.
std::string printable(std::string_view text) {
  std::string made;
  made.reserve(text.size());
  for (char c : text) {
    made += is_control(c) ? ' ' : c;
  }
  return made;
}

std::string text_line(const LogEntry& entry, Instant time) {
  std::string line = to_text(time);
  line += ' ';
  line += name_of(entry.level);
  line += ' ';
  line += entry.event;
  for (const auto& [name, value] : entry.fields) {
    line += ' ' + name + '=';
    line += is_plain(value) ? value : to_json(Value(value));
  }
  if (!entry.message.empty()) line += ' ' + printable(entry.message);
  line += '\n';
  return line;
}

std::string json_line(const LogEntry& entry, Instant time) {
  std::string line = "{\"time\":\"" + to_text(time) + "\",\"level\":\"";
  line += name_of(entry.level);
  line += "\",\"event\":" + to_json(Value(entry.event));
  for (const auto& [name, value] : entry.fields) {
    line += ',' + to_json(Value(name)) + ':' + to_json(Value(value));
  }
  if (!entry.message.empty()) line += ",\"message\":" + to_json(Value(entry.message));
  line += "}\n";
  return line;
}

// Shared with the thread, which can outlive the log if the sink blocks.
struct Queue {
  Queue(LogOptions wanted, LogSink to) : options(wanted), sink(std::move(to)) {}

  const LogOptions options;
  const LogSink sink;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> lines;
  std::uint64_t dropped = 0;
  Instant newest;  // of the entries
  bool is_ending = false;
  bool has_ended = false;
};

class QueuedLog final : public Log {
 public:
  QueuedLog(Clock& clock, LogOptions options, LogSink sink)
      : clock_(clock), queue_(std::make_shared<Queue>(options, std::move(sink))) {
    // The thread reads no clock: it can outlive the clock.
    thread_ = start_thread([queue = queue_] { write_lines(*queue); });
  }

  ~QueuedLog() override {
    {
      std::unique_lock lock(queue_->mutex);
      queue_->is_ending = true;
      queue_->changed.notify_all();
      queue_->changed.wait_for(lock, kEndWithin, [this] { return queue_->has_ended; });
      if (!queue_->has_ended) {
        thread_.detach();
        return;
      }
    }
    thread_.join();
  }

  bool wants(LogLevel level) const override { return level >= queue_->options.level; }

  void write(LogEntry entry) override {
    if (!wants(entry.level)) return;
    Instant now = clock_.now();
    std::string line = line_of(entry, now, queue_->options.format);
    std::lock_guard lock(queue_->mutex);
    queue_->newest = now;
    if (queue_->lines.size() >= queue_->options.entries_max) {
      ++queue_->dropped;
      return;
    }
    add_dropped(*queue_);
    queue_->lines.push_back(std::move(line));
    queue_->changed.notify_all();
  }

 private:
  static std::string line_of(const LogEntry& entry, Instant time, LogFormat format) {
    return format == LogFormat::json ? json_line(entry, time) : text_line(entry, time);
  }

  // Adds the entry about dropped ones: before the first that fits again, or at the end.
  static void add_dropped(Queue& queue) {
    if (queue.dropped == 0) return;
    LogEntry entry;
    entry.level = LogLevel::warning;
    entry.event = "log.dropped";
    entry.message = "The log could not be written in time.";
    entry.fields = {{"entries", std::to_string(std::exchange(queue.dropped, 0))}};
    queue.lines.push_back(line_of(entry, queue.newest, queue.options.format));
  }

  static void write_lines(Queue& queue) {
    std::unique_lock lock(queue.mutex);
    while (true) {
      queue.changed.wait(lock, [&] { return queue.is_ending || !queue.lines.empty(); });
      bool is_last = queue.lines.empty();
      if (is_last) add_dropped(queue);
      if (queue.lines.empty()) break;
      std::string lines;
      std::uint64_t count = queue.lines.size();
      for (const std::string& line : queue.lines) lines += line;
      queue.lines.clear();
      lock.unlock();
      bool is_written = queue.sink(lines);
      lock.lock();
      // A sink that refuses the last entry is not asked again.
      if (!is_written && is_last) break;
      if (!is_written) queue.dropped += count;
    }
    queue.has_ended = true;
    queue.changed.notify_all();
  }

  Clock& clock_;
  const std::shared_ptr<Queue> queue_;
  std::thread thread_;
};

bool write_whole(int descriptor, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    bool is_full = written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (!is_full) return false;
    pollfd ready{descriptor, POLLOUT, 0};
    (void)::poll(&ready, 1, -1);
  }
  return true;
}

}  // namespace

std::string_view name_of(LogLevel level) { return store::enum_name(level); }
std::string_view name_of(LogFormat format) { return store::enum_name(format); }

std::optional<LogLevel> log_level_named(std::string_view name) {
  return store::enum_named<LogLevel>(name);
}

std::optional<LogFormat> log_format_named(std::string_view name) {
  return store::enum_named<LogFormat>(name);
}

LogSink log_to_descriptor(int descriptor) {
  return [descriptor](std::string_view lines) { return write_whole(descriptor, lines); };
}

std::unique_ptr<Log> make_log(Clock& clock, LogOptions options, LogSink sink) {
  return std::make_unique<QueuedLog>(clock, options, std::move(sink));
}

}  // namespace belay
