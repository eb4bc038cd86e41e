#include <gtest/gtest.h>

#include "belay/limits.h"
#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

std::int64_t number(const Value& document, std::string_view name) {
  return document[name].as_int().value_or(-1);
}

TEST(CliNotes, ImportsListsAndShows) {
  World world;
  std::string file = world.write("diary.jsonl", note_line("2026-01-02", "Second.") +
                                                    note_line("2026-01-01", "First.") +
                                                    note_line("2026-01-02", "Third."));
  Outcome imported = world.run({"notes", "import", file, "--json"});
  EXPECT_EQ(imported.code, 0) << imported.err;
  Value document = imported.json();
  EXPECT_EQ(number(document, "imported"), 3);
  EXPECT_EQ(number(document, "replaced"), 0);
  EXPECT_EQ(number(document, "unchanged"), 0);
  EXPECT_EQ(number(document, "days"), 2);
  EXPECT_EQ(document["firstDate"], Value("2026-01-01"));
  EXPECT_EQ(document["lastDate"], Value("2026-01-02"));
  EXPECT_EQ(document["userId"], Value("local"));

  Value listed = world.run({"notes", "list", "--date", "2026-01-02", "--json"}).json();
  const Value::Array* notes = listed["notes"].as_array();
  ASSERT_TRUE(notes);
  ASSERT_EQ(notes->size(), 2u);
  EXPECT_EQ((*notes)[0]["content"], Value("Second.")) << "notes keep their order in the day";
  Outcome shown = world.run({"notes", "show", *(*notes)[1]["id"].as_string()});
  EXPECT_EQ(shown.code, 0);
  EXPECT_NE(shown.out.find("Third."), std::string::npos);
  EXPECT_EQ(world.run({"notes", "show", "nothing"}).code, 2);
}

TEST(CliNotes, ImportingTwiceChangesNothing) {
  World world;
  std::string lines = note_line("2026-01-01", "Same.") + note_line("2026-01-01", "Same.") +
                      note_line("2026-01-01", "Other.");
  ASSERT_EQ(world.run({"notes", "import", "-"}, lines).code, 0);
  std::string before = world.store_contents();
  Value again = world.run({"notes", "import", "-", "--json"}, lines).json();
  EXPECT_EQ(number(again, "imported"), 0);
  EXPECT_EQ(number(again, "unchanged"), 3);
  EXPECT_EQ(world.store_contents(), before);
}

TEST(CliNotes, ALongerExportAddsOnlyWhatIsNew) {
  World world;
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", "b")).code, 0);
  std::string longer =
      note_line("2026-01-01", "a") + note_line("2026-01-01", "b") + note_line("2026-01-01", "b");
  Value second = world.run({"notes", "import", "-", "--json"}, longer).json();
  EXPECT_EQ(number(second, "imported"), 2);
  EXPECT_EQ(number(second, "unchanged"), 1);
}

TEST(CliNotes, AnIdOfOnesOwnReplacesItsNote) {
  World world;
  std::string one = R"({"id":"n1","date":"2026-01-01","content":"old"})";
  std::string two = R"({"id":"n1","date":"2026-01-01","content":"new"})";
  EXPECT_EQ(number(world.run({"notes", "import", "-", "--json"}, one).json(), "imported"), 1);
  EXPECT_EQ(number(world.run({"notes", "import", "-", "--json"}, one).json(), "unchanged"), 1);
  EXPECT_EQ(number(world.run({"notes", "import", "-", "--json"}, two).json(), "replaced"), 1);
  EXPECT_EQ(world.run({"notes", "show", "n1", "--json"}).json()["content"], Value("new"));
}

TEST(CliNotes, BelongToTheirUser) {
  World world;
  ASSERT_EQ(world.run({"notes", "import", "-", "--user", "ana"}, note_line("2026-01-01", "a")).code,
            0);
  EXPECT_EQ(world.run({"notes", "list", "--json"}).out, "{\"notes\":[]}\n");
  EXPECT_NE(world.run({"notes", "list", "--user", "ana"}).out.find("2026-01-01"),
            std::string::npos);
}

TEST(CliNotes, BadImportsAreRefusedAndWriteNothing) {
  World world;
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", "there")).code, 0);
  std::string before = world.store_contents();
  std::string good = note_line("2026-01-01", "good");
  std::string nul = note_line("2026-01-01", "ab");
  nul.insert(nul.find("ab") + 1, 1, '\0');
  std::string deep = "{\"date\":\"2026-01-01\",\"content\":" + std::string(10'000, '[') +
                     std::string(10'000, ']') + "}";
  for (const auto& [name, text] : std::map<std::string, std::string>{
           {"bad date", good + note_line("2026-13-01", "x")},
           {"empty", good + note_line("2026-01-01", "")},
           {"blank", good + note_line("2026-01-01", "  \n ")},
           {"2 MB", good + note_line("2026-01-01", std::string(2'000'000, 'x'))},
           {"invalid UTF-8", good + "{\"date\":\"2026-01-01\",\"content\":\"\xc3\x28\"}\n"},
           {"raw NUL", good + nul},
           {"escaped NUL", good + R"({"date":"2026-01-01","content":"\u0000"})"},
           {"deep", good + deep},
           {"no JSON", good + "Dear diary"},
           {"nothing", ""},
       }) {
    Outcome refused = world.run({"notes", "import", "-"}, text);
    EXPECT_EQ(refused.code, 2) << name;
    EXPECT_TRUE(refused.says({"belay: "})) << name << ": " << refused.err;
    EXPECT_EQ(refused.out, "") << name;
  }
  EXPECT_EQ(world.store_contents(), before);
}

TEST(CliNotes, FilesThatCannotBeReadAreBadInput) {
  World world;
  EXPECT_TRUE(world.run({"notes", "list"}).code == 0);
  Outcome missing = world.run({"notes", "import", world.folder.file("missing.jsonl")});
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(missing.says({"missing.jsonl", "No such file"})) << missing.err;
  Outcome folder = world.run({"notes", "import", world.folder.path()});
  EXPECT_EQ(folder.code, 2);
  EXPECT_TRUE(folder.says({"directory"})) << folder.err;
  Outcome endless = world.run({"notes", "import", "/dev/zero"});
  EXPECT_EQ(endless.code, 2);
  EXPECT_TRUE(endless.says({"bytes"})) << endless.err;
}

TEST(CliNotes, NothingInANoteSteersTheTerminal) {
  World world;
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", "a\x1b[2Jb\xc2\x9b")).code,
            0);
  Outcome listed = world.run({"notes", "list"});
  EXPECT_EQ(listed.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(listed.out.find("\xc2\x9b"), std::string::npos);
}

TEST(CliNotes, AFaultWithJsonIsADocumentToo) {
  World world;
  Outcome refused = world.run({"notes", "import", "-", "--json"}, "x");
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.json()["error"]["code"], Value("invalid"));
  EXPECT_TRUE(refused.json()["error"]["message"].as_string());
}

}  // namespace
}  // namespace belay::cli::tests
