// Texts that another process streams again after the end of the first one: each message has one of
// the texts, whole or as far as it was streamed.

#include <gtest/gtest.h>

#include <map>

#include "ag_ui/event_translator.h"
#include "base/text_in.h"

namespace belay::ag_ui {
namespace {

using Part = StreamEvent;

const TaskId kTask(derived_uuid("task"));

Part delta(std::uint64_t offset, const std::string& text, int attempt = 1) {
  Part event;
  event.kind = EventKind::messages;
  event.task = kTask;
  event.attempt = attempt;
  event.offset = offset;
  event.body = Value::object({{"text", text}});
  return event;
}

Part durable(std::uint64_t seq, const std::string& text, int attempt = 1) {
  Part event = delta(0, text, attempt);
  event.id = EventId{seq, 2};
  return event;
}

Part failed_attempt(std::uint64_t seq) {
  Part event;
  event.kind = EventKind::tasks;
  event.id = EventId{seq, 1};
  event.task = kTask;
  event.body = Value::object({{"event", "attemptFailed"}, {"attempt", 1}});
  return event;
}

struct TextClient {
  // Returns the events that a client receives from one stream, which begins after a position.
  AgUiEvents read(const std::vector<Part>& parts, std::string after = {}) {
    std::optional<StreamPosition> received;
    if (!after.empty()) received = stream_position_from(after);
    EXPECT_TRUE(after.empty() || received) << after;
    EventTranslator translator(
        Segment{"t", "r", RunId(derived_uuid("run"))},
        [](const Value&, bool) { return std::vector<conversation::ChatEntry>(); }, received);
    AgUiEvents events = translator.begin();
    for (const Part& part : parts) {
      for (AgUiEvent& each : translator.translate(part)) events.push_back(std::move(each));
    }
    return events;
  }
  // Adds them to what the client shows, and checks the order that clients require.
  void show(const AgUiEvents& events) {
    for (const AgUiEvent& event : events) {
      std::string type = text_in(event.event, "type"), named = text_in(event.event, "messageId");
      EXPECT_TRUE(ids.insert(event.position.text()).second) << event.position.text();
      last = event.position.text();
      if (type == "TEXT_MESSAGE_START") {
        EXPECT_TRUE(texts.emplace(named, "").second) << named << " begins twice";
        order.push_back(named);
        open.insert(named);
      } else if (type == "TEXT_MESSAGE_CONTENT") {
        EXPECT_TRUE(open.contains(named)) << named;
        texts[named] += text_in(event.event, "delta");
      } else if (type == "TEXT_MESSAGE_END") {
        EXPECT_EQ(open.erase(named), 1u) << named;
        bool is_replaced = event.event["metadata"]["belay"]["isReplaced"] == Value(true);
        if (is_replaced) replaced.insert(named);
      } else if (type == "CUSTOM") {
        voided = text_in(event.event["value"], "messageId");
      }
    }
  }
  std::string id(const std::string& suffix = {}) const { return kTask.text() + suffix; }

  std::map<std::string, std::string> texts;
  std::vector<std::string> order;
  std::set<std::string> ids, open, replaced;
  std::string last, voided;
};
struct RepeatedTexts : ::testing::Test, TextClient {};

using Shown = std::map<std::string, std::string>;

TEST_F(RepeatedTexts, BeginAnotherMessageInTheSameStream) {
  show(read({delta(0, "The sun "), delta(8, "sh"), delta(0, "A clo"), delta(5, "ud"),
             durable(3, "A cloud rains")}));
  EXPECT_EQ(texts, (Shown{{id(), "The sun sh"}, {id("-r2"), "A cloud rains"}}));
  EXPECT_EQ(replaced, std::set<std::string>{id()});
  EXPECT_TRUE(open.empty());
}

TEST_F(RepeatedTexts, AreFoundByAStreamThatContinues) {
  show(read({delta(0, "The sun ")}));
  // The new text is compared when it is as long as the old one.
  show(read({delta(0, "A clo"), delta(5, "ud rains"), durable(3, "A cloud rains.")}, last));
  EXPECT_EQ(texts, (Shown{{id(), "The sun "}, {id("-r2"), "A cloud rains."}}));
  EXPECT_EQ(replaced, std::set<std::string>{id()});
  EXPECT_TRUE(open.empty());
}

TEST_F(RepeatedTexts, AreFoundWhenTheyAreDurable) {
  for (const char* text : {"A cloud rains.", "Sun"}) {
    texts.clear();
    ids.clear();
    show(read({delta(0, "The sun ")}));
    show(read({durable(3, text)}, last));
    EXPECT_EQ(texts, (Shown{{id(), "The sun "}, {id("-r2"), text}}));
    EXPECT_TRUE(open.empty());
  }
}

TEST_F(RepeatedTexts, ThatBeginAlikeContinueTheMessage) {
  show(read({delta(0, "The sun ")}));
  show(read({delta(0, "The "), delta(4, "sun sh"), durable(3, "The sun shines")}, last));
  EXPECT_EQ(texts, (Shown{{id(), "The sun shines"}}));
  EXPECT_TRUE(replaced.empty());
}

// Cuts the streams of each process after each event. The second process ends, too.
TEST_F(RepeatedTexts, HaveTheSameIdsAfterEachCut) {
  std::vector<Part> first{delta(0, "The "), delta(4, "sun ")};
  std::vector<Part> second{delta(0, "A "), delta(2, "cloud ")};
  std::vector<Part> third{delta(0, "Rain "), delta(5, "falls "), durable(3, "Rain falls down")};
  auto after = [](const AgUiEvents& events, std::size_t count) {
    return AgUiEvents(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(count));
  };
  std::vector<Part> whole{second.begin(), second.end()};
  whole.insert(whole.end(), third.begin(), third.end());
  show(read(first));
  std::string at = last;
  std::size_t count = read(whole, at).size();
  for (std::size_t cut = 1; cut <= count; ++cut) {
    TextClient client;
    client.show(read(first));
    AgUiEvents events = after(read(whole, at), cut);
    client.show(events);
    // After the cut, only the third process streams, unless the text is durable.
    bool is_durable = client.last.starts_with("3-");
    client.show(read(is_durable ? std::vector<Part>{third.back()} : third, client.last));
    SCOPED_TRACE(client.last);
    EXPECT_TRUE(client.open.empty());
    EXPECT_EQ(client.texts[client.order.back()], "Rain falls down");
    EXPECT_EQ(client.order.front(), id());
    EXPECT_FALSE(client.replaced.contains(client.order.back()));
  }
}

TEST_F(RepeatedTexts, OfAnAttemptThatFailsAreNamedByItsEvent) {
  show(read({delta(0, "The sun "), delta(0, "A cloud"), failed_attempt(2), delta(0, "Rain", 2),
             durable(3, "Rain", 2)}));
  EXPECT_EQ(voided, id("-r2"));
  EXPECT_EQ(texts, (Shown{{id(), "The sun "}, {id("-r2"), "A cloud"}, {id("-2"), "Rain"}}));
  EXPECT_TRUE(open.empty());
}

// A position of an older server has no hash.
TEST_F(RepeatedTexts, AreContinuedAfterAPositionWithoutAHash) {
  open.insert(id());
  show(read({delta(0, "Sun "), delta(4, "shines"), durable(3, "Sun shines")},
            "0-0.0~" + kTask.text() + ":1:4"));
  EXPECT_EQ(texts[id()], "shines");
}

}  // namespace
}  // namespace belay::ag_ui
