#pragma once
// tests/tidy/prose_rules.h - finds phrases that plain technical English avoids, and compares how
// many there are with the recorded counts, which may only fall.
//
// The phrases are in tests/tidy/prose_phrases.txt, the counts in tests/tidy/prose_counts.txt. Both
// are read from the tree that is checked, so every function here is pure.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/checks.h"
#include "tests/tidy/prose_text.h"

namespace belay::tidy {

inline constexpr std::string_view kPhrasesPath = "tests/tidy/prose_phrases.txt";
inline constexpr std::string_view kCountsPath = "tests/tidy/prose_counts.txt";

// One occurrence of a phrase.
struct Hit {
  std::string path;
  int line;
  Source source;
  std::string phrase;  // as in prose_phrases.txt, or the name of a rule in code
  std::string instead;
};

// Finds phrases in passages. Built once, used for many files.
class PhraseFinder {
 public:
  // `phrases` has the format of prose_phrases.txt. Lines that are not valid are in faults().
  explicit PhraseFinder(std::string_view phrases);

  // The hits in the prose of `file`, by line. Empty if the file is out of scope.
  std::vector<Hit> find(const File& file) const;

  // Appends the hits of the phrases in one passage.
  void find(const Passage& passage, const std::string& path, std::vector<Hit>& hits) const;

  const Findings& faults() const { return faults_; }

 private:
  using Words = std::vector<std::string>;
  struct Sequence {
    Words words;
    std::size_t phrase;  // index into phrases_
  };
  struct Phrase {
    std::string pattern;
    std::string instead;
  };

  void add_line(std::string_view line, int number);

  std::vector<Phrase> phrases_;
  std::map<std::string, std::vector<Sequence>> by_first_word_;
  Findings faults_;
};

// Whether the phrases of a file count: not those of records, data, generated text and prompts.
bool is_in_scope(const File& file);

// The name of the rule on sentences that begin with "What" and do not end in "?".
inline constexpr std::string_view kWhatSentence = "sentence that begins with What";

// Hits of the four rules that patterns cannot express.
std::vector<Hit> find_by_code(const Passage& passage, const std::string& path);

// All hits of the tree, by path and line.
std::vector<Hit> find_hits(const Tree& tree);

// Number of hits by path and by phrase. Those without hits are not listed.
struct ProseCounts {
  std::map<std::string, int> files;
  std::map<std::string, int> phrases;
};

ProseCounts count_hits(const std::vector<Hit>& hits);

// The format of prose_counts.txt: `path: n` for each file, then `n phrase` for each phrase, sorted.
std::string to_text(const ProseCounts& counts);
ProseCounts read_counts(std::string_view text);

// The recorded counts of the tree; empty if it has no such file.
ProseCounts recorded_counts(const Tree& tree);

// Each hit of a file that has more hits than recorded, and some of a phrase that has.
Findings compare_counts(const std::vector<Hit>& hits, const ProseCounts& recorded);

// Files and phrases with fewer hits than recorded, one per line; empty if every count is equal.
std::string lower_counts(const ProseCounts& actual, const ProseCounts& recorded);

}  // namespace belay::tidy
