// The program of scripts/prose, which documents its arguments.
//
//     prose ROOT [FOLDER...]            prints the table of the tree at ROOT and of each folder
//     prose ROOT --hits [TEXT]          lists the hits whose path or phrase contains TEXT
//     prose ROOT --counts [--rise]      writes the counts of the tree to its prose_counts.txt

#include <algorithm>
#include <fstream>
#include <iostream>

#include "tests/tidy/prose_measures.h"
#include "tests/tidy/prose_rules.h"

namespace belay::tidy {
namespace {

PhraseFinder finder_of(const Tree& tree) {
  auto phrases = std::find_if(tree.begin(), tree.end(),
                              [](const File& file) { return file.path == kPhrasesPath; });
  return PhraseFinder(phrases == tree.end() ? "" : phrases->text);
}

int print_table(const Tree& tree, const PhraseFinder& phrases,
                const std::vector<std::string>& folders) {
  std::vector<Measures> all = {measure("this tree", tree, phrases)};
  for (const std::string& folder : folders) {
    std::string name = folder.substr(0, folder.find_last_not_of('/') + 1);
    all.push_back(measure(name.substr(name.rfind('/') + 1), read_tree(folder), phrases));
  }
  std::cout << to_table(all);
  return 0;
}

int print_hits(const Tree& tree, const std::string& text) {
  for (const Hit& hit : find_hits(tree)) {
    bool selected =
        hit.path.find(text) != hit.path.npos || hit.phrase.find(text) != hit.phrase.npos;
    if (!selected) continue;
    std::cout << hit.path << ":" << hit.line << ": not \"" << hit.phrase << "\": " << hit.instead
              << "\n";
  }
  return 0;
}

int write_counts(const std::string& root, const Tree& tree, bool may_rise) {
  std::vector<Hit> hits = find_hits(tree);
  ProseCounts actual = count_hits(hits);
  ProseCounts recorded = recorded_counts(tree);
  std::string risen;
  for (const auto& [phrase, count] : actual.phrases) {
    auto before = recorded.phrases.find(phrase);
    int allowed = before == recorded.phrases.end() ? 0 : before->second;
    if (count > allowed) {
      risen +=
          phrase + ": " + std::to_string(count) + ", recorded " + std::to_string(allowed) + "\n";
    }
  }
  if (!risen.empty() && !recorded.phrases.empty() && !may_rise) {
    std::cerr << "prose: phrases that are more frequent in the tree than recorded:\n"
              << risen
              << "Reword the text (scripts/prose --hits PHRASE), or record the counts of a "
              << "merge with --counts --rise.\n";
    return 1;
  }
  std::ofstream file(root + "/" + std::string(kCountsPath));
  file << to_text(actual) << std::flush;
  if (!file) {
    std::cerr << "prose: cannot write " << kCountsPath << "\n";
    return 1;
  }
  std::cout << "prose: " << hits.size() << " phrases in " << actual.files.size() << " files\n";
  return 0;
}

int run(std::vector<std::string> arguments) {
  if (arguments.empty()) {
    std::cerr << "usage: scripts/prose [FOLDER...] | --hits [TEXT] | --counts [--rise]\n";
    return 2;
  }
  std::string root = arguments.front();
  arguments.erase(arguments.begin());
  Tree tree = read_tree(root);
  PhraseFinder phrases = finder_of(tree);
  for (const Finding& fault : phrases.faults()) {
    std::cerr << fault.path << ":" << fault.line << ": " << fault.message << "\n";
    return 2;
  }
  std::string mode = arguments.empty() ? "" : arguments.front();
  std::string option = arguments.size() > 1 ? arguments[1] : "";
  if (mode == "--hits") return print_hits(tree, option);
  if (mode == "--counts") return write_counts(root, tree, option == "--rise");
  return print_table(tree, phrases, arguments);
}

}  // namespace
}  // namespace belay::tidy

int main(int count, char** arguments) {
  return belay::tidy::run(std::vector<std::string>(arguments + 1, arguments + count));
}
