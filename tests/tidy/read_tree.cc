// Reads the files of the repository, or of another folder of sources.

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

namespace fs = std::filesystem;

// The paths that git tracks or would track, '\0' after each; empty without git.
std::string listed_by_git(const std::string& root) {
  std::string command =
      "git -C '" + root + "' ls-files -z --cached --others --exclude-standard 2>/dev/null";
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) return "";
  std::string all;
  std::array<char, 4096> buffer;
  while (std::size_t size = fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    all.append(buffer.data(), size);
  }
  return all;
}

std::vector<std::string> paths_by_walking(const std::string& root) {
  std::vector<std::string> paths;
  for (auto entry = fs::recursive_directory_iterator(root);
       entry != fs::recursive_directory_iterator(); ++entry) {
    std::string name = entry->path().filename();
    bool skipped = name == "build" || (name.starts_with(".") && name != ".ci");
    if (entry->is_directory() && skipped) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      paths.push_back(fs::relative(entry->path(), root).string());
    }
  }
  return paths;
}

std::vector<std::string> paths_in(const std::string& root) {
  std::string listed = listed_by_git(root);
  if (listed.empty()) return paths_by_walking(root);
  std::vector<std::string> paths;
  std::istringstream stream(listed);
  for (std::string path; std::getline(stream, path, '\0');) paths.push_back(path);
  return paths;
}

bool is_data(std::string_view path) {
  // Any bytes, stored unchanged.
  if (path.starts_with("tests/fuzz/corpus/")) return true;
  for (std::string_view end : {".jsonl", ".csv", ".tsv", ".db", ".png", ".svg", ".gz"}) {
    if (path.ends_with(end)) return true;
  }
  return false;
}

}  // namespace

Tree read_tree(const std::string& root) {
  std::vector<std::string> paths = paths_in(root);
  std::sort(paths.begin(), paths.end());
  Tree tree;
  for (std::string& path : paths) {
    if (is_data(path) || !fs::is_regular_file(root + "/" + path)) continue;
    std::ifstream in(root + "/" + path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    tree.push_back({std::move(path), std::move(text).str()});
  }
  return tree;
}

}  // namespace belay::tidy
