// Each folder of src/ has a README.md that describes it; its first line is that of ARCHITECTURE.md.

#include <algorithm>
#include <map>
#include <set>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

constexpr int kReadmeLinesMax = 20;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Returns the row of each folder in ARCHITECTURE.md: "| `src/base/` | one line | ... |".
std::map<std::string, std::string> rows_of(std::string_view text) {
  std::map<std::string, std::string> rows;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with("| `src/")) continue;
    line.remove_prefix(3);
    std::size_t folder_end = line.find("/`");
    std::size_t bar = line.find('|');
    if (folder_end == line.npos || bar == line.npos) continue;
    std::string_view rest = line.substr(bar + 1);
    rows.emplace(line.substr(0, folder_end), trimmed(rest.substr(0, rest.find('|'))));
  }
  return rows;
}

// Returns "src/base" for "src/base/json.cc"; empty for files of other folders.
std::string folder_of(std::string_view path) {
  if (!path.starts_with("src/")) return "";
  std::size_t slash = path.find('/', 4);
  return slash == path.npos ? "" : std::string(path.substr(0, slash));
}

}  // namespace

Findings check_readmes(const Tree& tree) {
  std::map<std::string, std::string> rows;
  std::map<std::string, const File*> readmes;
  std::set<std::string> folders;
  for (const File& file : tree) {
    if (file.path == "ARCHITECTURE.md") rows = rows_of(file.text);
    std::string folder = folder_of(file.path);
    if (folder.empty()) continue;
    folders.insert(folder);
    if (file.path == folder + "/README.md") readmes[folder] = &file;
  }
  Findings findings;
  for (const std::string& folder : folders) {
    std::string path = folder + "/README.md";
    if (!readmes.contains(folder)) {
      findings.push_back({path, 1, "missing: say what the folder is, and where to look"});
      continue;
    }
    const std::string& text = readmes[folder]->text;
    auto lines = std::count(text.begin(), text.end(), '\n');
    if (lines > kReadmeLinesMax) {
      findings.push_back({path, kReadmeLinesMax + 1,
                          std::to_string(lines) + " lines, more than " +
                              std::to_string(kReadmeLinesMax) + ": docs/ has room"});
    }
    if (!rows.contains(folder)) {
      findings.push_back({path, 1, "ARCHITECTURE.md has no row for `" + folder + "/`"});
      continue;
    }
    std::string first = "# " + folder + "/: " + rows[folder];
    if (text.substr(0, text.find('\n')) == first) continue;
    findings.push_back({path, 1, "the first line is not that of ARCHITECTURE.md: " + first});
  }
  return findings;
}

}  // namespace belay::tidy
