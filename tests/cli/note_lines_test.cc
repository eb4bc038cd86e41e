// The lines of an import, tested without a process.

#include "agents/wellbeing/note_lines.h"

#include <gtest/gtest.h>

#include "agents/wellbeing/record_rules.h"

namespace belay::wellbeing {
namespace {

std::string fault_of(std::string_view text) {
  auto notes = read_note_lines(text);
  if (notes.ok()) return "";
  EXPECT_EQ(notes.error().code, ErrorCode::invalid);
  EXPECT_EQ(notes.error().message.find('\n'), std::string::npos);
  return notes.error().message;
}

constexpr std::string_view kGood = R"({"date":"2026-01-02","content":"Slept well."})";

TEST(NoteLines, ReadsDatesContentsAndIds) {
  auto notes = read_note_lines(std::string(kGood) +
                               "\n{\"content\":\"b\",\"id\":\"mine\",\"date\":\"2026-01-03\"}");
  ASSERT_TRUE(notes.ok()) << notes.error().message;
  ASSERT_EQ(notes->size(), 2u);
  EXPECT_EQ((*notes)[0].date, "2026-01-02");
  EXPECT_EQ((*notes)[0].content, "Slept well.");
  EXPECT_EQ((*notes)[0].id, "");
  EXPECT_EQ((*notes)[1].id, "mine");
  EXPECT_EQ((*notes)[1].line, 2u);
}

TEST(NoteLines, TakesAByteOrderMarkAndCarriageReturnsAndBlankLines) {
  auto notes = read_note_lines("\xEF\xBB\xBF" + std::string(kGood) + "\r\n\r\n  \n" +
                               std::string(kGood) + "\r\n");
  ASSERT_TRUE(notes.ok()) << notes.error().message;
  ASSERT_EQ(notes->size(), 2u);
  EXPECT_EQ((*notes)[0].content, "Slept well.");
  EXPECT_EQ((*notes)[1].line, 4u);
}

TEST(NoteLines, NamesTheLineOfTheFirstFault) {
  std::string text = std::string(kGood) + "\n" + std::string(kGood) + "\n{\"date\":1}\n";
  EXPECT_TRUE(fault_of(text).starts_with("Line 3: "));
  EXPECT_NE(fault_of(text).find("Nothing was imported."), std::string::npos);
}

TEST(NoteLines, RefusesWhatIsNoNote) {
  for (std::string_view line : {
           "[]",
           "7",
           "null",
           "not json",
           R"({"date":"2026-01-02"})",
           R"({"content":"x"})",
           R"({"date":"2026-01-02","content":7})",
           R"({"date":["2026-01-02"],"content":"x"})",
           R"({"date":"2026-02-30","content":"x"})",
           R"({"date":"2026-1-2","content":"x"})",
           R"({"date":"02/01/2026","content":"x"})",
           R"({"date":"","content":"x"})",
           R"({"date":"2026-01-02T10:00:00Z","content":"x"})",
           R"({"date":"2026-01-02","content":""})",
           R"({"date":"2026-01-02","content":" \t\r\n"})",
           "{\"date\":\"2026-01-02\",\"content\":\"\u00A0\u3000\u200B\"}",
           R"({"date":"2026-01-02","content":"x","mood":3})",
           R"({"date":"2026-01-02","content":"x","id":""})",
           R"({"date":"2026-01-02","content":"x","id":7})",
           R"({"date":"2026-01-02","content":"x","date":"2026-01-03"})",
           R"({"date":"2026-01-02","content":"x"} {"date":"2026-01-02","content":"y"})",
           R"({"date":"2026-01-02","content":"a\u0000b"})",
           R"({"date":"2026-01-02","content":"\ud800"})",
           "{\"date\":\"2026-01-02\",\"content\":\"a\xff\"}",
           "{\"date\":\"2026-01-02\",\"content\":\"a\xc3\"}",
           "{\"date\":\"2026-01-02\",\"content\":\"\xed\xa0\x80\"}",
       }) {
    EXPECT_TRUE(fault_of(line).starts_with("Line 1: ")) << line << " -> " << fault_of(line);
  }
}

TEST(NoteLines, RefusesARawNul) {
  std::string line = R"({"date":"2026-01-02","content":"ab"})";
  line.insert(line.find("ab") + 1, 1, '\0');
  EXPECT_TRUE(fault_of(line).starts_with("Line 1: "));
}

TEST(NoteLines, RefusesDeepNestingWithoutDeepRecursion) {
  std::string line = R"({"date":"2026-01-02","content":)" + std::string(10'000, '[') + "\"x\"" +
                     std::string(10'000, ']') + "}";
  EXPECT_TRUE(fault_of(line).starts_with("Line 1: "));
}

TEST(NoteLines, RefusesANoteThatIsTooLongAndSaysHowLongItMayBe) {
  std::string line = R"({"date":"2026-01-02","content":")" +
                     std::string(wellbeing::kNoteContentBytesMax + 1, 'x') + "\"}";
  EXPECT_NE(fault_of(line).find(std::to_string(wellbeing::kNoteContentBytesMax)),
            std::string::npos);
  line.erase(line.find('x'), 1);
  EXPECT_TRUE(read_note_lines(line).ok());
  std::string breaks;
  for (int i = 0; i < 500'001; ++i) breaks += "\\n";
  std::string escaped = R"({"date":"2026-01-02","content":"x)" + breaks + "\"}";
  EXPECT_NE(fault_of(escaped).find("1000003 bytes"), std::string::npos) << fault_of(escaped);
}

TEST(NoteLines, RefusesATextWithoutNotes) {
  for (std::string_view text : {"", "\n\n", "  \r\n", "\xEF\xBB\xBF"}) {
    EXPECT_NE(fault_of(text), "") << text;
  }
}

TEST(NoteLines, RefusesOneIdForTwoNotes) {
  std::string line = R"({"date":"2026-01-02","content":"x","id":"a"})";
  std::string fault = fault_of(line + "\n" + line);
  EXPECT_TRUE(fault.starts_with("Line 2: "));
  EXPECT_NE(fault.find("line 1"), std::string::npos);
}

TEST(NoteLines, DerivesIdsThatStayTheSame) {
  EXPECT_EQ(derived_note_id("2026-01-02", 1, "hello"), "2026-01-02.01.2cf24dba5fb0");
  EXPECT_LT(derived_note_id("2026-01-02", 2, "a"), derived_note_id("2026-01-02", 10, "a"));
}

}  // namespace
}  // namespace belay::wellbeing
