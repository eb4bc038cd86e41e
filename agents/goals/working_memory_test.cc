#include "agents/goals/working_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/goals/characters.h"
#include "belay/value.h"

namespace belay::goals {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

MemoryEntry entry_of(std::string key, std::string text) {
  std::int64_t characters = count_characters(text);
  return {std::move(key), std::move(text), "", characters};
}

Value memory_value(const std::vector<MemoryEntry>& entries, std::int64_t omitted = 0,
                   const LastRun& last = {}) {
  auto value = parse_json(memory_json(entries, omitted, last));
  EXPECT_TRUE(value.ok()) << value.error().message;
  return std::move(value).value_or(Value());
}

TEST(Characters, AreCountedAndCutAtTheirBounds) {
  EXPECT_EQ(count_characters("año €"), 5);
  EXPECT_EQ(first_characters("año €", 2), "añ");
  EXPECT_EQ(first_characters("año", 50), "año");
  EXPECT_EQ(characters_of("año €", 2, 3), "o €");
  EXPECT_EQ(characters_of("año", 9, 3), "");
}

TEST(Characters, ThatAStateCannotStoreAreReplaced) {
  EXPECT_EQ(storable_text("a\xFFz"), "a?z");
  EXPECT_EQ(storable_text(std::string("a\0z", 3)), "a?z");
  EXPECT_EQ(storable_text("año"), "año");
}

TEST(WorkingMemory, KeysHaveTheStepTheToolAndTheIndex) {
  EXPECT_EQ(memory_key(3, "web_search", 0), "step_3_web_search_0");
}

TEST(WorkingMemory, IsAJsonObjectInTheOrderOfTheSteps) {
  std::vector<MemoryEntry> entries{entry_of("step_2_a_0", "two \"quoted\"\n"),
                                   entry_of("step_10_a_0", R"({"n":1})")};
  std::string json = memory_json(entries, 0, {});
  EXPECT_LT(json.find("step_2_a_0"), json.find("step_10_a_0"));
  Value memory = memory_value(entries);
  EXPECT_EQ(memory["step_2_a_0"], Value("two \"quoted\"\n"));
  EXPECT_EQ(memory["step_10_a_0"]["n"], Value(1)) << "a result that is JSON is not quoted";
  EXPECT_EQ(memory_json({}, 0, {}), "{}");
}

TEST(WorkingMemory, AReferenceHasTheIdTheNumberOfCharactersAndTheBeginning) {
  Value memory = memory_value({{"step_1_a_0", "beginning", "run-step_1_a_0", 9'000}});
  EXPECT_EQ(
      memory["step_1_a_0"],
      Value::object({{"result", "run-step_1_a_0"}, {"characters", 9'000}, {"begin", "beginning"}}));
}

TEST(WorkingMemory, OfTheLastRunIsAMemberOfItsOwn) {
  LastRun last;
  last.summary = "Found two.";
  last.entries = {entry_of("step_1_a_0", "old")};
  last.omitted = 2;
  Value memory = memory_value({entry_of("step_1_a_0", "new")}, 1, last);
  EXPECT_EQ(memory["step_1_a_0"], Value("new"));
  EXPECT_EQ(memory["omitted"], Value(1));
  EXPECT_EQ(memory["last_run"]["summary"], Value("Found two."));
  EXPECT_EQ(memory["last_run"]["step_1_a_0"], Value("old"));
  EXPECT_EQ(memory["last_run"]["omitted"], Value(2));
}

TEST(WorkingMemory, WithinItsBoundIsUnchanged) {
  FittedMemory fitted = fit_memory({entry_of("step_1_a_0", "text")}, 0, kMemoryBytesMax, "r-");
  ASSERT_EQ(fitted.entries.size(), 1u);
  EXPECT_EQ(fitted.entries[0].text, "text");
  EXPECT_TRUE(fitted.moved.empty());
  EXPECT_EQ(fitted.omitted, 0);
}

TEST(WorkingMemory, BeyondItsBoundTheOldestValuesBecomeReferences) {
  std::vector<MemoryEntry> entries;
  for (int step = 1; step <= 5; ++step) {
    entries.push_back(entry_of(memory_key(step, "a", 0), std::string(3'000, 'x')));
  }
  FittedMemory fitted = fit_memory(entries, 0, 10'000, "r-");
  EXPECT_LE(memory_json(fitted.entries, fitted.omitted, {}).size(), 10'000u);
  ASSERT_EQ(fitted.entries.size(), 5u);
  EXPECT_EQ(fitted.entries[0].result, "r-step_1_a_0");
  EXPECT_EQ(fitted.entries[0].characters, 3'000);
  EXPECT_EQ(fitted.entries[0].text.size(), 500u);
  EXPECT_TRUE(fitted.entries[4].result.empty()) << "the newest remain";
  ASSERT_EQ(fitted.moved.size(), 3u);
  EXPECT_EQ(fitted.moved[0].id, "r-step_1_a_0");
  EXPECT_EQ(fitted.moved[0].text, entries[0].text);
}

TEST(WorkingMemory, OfReferencesLosesTheOldestBeginningsAndThenTheOldestEntries) {
  std::vector<MemoryEntry> entries;
  for (int step = 1; step <= 20; ++step) {
    std::string key = memory_key(step, "a", 0);
    entries.push_back({key, std::string(500, 'x'), "r-" + key, 9'000});
  }
  FittedMemory bare = fit_memory(entries, 0, 6'000, "r-");
  EXPECT_EQ(bare.omitted, 0);
  EXPECT_EQ(bare.entries.front().text, "");
  EXPECT_EQ(bare.entries.back().text.size(), 500u);
  EXPECT_LE(memory_json(bare.entries, 0, {}).size(), 6'000u);
  FittedMemory few = fit_memory(entries, 3, 700, "r-");
  EXPECT_GT(few.omitted, 3);
  EXPECT_EQ(few.omitted - 3 + static_cast<std::int64_t>(few.entries.size()), 20);
  EXPECT_LE(memory_json(few.entries, few.omitted, {}).size(), 700u);
  EXPECT_EQ(few.entries.back().key, "step_20_a_0");
}

TEST(WorkingMemory, IsWithin64KilobytesOfAPromptWithTheLastRunsToo) {
  LastRun last;
  last.summary = std::string(4'000, 's');
  last.entries = {entry_of("step_1_a_0", std::string(4'000, 'o'))};
  std::vector<MemoryEntry> entries;
  for (int step = 1; step <= 100; ++step) {
    entries.push_back(entry_of(memory_key(step, "a", 0), std::string(4'000, '"')));
  }
  FittedMemory fitted = fit_memory(entries, 0, bytes_beside(last), "r-");
  EXPECT_LE(memory_json(fitted.entries, fitted.omitted, last).size(), kMemoryBytesMax);
}

TEST(WorkingMemory, FindsItsReferences) {
  std::vector<MemoryEntry> entries{entry_of("step_1_a_0", "x"),
                                   {"step_2_a_0", "b", "r-step_2_a_0", 9'000}};
  EXPECT_TRUE(has_reference(entries, "r-step_2_a_0"));
  EXPECT_FALSE(has_reference(entries, ""));
  EXPECT_FALSE(has_reference(entries, "r-step_1_a_0"));
}

}  // namespace
}  // namespace belay::goals
