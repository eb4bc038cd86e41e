// Every text for a person is in the language that the person has chosen: none of another language
// is between them.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

// Words of the results of the commands, none of which is also a Spanish word.
const std::set<std::string> kEnglishWords = {
    "Approved",  "Claiming",  "Comment",     "Created",  "Decided", "Demo",    "Due",
    "Expires",   "Imported",  "Killed",      "Made",     "Next",    "Queued",  "Rejected",
    "Requested", "Risk",      "Run",         "Running",  "Save",    "Same",    "Thread",
    "This",      "Written",   "ago",         "approval", "approve", "claimed", "commits",
    "completed", "created",   "decision",    "fine",     "for",     "from",    "have",
    "idle",      "in",        "interrupted", "is",       "made",    "match",   "of",
    "paused",    "recording", "reject",      "rejected", "resume",  "risk",    "saved",
    "show",      "the",       "to",          "waiting",  "with",    "you",     "your",
    "ACTIVE",    "AGENT",     "COMMIT",      "NODE",     "RUN",     "STATUS",  "THREAD",
    "TIME",      "TOOK",      "YOU"};

std::string spanish_day() {
  return "Otra vez he dormido cuatro horas, despierta hasta las cinco. Agotada, sin fuerzas. Lloré "
         "de camino a casa y me siento desesperada por el examen. Otro ataque de pánico por la "
         "tarde.";
}

class CliLanguage : public ::testing::Test {
 protected:
  // Returns the English words of a result, without the command lines that it shows.
  static std::set<std::string> english_in(const std::string& text) {
    std::set<std::string> found;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = std::min(text.find('\n', at), text.size());
      std::string line = text.substr(at, end - at);
      line.resize(std::min(line.find("belay"), line.size()));
      std::string word;
      for (char c : line + " ") {
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
        if (is_letter || c == '_') {
          word += c;
        } else {
          if (kEnglishWords.contains(word)) found.insert(word);
          word.clear();
        }
      }
      at = end + 1;
    }
    return found;
  }
  // Runs a command, whose results must be in Spanish.
  Outcome spanish(Words words, int code = 0) {
    if (by_flag) {
      words.push_back("--language");
      words.push_back("es");
    }
    Outcome outcome = world.run(words);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(english_in(outcome.out), std::set<std::string>()) << outcome.out;
    EXPECT_EQ(english_in(outcome.err), std::set<std::string>()) << outcome.err;
    return outcome;
  }
  void expect_spanish_story() {
    world.write("diary.jsonl", note_line("2026-01-01", spanish_day()));
    std::string file = world.folder.file("diary.jsonl");
    spanish({"status"});
    spanish({"threads"});
    spanish({"notes", "list"});
    spanish({"notes", "import", file});
    Outcome begun = spanish({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}, 3);
    EXPECT_NE(begun.out.find("¿Guardar esta auditoría?"), std::string::npos) << begun.out;
    EXPECT_NE(begun.out.find("Riesgo"), std::string::npos) << begun.out;
    EXPECT_EQ(begun.out.find("--language es") != std::string::npos, by_flag) << begun.out;
    spanish({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}, 3);
    spanish({"status"});
    spanish({"approvals", "list"});
    spanish({"approvals", "show", "t"});
    Outcome approved = spanish({"approvals", "approve", "t", "--by", "ana", "--comment", "bien"});
    EXPECT_NE(approved.out.find("Aprobado por ana."), std::string::npos) << approved.out;
    spanish({"approvals", "approve", "t", "--by", "ana"});
    spanish({"approvals", "show", "t"});
    spanish({"approvals", "list", "--all"});
    spanish({"state", "t"});
    spanish({"history", "t"});
    Outcome listed = spanish({"threads"});
    EXPECT_NE(listed.out.find("completado: guardado"), std::string::npos) << listed.out;
    spanish({"threads", "show", "t"});
    spanish({"threads", "preserve", "t"});
    spanish({"replay", "t"});
    spanish({"run", "routine", "--date", "2026-01-02", "--thread", "u"}, 3);
    spanish({"approvals", "reject", "u", "--by", "ana"});
  }
  World world;
  bool by_flag = false;
};

TEST_F(CliLanguage, OfALocaleIsThatOfEveryText) {
  world.setting.environment["LANG"] = "es_ES.UTF-8";
  expect_spanish_story();
}

TEST_F(CliLanguage, OfAnOptionIsThatOfEveryTextAndOfTheCommandsThatAreShown) {
  world.setting.environment["LANG"] = "C.UTF-8";
  by_flag = true;
  expect_spanish_story();
  Outcome english = world.run({"state", "t", "--language", "en"});
  EXPECT_NE(english.out.find("saved  (Thread t)"), std::string::npos) << english.out;
  Outcome wrong = world.run({"state", "t", "--language", "fr"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(wrong.says({"--language", "fr", "en or es"})) << wrong.err;
}

TEST_F(CliLanguage, OfALocaleIsThatOfAnAuditOfEnglishNotes) {
  world.setting.environment["LANG"] = "es_ES.UTF-8";
  world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day()));
  Outcome begun = world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"});
  EXPECT_NE(begun.out.find("no es un diagnóstico"), std::string::npos) << begun.out;
  EXPECT_EQ(world.run({"state", "t", "--json"}).json()["state"]["language"], Value("es"));
}

TEST_F(CliLanguage, OfAnOptionIsStoredWithAnEnqueuedRun) {
  world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day()));
  Outcome queued = world.run(
      {"enqueue", "daily-audit", "--date", "2026-01-01", "--thread", "t", "--language", "es"});
  EXPECT_EQ(queued.code, 0) << queued.err;
  EXPECT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  EXPECT_EQ(world.run({"state", "t", "--json"}).json()["state"]["language"], Value("es"));
}

TEST_F(CliLanguage, OfTheDemonstrationIsThatOfThePerson) {
  Outcome english = world.run({"demo"});
  EXPECT_EQ(english.code, 0) << english.err;
  EXPECT_NE(english.out.find("Risk"), std::string::npos) << english.out;
  world.setting.environment["LANG"] = "es_ES.UTF-8";
  Outcome spanish_demo = spanish({"demo"});
  EXPECT_NE(spanish_demo.out.find("Riesgo"), std::string::npos) << spanish_demo.out;
  EXPECT_NE(spanish_demo.out.find("Demostración completada"), std::string::npos);
}

}  // namespace
}  // namespace belay::cli::tests
