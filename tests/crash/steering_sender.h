#pragma once
// tests/crash/steering_sender.h - sends steering messages to the runs of a fleet.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "belay/testing.h"
#include "tests/cli/belay_process.h"
#include "tests/crash/sent_messages.h"

namespace belay::crash {

class SteeringSender {
 public:
  using Words = cli::tests::Words;
  // `tell` executes a command, and may repeat it. Both must outlive the object.
  SteeringSender(const cli::tests::Setting& setting,
                 std::function<cli::tests::Outcome(const Words&)> tell, std::uint64_t seed)
      : setting_(setting), tell_(std::move(tell)), random_(seed) {}

  // Sends the next message to one of these threads, and kills some of the senders. Returns the
  // thread; empty: its run has ended.
  std::string send(const std::vector<std::string>& threads);
  // Returns whether a message waits.
  bool waits(const std::string& thread) const;
  std::size_t accepted() const { return accepted_; }
  // Compares the messages of a run with those that it has used; with the errors of send().
  std::vector<std::string> faults(const std::string& thread, const std::vector<std::string>& used);

 private:
  const cli::tests::Setting& setting_;
  const std::function<cli::tests::Outcome(const Words&)> tell_;
  testing::SeededRandom random_;
  std::map<std::string, std::vector<SentMessage>> sent_;  // by thread
  std::map<std::string, std::string> errors_;             // likewise, the last one
  std::size_t accepted_ = 0;
};

}  // namespace belay::crash
