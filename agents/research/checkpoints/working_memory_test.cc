#include "agents/research/checkpoints/working_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace belay::research {
namespace {

using ::testing::HasSubstr;

// The names, the least recently used first.
std::string order_of(const WorkingMemory& memory) {
  std::string names;
  Value dump = memory.dump();
  for (const Value& entry : *dump["entries"].as_array()) names += *entry["name"].as_string();
  return names;
}

// Entries of a name with one letter and a number have two bytes.
struct LetterMemory : WorkingMemory {
  explicit LetterMemory(WorkingMemoryLimits limits) : WorkingMemory(limits) {}
  void put_all(const std::string& letters) {
    for (char letter : letters) put(std::string(1, letter), Value(1)).value();
  }
};

TEST(WorkingMemoryValues, AreFoundByName) {
  WorkingMemory memory;
  memory.put("wacc", Value(0.08)).value();
  memory.put("wacc", Value(0.09)).value();
  ASSERT_NE(memory.get("wacc"), nullptr);
  EXPECT_EQ(*memory.get("wacc"), Value(0.09));
  EXPECT_EQ(memory.get("beta"), nullptr);
  EXPECT_EQ(memory.size(), 1u);
  EXPECT_EQ(memory.bytes(), 8u);
  EXPECT_TRUE(memory.erase("wacc"));
  EXPECT_FALSE(memory.erase("wacc"));
  EXPECT_EQ(memory.bytes(), 0u);
}

TEST(WorkingMemoryBounds, EvictTheLeastRecentlyUsedValues) {
  LetterMemory memory({.entries_max = 3, .bytes_max = 100});
  memory.put_all("abc");
  memory.get("a");
  memory.put_all("d");
  EXPECT_EQ(order_of(memory), "cad");
  EXPECT_EQ(memory.evicted(), 1u);
  LetterMemory small({.entries_max = 100, .bytes_max = 6});
  small.put_all("abc");
  EXPECT_EQ(order_of(small), "abc") << "exactly the bound";
  small.put_all("d");
  EXPECT_EQ(order_of(small), "bcd");
  EXPECT_EQ(small.bytes(), 6u);
}

TEST(WorkingMemoryBounds, RefuseAValueThatNeverFits) {
  LetterMemory memory({.entries_max = 3, .bytes_max = 10});
  memory.put_all("ab");
  auto put = memory.put("a", Value("longer than ten bytes"));
  EXPECT_EQ(put.error().code, ErrorCode::invalid);
  EXPECT_EQ(order_of(memory), "ab");
  EXPECT_EQ(*memory.get("a"), Value(1)) << "the earlier value remains";
  WorkingMemory none({.entries_max = 0, .bytes_max = 10});
  EXPECT_FALSE(none.put("a", Value(1)).ok());
}

TEST(WorkingMemoryValues, ThatACheckpointCannotContainAreRefused) {
  WorkingMemory memory;
  EXPECT_FALSE(memory.put("x", Value(std::numeric_limits<double>::infinity())).ok());
  EXPECT_FALSE(memory.put("x", Value(std::string("\xff"))).ok());
  EXPECT_FALSE(memory.put("", Value(1)).ok());
  EXPECT_FALSE(memory.put("a\nb", Value(1)).ok());
  Value deep;
  for (std::size_t i = 0; i <= kMemoryDepthMax; ++i) deep = Value(Value::Array{deep});
  EXPECT_FALSE(memory.put("x", deep).ok());
  EXPECT_TRUE(memory.put("x", (*deep.as_array())[0]).ok());
}

TEST(WorkingMemoryDump, IsRestoredIdentically) {
  LetterMemory memory({.entries_max = 3, .bytes_max = 100});
  memory.put_all("abcd");
  memory.get("b");
  LetterMemory other({.entries_max = 3, .bytes_max = 100});
  other.put_all("xyz");
  other.restore(memory.dump()).value();
  EXPECT_EQ(other.dump(), memory.dump());
  EXPECT_EQ(other.bytes(), memory.bytes());
  memory.put_all("e");
  other.put_all("e");
  EXPECT_EQ(order_of(other), "dbe");
  EXPECT_EQ(other.dump(), memory.dump()) << "the order of use is restored, too";
}

TEST(WorkingMemoryDump, IsRestoredWithinTheBoundsOfTheMemory) {
  LetterMemory large({.entries_max = 9, .bytes_max = 100});
  large.put_all("abcdef");
  LetterMemory small({.entries_max = 2, .bytes_max = 100});
  small.restore(large.dump()).value();
  EXPECT_EQ(order_of(small), "ef");
  EXPECT_EQ(small.evicted(), 4u);
}

TEST(WorkingMemoryDump, OfNoMemoryRestoresNone) {
  LetterMemory memory({.entries_max = 9, .bytes_max = 100});
  memory.put_all("ab");
  memory.restore(Value()).value();
  EXPECT_EQ(memory.size(), 0u);
  EXPECT_EQ(memory.get("a"), nullptr);
}

TEST(WorkingMemoryDump, ThatIsDamagedChangesNothing) {
  LetterMemory memory({.entries_max = 9, .bytes_max = 100});
  memory.put_all("ab");
  for (const char* text :
       {"[]", "{}", "7", R"({"entries": []})", R"({"entries": {}, "evicted": 0})",
        R"({"entries": [], "evicted": -1})", R"({"entries": [1], "evicted": 0})",
        R"({"entries": [{"name": "x"}], "evicted": 0})",
        R"({"entries": [{"name": 1, "value": 1}], "evicted": 0})",
        R"({"entries": [{"name": "", "value": 1}], "evicted": 0})"}) {
    EXPECT_FALSE(memory.restore(parse_json(text).value()).ok()) << text;
    EXPECT_EQ(order_of(memory), "ab") << text;
  }
  auto twice = parse_json(
      R"({"entries": [{"name": "x", "value": 1}, {"name": "x", "value": 2}], "evicted": 0})");
  EXPECT_THAT(memory.restore(twice.value()).error().message, HasSubstr("occurs twice"));
}

}  // namespace
}  // namespace belay::research
