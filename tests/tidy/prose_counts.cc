// The ratchet: recorded numbers of hits, which may only fall.
//
// A file with more hits than recorded is reported with all of them. A phrase can also become more
// frequent while every file keeps its number; the new use is unknown then, so some uses are listed.

#include <algorithm>
#include <charconv>

#include "tests/tidy/prose_rules.h"

namespace belay::tidy {
namespace {

constexpr std::string_view kTop =
    "# Written by scripts/prose --counts. TidyProse: the hits of each file, then those of each "
    "phrase\n"
    "# in the whole tree. They may only fall; a file that is not listed has none.\n";

constexpr int kListedMax = 10;

int number_in(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

int at(const std::map<std::string, int>& counts, const std::string& key) {
  auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

std::string than_recorded(int count, int allowed) {
  return std::to_string(count) + " of these, recorded " + std::to_string(allowed);
}

Finding finding_of(const Hit& hit, const std::string& reason) {
  return {hit.path, hit.line, "not \"" + hit.phrase + "\": " + hit.instead + " (" + reason + ")"};
}

std::string lower_lines(const std::map<std::string, int>& actual,
                        const std::map<std::string, int>& recorded) {
  std::string lines;
  for (const auto& [key, count] : recorded) {
    if (at(actual, key) >= count) continue;
    lines +=
        key + ": " + std::to_string(at(actual, key)) + ", recorded " + std::to_string(count) + "\n";
  }
  return lines;
}

}  // namespace

ProseCounts count_hits(const std::vector<Hit>& hits) {
  ProseCounts counts;
  for (const Hit& hit : hits) {
    ++counts.files[hit.path];
    ++counts.phrases[hit.phrase];
  }
  return counts;
}

std::string to_text(const ProseCounts& counts) {
  std::string text(kTop);
  for (const auto& [path, count] : counts.files) {
    text += path + ": " + std::to_string(count) + "\n";
  }
  for (const auto& [phrase, count] : counts.phrases) {
    text += std::to_string(count) + " " + phrase + "\n";
  }
  return text;
}

ProseCounts read_counts(std::string_view text) {
  ProseCounts counts;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    std::size_t space = line.find(' ');
    std::size_t colon = line.rfind(": ");
    bool is_phrase = line.find_first_not_of("0123456789") == space;
    if (is_phrase && space != line.npos) {
      counts.phrases[std::string(line.substr(space + 1))] = number_in(line);
    } else if (colon != line.npos) {
      counts.files[std::string(line.substr(0, colon))] = number_in(line.substr(colon + 2));
    }
  }
  return counts;
}

ProseCounts recorded_counts(const Tree& tree) {
  auto file = std::find_if(tree.begin(), tree.end(),
                           [](const File& one) { return one.path == kCountsPath; });
  return file == tree.end() ? ProseCounts() : read_counts(file->text);
}

Findings compare_counts(const std::vector<Hit>& hits, const ProseCounts& recorded) {
  ProseCounts actual = count_hits(hits);
  Findings findings;
  std::map<std::string, int> explained;  // hits by phrase in files that have more than recorded
  for (const Hit& hit : hits) {
    int count = at(actual.files, hit.path);
    int allowed = at(recorded.files, hit.path);
    if (count <= allowed) continue;
    ++explained[hit.phrase];
    findings.push_back(finding_of(hit, "this file: " + than_recorded(count, allowed)));
  }
  std::map<std::string, int> listed;
  for (const Hit& hit : hits) {
    int count = at(actual.phrases, hit.phrase);
    int allowed = at(recorded.phrases, hit.phrase);
    if (count - allowed <= at(explained, hit.phrase)) continue;
    if (++listed[hit.phrase] > kListedMax) continue;
    std::string reason = "this phrase in all files: " + than_recorded(count, allowed);
    if (count > kListedMax) reason += "; list all with scripts/prose --hits";
    findings.push_back(finding_of(hit, reason));
  }
  return findings;
}

std::string lower_counts(const ProseCounts& actual, const ProseCounts& recorded) {
  return lower_lines(actual.files, recorded.files) + lower_lines(actual.phrases, recorded.phrases);
}

Findings check_prose(const Tree& tree) {
  auto phrases = std::find_if(tree.begin(), tree.end(),
                              [](const File& file) { return file.path == kPhrasesPath; });
  if (phrases == tree.end()) return {};
  Findings findings = PhraseFinder(phrases->text).faults();
  Findings more = compare_counts(find_hits(tree), recorded_counts(tree));
  findings.insert(findings.end(), more.begin(), more.end());
  return findings;
}

}  // namespace belay::tidy
