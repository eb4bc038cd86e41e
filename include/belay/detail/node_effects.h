#pragma once
// belay/detail/node_effects.h - what an attempt of a node has said to its Context, for its commit.

#include <memory>
#include <string>
#include <vector>

#include "belay/model.h"
#include "belay/record.h"
#include "belay/rows.h"
#include "belay/value.h"

namespace belay {

// What a node leaves for its commit, apart from its Update.
struct NodeEffects {
  struct CustomEvent {
    std::string name;
    Value body;
    std::string type = "custom";  // of its EventRow; "message" has no name
  };
  // To be delivered outside, at least once, after the commit.
  struct Message {
    std::string topic;
    Value body;
  };
  std::vector<RecordWrite> records;
  std::vector<CustomEvent> events;
  std::vector<Message> messages;
  std::vector<EffectRow> journal;
  std::size_t journaled = 0;  // the task's rows in the journal when it ended
  std::string outcome;
  std::string text;  // streamed by the attempt so far
  // For all replies of the model; decided, and null, once the attempt's outcome is known.
  std::shared_ptr<AnswerVerdict> answers;
};

}  // namespace belay
