// deploy/ and docs/operations.md must match the program: its parser accepts every command, it reads
// every variable, and the files are valid YAML.

#include <gmock/gmock.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <sstream>

#include "cli/arguments.h"
#include "cli/modules.h"
#include "program/belay_program.h"
#include "tests/documents/source_text.h"

namespace belay::documents {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const fs::path& sources() {
  static const fs::path path(BELAY_SOURCE_DIR);
  return path;
}

std::vector<fs::path> files_of_deploy(const std::string& extension) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(sources() / "deploy")) {
    if (entry.path().parent_path().filename() == "secrets") continue;
    bool fits = extension.empty() || entry.path().extension() == extension;
    if (entry.is_regular_file() && fits) found.push_back(entry.path());
  }
  return found;
}

Words words_in(const std::string& line) {
  Words words;
  std::istringstream text(line);
  for (std::string word; text >> word;) {
    std::erase(word, '\'');
    words.push_back(word);
  }
  return words;
}

// `words` are the arguments after the program's name.
void expect_understood(Words words, const fs::path& file) {
  words.insert(words.begin(), "belay");
  std::vector<const char*> pointers;
  std::string shown;
  for (const std::string& word : words) {
    pointers.push_back(word.c_str());
    shown += word + " ";
  }
  auto parsed =
      cli::parse_arguments(*cli::program_with("belay", program::options(), program::modules()),
                           static_cast<int>(pointers.size()), pointers.data());
  EXPECT_TRUE(parsed.ok()) << file << ": " << shown << "\n" << parsed.error().message;
}

// Adds the arguments of each container of Belay's image: "command" of Compose, "args" of
// Kubernetes.
void add_arguments(const YAML::Node& node, std::vector<Words>& found) {
  if (node.IsMap() && node["image"] && node["image"].as<std::string>().starts_with("belay:")) {
    for (const char* key : {"command", "args"}) {
      if (node[key]) found.push_back(node[key].as<Words>());
    }
  }
  if (!node.IsMap() && !node.IsSequence()) return;
  for (const auto& child : node) add_arguments(node.IsMap() ? child.second : child, found);
}

// Compose merges the map under "<<" into its parent; yaml-cpp does not.
std::vector<Words> arguments_in(const fs::path& file) {
  std::vector<Words> found;
  for (YAML::Node& document : YAML::LoadAllFromFile(file.string())) {
    EXPECT_TRUE(document.IsMap()) << file;
    for (const auto& service : document["services"] ? document["services"] : YAML::Node()) {
      YAML::Node merged = service.second["<<"];
      if (!merged || !merged["image"]) continue;
      if (merged["image"].as<std::string>().starts_with("belay:")) {
        found.push_back(service.second["command"].as<Words>());
      }
    }
    add_arguments(document, found);
  }
  return found;
}

TEST(Deployment, EveryContainerIsStartedWithWordsThatTheProgramTakes) {
  std::size_t containers = 0;
  std::vector<fs::path> files = files_of_deploy(".yaml");
  EXPECT_GE(files.size(), 7u);
  for (const fs::path& file : files) {
    for (Words& words : arguments_in(file)) {
      ++containers;
      expect_understood(std::move(words), file);
    }
  }
  EXPECT_EQ(containers, 5u);
}

// Returns the rest of the line, or the text up to a backtick, after each occurrence of the mark.
std::vector<std::string> after_each(std::string_view mark, const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) {
    std::size_t begin = at + mark.size();
    found.push_back(text.substr(begin, text.find_first_of("`\n", begin) - begin));
  }
  return found;
}

TEST(Deployment, EveryUnitAndTheImageStartWithWordsThatTheProgramTakes) {
  std::vector<fs::path> units = files_of_deploy(".service");
  EXPECT_EQ(units.size(), 2u);
  for (const fs::path& unit : units) {
    std::vector<std::string> commands =
        after_each("\nExecStart=/usr/local/bin/belay ", text_of(unit));
    ASSERT_EQ(commands.size(), 1u) << unit;
    expect_understood(words_in(commands[0]), unit);
  }
  fs::path image = sources() / "deploy" / "Dockerfile";
  std::vector<std::string> commands = after_each("\nCMD ", text_of(image));
  ASSERT_EQ(commands.size(), 1u);
  expect_understood(YAML::Load(commands[0]).as<Words>(), image);
}

TEST(Deployment, EveryCommandOfItsPagesIsOneThatTheProgramTakes) {
  std::size_t named = 0;
  for (const char* name : {"docs/operations.md", "docs/postgresql.md", "deploy/README.md"}) {
    std::string text = text_of(sources() / name);
    // In backticks, or on a separate line.
    for (const char* mark : {"`belay ", "\n    belay "}) {
      for (const std::string& command : after_each(mark, text)) {
        ++named;
        expect_understood(words_in(command), name);
      }
    }
  }
  EXPECT_GE(named, 12u);
}

// Returns names such as "BELAY_STORE".
std::vector<std::string> variables_in(const std::string& text) {
  std::vector<std::string> names;
  auto is_part = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; };
  for (const std::string& rest : after_each("BELAY_", text)) {
    std::size_t end = 0;
    while (end < rest.size() && is_part(rest[end])) ++end;
    names.push_back("BELAY_" + rest.substr(0, end));
  }
  return names;
}

TEST(Deployment, EveryVariableThatItNamesIsReadByTheProgram) {
  std::string code;
  for (const char* folder : {"src/cli", "src/program"}) {
    for (const auto& entry : fs::directory_iterator(sources() / folder)) {
      if (entry.path().extension() == ".cc") code += text_of(entry.path());
    }
  }
  std::vector<fs::path> files = files_of_deploy("");
  for (const char* page : {"docs/operations.md", "docs/postgresql.md"}) {
    files.push_back(sources() / page);
  }
  std::size_t named = 0;
  for (const fs::path& file : files) {
    for (const std::string& name : variables_in(text_of(file))) {
      ++named;
      EXPECT_NE(code.find("variable(\"" + name + "\")"), std::string::npos) << file << ": " << name;
    }
  }
  EXPECT_GE(named, 8u);
}

}  // namespace
}  // namespace belay::documents
