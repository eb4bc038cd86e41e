// Completions and the manual page, which are generated from the same table as the help.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool offers(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

// Returns the commands that a help lists, below the path.
std::vector<Words> verbs_below(const World& world, const Words& path) {
  Words asked = path;
  asked.push_back("--help");
  std::vector<Words> found;
  bool in_list = false;
  for (const std::string& line : lines_of(world.run(asked).out)) {
    if (line.empty()) in_list = false;
    if (line == "Subcommands:") in_list = true;
    bool is_verb = in_list && line.starts_with("  ") && line.size() > 2 && line[2] != ' ';
    if (line.empty() || !is_verb) continue;
    Words verb = path;
    verb.push_back(line.substr(2, line.find(' ', 2) - 2));
    found.push_back(verb);
    for (Words& deeper : verbs_below(world, verb)) found.push_back(std::move(deeper));
  }
  return found;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(CliVerbs, AreTheSameInHelpManualCompletionsAndDocuments) {
  World world;
  std::vector<Words> verbs = verbs_below(world, {});
  ASSERT_GT(verbs.size(), 30u);
  std::string manual = world.run({"man"}).out;
  std::ifstream file(std::string(BELAY_SOURCE_DIR) + "/docs/command-line.md");
  std::ostringstream document;
  document << file.rdbuf();
  for (const Words& verb : verbs) {
    std::string name = joined(verb);
    SCOPED_TRACE(name);
    std::string in_manual = name;
    for (std::size_t at = 0; (at = in_manual.find('-', at)) != in_manual.npos; at += 2) {
      in_manual.replace(at, 1, "\\-");
    }
    EXPECT_NE(manual.find("\\fBbelay " + in_manual + "\\fR"), std::string::npos);
    EXPECT_TRUE(offers(world.completed(verb), verb.back()));
    EXPECT_NE(document.str().find("`" + name), std::string::npos);
  }
}

TEST(CliCompletions, OfferOptionsAndNamesOfWhatThereIs) {
  World world;
  world.setting.binary = BELAY_SHOP_BINARY;
  ASSERT_EQ(world.run({"run", "order", "--thread", "first", "--input", "item=hat"}).code, 3);
  ASSERT_EQ(world.run({"run", "order", "--thread", "second", "--input", "item=hat"}).code, 3);
  auto offered = [&](const Words& words) { return world.completed(words); };
  EXPECT_TRUE(offers(offered({"state", "--a"}), "--at"));
  EXPECT_TRUE(offers(offered({"state", "first", "--j"}), "--json"));
  EXPECT_EQ(offered({"state", ""}), (Words{"second", "first"}));
  EXPECT_EQ(offered({"state", "f"}), (Words{"first"}));
  EXPECT_EQ(offered({"state", "first", ""}), Words{}) << "it takes one thread";
  EXPECT_EQ(offered({"outbox", "list", "--thread", "s"}), (Words{"second"}));
  EXPECT_EQ(offered({"approvals", "approve", ""}).size(), 2u);
  EXPECT_EQ(offered({"agents", "show", "o"}), (Words{"order"}));
  EXPECT_TRUE(offers(offered({"run", ""}), "errand"));
  EXPECT_EQ(offered({"--store", "memory:", "state", ""}), Words{}) << "of the store that is named";
  EXPECT_EQ(offered({"state", "--store", "nothing:x", ""}), Words{}) << "and says nothing of it";
  Outcome without_words = world.run({"__complete"});
  EXPECT_TRUE(without_words.code == 0 || without_words.code == 128 + SIGALRM) << without_words.err;
}

// Uses the words as bash itself splits them.
TEST(CliCompletions, WorkInBash) {
  World world;
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day())).code, 0);
  ASSERT_EQ(world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "first"}).code, 3);
  std::string script = world.write("completions.bash", world.run({"completions", "bash"}).out);
  auto offered_once = [&](const std::string& words, int word) {
    std::string code = "source " + script + "; COMP_WORDS=(" + words +
                       "); COMP_CWORD=" + std::to_string(word) +
                       "; _belay_completions; printf '%s\\n' \"${COMPREPLY[@]}\"";
    std::string name = std::string(BELAY_BINARY);
    std::string folder = name.substr(0, name.rfind('/'));
    std::string command = "env -i HOME=" + world.folder.path() + " PATH='" + folder +
                          ":/usr/bin:/bin' bash --norc -c '" + code + "'";
    for (std::size_t at = command.find("'%s\\n'"); at != command.npos;) {
      command.replace(at, 6, "\"%s\\n\"");
      break;
    }
    std::string out;
    FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 512> part;
    while (std::size_t count = std::fread(part.data(), 1, part.size(), pipe)) {
      out.append(part.data(), count);
    }
    EXPECT_EQ(::pclose(pipe), 0) << command;
    return lines_of(out);
  };
  // As in World::completed(): the program might have ended itself.
  auto offered = [&](const std::string& words, int word) {
    Words lines = offered_once(words, word);
    for (int tries = 1; tries < 50 && lines == Words{""}; ++tries) {
      lines = offered_once(words, word);
    }
    return lines;
  };
  EXPECT_TRUE(offers(offered("belay th", 1), "threads"));
  EXPECT_EQ(offered("belay approvals app", 2), (Words{"approve"}));
  EXPECT_TRUE(offers(offered("belay fork first --pre", 3), "--preview"));
  // Bash splits at the colon.
  std::string store = "sqlite : " + world.store_path();
  EXPECT_EQ(offered("belay --store " + store + " state fi", 6), (Words{"first"}));
}

TEST(CliManual, IsRoffWithEveryVerbAndTheExitCodes) {
  World world;
  Outcome manual = world.run({"man"});
  EXPECT_EQ(manual.code, 0);
  EXPECT_TRUE(manual.out.starts_with(".TH \"belay\" 1")) << manual.out.substr(0, 80);
  EXPECT_NE(manual.out.find("Exit codes:"), std::string::npos);
  for (const std::string& line : lines_of(manual.out)) {
    bool is_request = line.starts_with(".");
    if (!is_request) continue;
    std::string name = line.substr(1, 2);
    EXPECT_TRUE(name == "TH" || name == "SH" || name == "SS" || name == "TP" || name == "PP" ||
                name == "nf" || name == "fi")
        << line;
  }
}

TEST(CliCompletions, OfAnUnknownShellAreRefused) {
  World world;
  EXPECT_EQ(world.run({"completions", "tcsh"}).code, 2);
  for (const std::string shell : {"zsh", "fish"}) {
    Outcome script = world.run({"completions", shell});
    EXPECT_EQ(script.code, 0);
    EXPECT_NE(script.out.find("belay __complete"), std::string::npos) << script.out;
  }
}

}  // namespace
}  // namespace belay::cli::tests
