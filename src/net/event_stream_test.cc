// Event streams as servers send them, split at any point.

#include "net/event_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kBytesMax = 100;

std::string text_of(const std::vector<StreamEvent>& events) {
  std::string text;
  for (const StreamEvent& event : events) {
    text += event.name + "(" + event.last_id + "): " + event.data + ";";
  }
  return text;
}

// Checks that the events are the same in one piece, split in two at any point, and byte by byte.
// Returns them.
std::string events_in(std::string_view stream) {
  std::vector<StreamEvent> whole;
  EventStreamReader at_once(kBytesMax);
  EXPECT_TRUE(at_once.take(stream, whole).ok());
  std::vector<StreamEvent> drips;
  EventStreamReader by_bytes(kBytesMax);
  for (char byte : stream) EXPECT_TRUE(by_bytes.take({&byte, 1}, drips).ok());
  EXPECT_EQ(text_of(drips), text_of(whole));
  for (std::size_t cut = 0; cut < stream.size(); ++cut) {
    std::vector<StreamEvent> halves;
    EventStreamReader reader(kBytesMax);
    EXPECT_TRUE(reader.take(stream.substr(0, cut), halves).ok());
    EXPECT_TRUE(reader.take(stream.substr(cut), halves).ok());
    EXPECT_EQ(text_of(halves), text_of(whole)) << "cut at " << cut;
  }
  return text_of(whole);
}

TEST(EventStream, AnEventEndsWithAnEmptyLineWhateverEndsItsLines) {
  for (std::string_view end : {"\n", "\r", "\r\n"}) {
    std::string stream;
    for (std::string_view line : {"data: one", "", "data: two", ""}) {
      stream += std::string(line) + std::string(end);
    }
    EXPECT_EQ(events_in(stream), "message(): one;message(): two;");
  }
}

TEST(EventStream, ItsDataAreTheLinesOfIt) {
  EXPECT_EQ(events_in("data: a\ndata:b\ndata:  c\n\n"), "message(): a\nb\n c;");
  EXPECT_EQ(events_in("data\n\ndata\ndata\n\ndata:\n\n"), "message(): ;message(): \n;message(): ;");
}

TEST(EventStream, NamesHoldForOneEventAndIdsForThoseBehindIt) {
  EXPECT_EQ(events_in("event: add\nid: 7\ndata: x\n\ndata: y\n\nid\ndata: z\n\n"),
            "add(7): x;message(7): y;message(): z;");
  EXPECT_EQ(events_in(std::string_view("id: a\0b\ndata: x\n\n", 17)), "message(): x;");
}

TEST(EventStream, CommentsAndWhatIsUnknownArePassedOver) {
  EXPECT_EQ(events_in(": keep-alive\n\nwhat: ever\ndata: x\n:\nDATA: no\n data: no\n\n"),
            "message(): x;");
  EXPECT_EQ(events_in("event: lost\n\ndata: x\n\n"), "message(): x;");
}

TEST(EventStream, AMarkOfTheByteOrderIsNoPartOfIt) {
  EXPECT_EQ(events_in("\xEF\xBB\xBF"
                      "data: x\n\ndata: \xEF\xBB\xBF\n\n"),
            "message(): x;message(): \xEF\xBB\xBF;");
}

TEST(EventStream, WhatNoEmptyLineHasEndedNeverWas) {
  EXPECT_EQ(events_in("data: x\n\ndata: half\n"), "message(): x;");
  EXPECT_EQ(events_in("data: half"), "");
}

TEST(EventStream, SaysHowLongToWaitBeforeItIsAskedForAgain) {
  EventStreamReader reader(kBytesMax);
  std::vector<StreamEvent> events;
  ASSERT_TRUE(reader.take("retry: soon\nretry: -1\nretry: 1s\nretry:\n", events).ok());
  EXPECT_EQ(reader.retry(), std::nullopt);
  ASSERT_TRUE(reader.take("retry: 1500\n\n", events).ok());
  EXPECT_EQ(reader.retry(), std::chrono::milliseconds(1500));
  EXPECT_THAT(events, IsEmpty());
}

TEST(EventStream, IsBounded) {
  std::vector<StreamEvent> events;
  EventStreamReader endless(kBytesMax);
  auto refused = endless.take("data: x\n\ndata: " + std::string(kBytesMax, 'y'), events);
  EXPECT_EQ(refused.error().code, ErrorCode::exhausted);
  EXPECT_EQ(text_of(events), "message(): x;");
  EventStreamReader many(kBytesMax);
  Result<Done> taken{Done{}};
  for (int i = 0; i < 1'000 && taken.ok(); ++i) taken = many.take("data: xxxxxxxx\n", events);
  ASSERT_FALSE(taken.ok());
  EXPECT_THAT(taken.error().message, HasSubstr("100 bytes"));
}

TEST(Lines, AreCutOfTheLongestThatMayBe) {
  LineReader reader(5);
  std::vector<std::string> lines;
  ASSERT_TRUE(reader.take("12345\n\r\n123", lines).ok());
  ASSERT_TRUE(reader.take("45", lines).ok());
  EXPECT_THAT(lines, ElementsAre("12345", ""));
  EXPECT_EQ(reader.rest(), "12345");
  EXPECT_EQ(reader.take("6", lines).error().code, ErrorCode::exhausted);
}

}  // namespace
}  // namespace belay::net
