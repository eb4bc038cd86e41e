#pragma once
// tests/crash/sent_messages.h - the steering messages of a run, and a comparison with the used
// ones.

#include <string>
#include <vector>

#include "belay/value.h"

namespace belay::crash {

struct SentMessage {
  std::string text;
  // False: the sender was killed, and no result is known of it. The message may be used once.
  bool is_accepted = true;
};

// Returns the words of the steering messages that the state of a goal's run contains, in order.
// Each message is one word.
std::vector<std::string> used_messages(const Value& state);

// Returns the faults: accepted messages that were not used, messages that were used several times,
// in another order, or were never sent. The sent messages are in the order of their acceptance.
std::vector<std::string> message_faults(const std::vector<SentMessage>& sent,
                                        const std::vector<std::string>& used);

}  // namespace belay::crash
