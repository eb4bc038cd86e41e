#include "tests/crash/steering_sender.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace belay::crash {

std::string SteeringSender::send(const std::vector<std::string>& threads) {
  if (threads.empty()) return "";
  const std::string& thread = threads[random_.bits() % threads.size()];
  std::vector<SentMessage>& sent = sent_[thread];
  std::string number = std::to_string(sent.size());
  SentMessage message{"message-" + number, false};
  Words words = {"steer", thread, message.text, "--id", thread + "-" + number};
  if (random_.bits() % 4 == 0) {
    cli::tests::Belay sender(words, setting_);
    std::this_thread::sleep_for(std::chrono::milliseconds(random_.bits() % 60));
    sender.send(SIGKILL);
    sender.finish();
  }
  // Sent again after a kill: the id prevents that it is stored twice.
  cli::tests::Outcome stored = tell_(words);
  message.is_accepted = stored.code == 0;
  bool is_refused = stored.err.find("has ended") != std::string::npos;
  if (!message.is_accepted && !is_refused) errors_[thread] = stored.err;
  accepted_ += message.is_accepted;
  sent.push_back(message);
  return message.is_accepted ? thread : "";
}

bool SteeringSender::waits(const std::string& thread) const {
  Value listed = tell_({"steer", thread, "--json"}).json()["messages"];
  const Value::Array* messages = listed.as_array();
  return messages && std::any_of(messages->begin(), messages->end(),
                                 [](const Value& each) { return each["waits"] == Value(true); });
}

std::vector<std::string> SteeringSender::faults(const std::string& thread,
                                                const std::vector<std::string>& used) {
  std::vector<std::string> faults = message_faults(sent_[thread], used);
  auto error = errors_.find(thread);
  if (error != errors_.end()) faults.push_back("did not accept a message: " + error->second);
  return faults;
}

}  // namespace belay::crash
