// The log: its two formats, and sinks that block or fail.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <sstream>

#include "belay/telemetry.h"
#include "belay/value.h"

namespace belay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class FixedClock final : public Clock {
 public:
  Instant now() override { return *instant_from("2026-11-26T12:00:00.5Z"); }
};

// A sink whose calls block, or fail, as long as the test wants.
class ControlledSink {
 public:
  LogSink sink() {
    return [state = state_](std::string_view lines) {
      std::unique_lock lock(state->mutex);
      ++state->calls;
      state->changed.notify_all();
      state->changed.wait(lock, [&] { return !state->blocks; });
      if (state->fails) {
        ++state->failures;
        state->changed.notify_all();
        return false;
      }
      state->text += lines;
      return true;
    };
  }
  void block(bool blocks) {
    std::lock_guard lock(state_->mutex);
    state_->blocks = blocks;
    state_->changed.notify_all();
  }
  void fail(bool fails) {
    std::lock_guard lock(state_->mutex);
    state_->fails = fails;
  }
  void wait_for_calls(int count) {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->calls >= count; });
  }
  void wait_for_failures(int count) {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->failures >= count; });
  }
  bool contains(const std::string& text) {
    std::lock_guard lock(state_->mutex);
    return state_->text.find(text) != std::string::npos;
  }
  std::vector<std::string> lines() {
    std::lock_guard lock(state_->mutex);
    std::vector<std::string> found;
    std::istringstream text(state_->text);
    for (std::string line; std::getline(text, line);) found.push_back(line);
    return found;
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::string text;
    int calls = 0;
    int failures = 0;
    bool blocks = false;
    bool fails = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();  // the log's thread can outlive it
};

LogEntry entry_of(LogLevel level, std::string event, std::string message = "") {
  LogEntry entry;
  entry.level = level;
  entry.event = std::move(event);
  entry.message = std::move(message);
  return entry;
}

std::vector<std::string> written(LogOptions options, const std::vector<LogEntry>& entries) {
  FixedClock clock;
  ControlledSink sink;
  {
    auto log = make_log(clock, options, sink.sink());
    for (const LogEntry& entry : entries) log->write(entry);
  }
  return sink.lines();
}

TEST(Logs, AreLinesOfText) {
  LogEntry entry = entry_of(LogLevel::error, "run.failed", "The model\nsaid: \x1b[31mno");
  entry.fields = {{"thread", "a b\"c"}, {"run", "01-2"}, {"node", ""}};
  EXPECT_THAT(written({}, {entry}),
              ElementsAre("2026-11-26T12:00:00.500000Z error run.failed thread=\"a b\\\"c\" "
                          "run=01-2 node=\"\" The model said:  [31mno"));
}

TEST(Logs, AreLinesOfJson) {
  LogEntry entry = entry_of(LogLevel::warning, "node.failed", "line one\nline \"two\"");
  entry.fields = {{"thread", "t\n"}};
  LogOptions options;
  options.format = LogFormat::json;
  auto lines = written(options, {entry});
  ASSERT_EQ(lines.size(), 1u);
  Value value = parse_json(lines[0]).value();
  EXPECT_EQ(value["time"], Value("2026-11-26T12:00:00.500000Z"));
  EXPECT_EQ(value["level"], Value("warning"));
  EXPECT_EQ(value["event"], Value("node.failed"));
  EXPECT_EQ(value["thread"], Value("t\n"));
  EXPECT_EQ(value["message"], Value("line one\nline \"two\""));
}

TEST(Logs, LeaveOutEntriesBelowTheirLevel) {
  LogOptions options;
  options.level = LogLevel::warning;
  auto lines = written(options, {entry_of(LogLevel::debug, "a"), entry_of(LogLevel::info, "b"),
                                 entry_of(LogLevel::warning, "c"), entry_of(LogLevel::error, "d")});
  EXPECT_THAT(lines, ElementsAre(HasSubstr(" c"), HasSubstr(" d")));
  FixedClock clock;
  auto log = make_log(clock, options, [](std::string_view) { return true; });
  EXPECT_FALSE(log->wants(LogLevel::info));
  EXPECT_TRUE(log->wants(LogLevel::warning));
}

