#pragma once
// belay/detail/node_effects.h - the rows, events and text that a node's attempt adds to its commit.

#include <memory>
#include <string>
#include <vector>

#include "belay/model.h"
#include "belay/record.h"
#include "belay/rows.h"
#include "belay/value.h"

namespace belay {

// The contents of a node's commit in addition to its Update.
struct NodeEffects {
  struct CustomEvent {
    std::string name;
    Value body;
    std::string type = "custom";  // of its EventRow; a "message" has no name
  };
  // A message of the outbox.
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