TEST(Logs, ThatCannotBeWrittenDropEntriesAndCountThem) {
  FixedClock clock;
  ControlledSink sink;
  LogOptions options;
  options.entries_max = 3;
  {
    auto log = make_log(clock, options, sink.sink());
    sink.block(true);
    log->write(entry_of(LogLevel::info, "first"));
    sink.wait_for_calls(1);
    for (int i = 0; i < 100; ++i) log->write(entry_of(LogLevel::info, "more"));
    sink.block(false);
    sink.wait_for_calls(2);
    log->write(entry_of(LogLevel::info, "later"));
  }
  EXPECT_THAT(sink.lines(), ElementsAre(HasSubstr("first"), HasSubstr("more"), HasSubstr("more"),
                                        HasSubstr("more"), HasSubstr("log.dropped entries=97"),
                                        HasSubstr("later")));
}

TEST(Logs, CountTheEntriesThatTheirSinkHasRefused) {
  FixedClock clock;
  ControlledSink sink;
  sink.fail(true);
  {
    auto log = make_log(clock, {}, sink.sink());
    log->write(entry_of(LogLevel::info, "lost"));
    sink.wait_for_failures(1);
    sink.fail(false);
    // The count is taken when the call has returned, and reported with a later entry.
    for (int i = 0; i < 1'000 && !sink.contains("log.dropped"); ++i) {
      log->write(entry_of(LogLevel::info, "kept"));
      ::usleep(10'000);
    }
  }
  EXPECT_THAT(sink.lines(), testing::Contains(HasSubstr("log.dropped entries=1 ")));
}

TEST(Logs, CountAtTheirEndWhatWasDroppedLast) {
  FixedClock clock;
  ControlledSink sink;
  sink.fail(true);
  {
    auto log = make_log(clock, {}, sink.sink());
    log->write(entry_of(LogLevel::info, "lost"));
    sink.wait_for_failures(1);
    sink.fail(false);
  }
  EXPECT_THAT(sink.lines(),
              ElementsAre(HasSubstr("12:00:00.500000Z warning log.dropped entries=1 ")));
}

TEST(Logs, EndWithASinkThatFailsForever) {
  FixedClock clock;
  ControlledSink sink;
  sink.fail(true);
  {
    auto log = make_log(clock, {}, sink.sink());
    log->write(entry_of(LogLevel::info, "lost"));
  }
  EXPECT_THAT(sink.lines(), ElementsAre());
}

TEST(Logs, EndWithinASecondIfTheirSinkBlocks) {
  FixedClock clock;
  ControlledSink sink;
  sink.block(true);
  {
    auto log = make_log(clock, {}, sink.sink());
    log->write(entry_of(LogLevel::info, "stuck"));
    sink.wait_for_calls(1);
  }
  EXPECT_THAT(sink.lines(), ElementsAre());
  sink.block(false);
}

TEST(Logs, OfADescriptorAreWrittenWhole) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
  std::string text(200'000, 'x');
  text += '\n';
  std::string read;
  LogSink sink = log_to_descriptor(ends[1]);
  std::thread writer([&] {
    EXPECT_TRUE(sink(text));
    ::close(ends[1]);
  });
  char part[4096];
  while (true) {
    ssize_t count = ::read(ends[0], part, sizeof part);
    if (count > 0) read.append(part, static_cast<std::size_t>(count));
    if (count == 0) break;
  }
  writer.join();
  EXPECT_EQ(read, text);
  ::close(ends[0]);
  EXPECT_FALSE(log_to_descriptor(ends[1])("x\n")) << "closed";
}

TEST(Logs, HaveNamesForLevelsAndFormats) {
  for (const char* name : {"debug", "info", "warning", "error"}) {
    auto level = log_level_named(name);
    ASSERT_TRUE(level) << name;
    EXPECT_EQ(name_of(*level), name);
  }
  EXPECT_FALSE(log_level_named("loud"));
  EXPECT_EQ(log_format_named("json"), LogFormat::json);
  EXPECT_EQ(log_format_named("text"), LogFormat::text);
  EXPECT_FALSE(log_format_named("xml"));
}

}  // namespace
}  // namespace belay
