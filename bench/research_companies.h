#pragma once
// bench/research_companies.h - the companies that research_bench analyzes: copies of the bundled
// files under other numbers of the SEC, and a large file of facts.

#include <string>

#include "agents/research/analysis/analysis_state.h"
#include "belay/runtime.h"

namespace belay::bench {

inline const UserId research_owner{"ana"};

inline constexpr std::size_t bundled_companies = 7;

// Returns the ticker of the bundled company `i`, modulo their number.
std::string ticker_of(std::size_t i);

// A data folder with `count` companies. Company `i` has a file of facts with a number of the SEC
// that no other one has, and the prices and the annual report of a bundled company.
class CompanyCopies {
 public:
  // `folder` must not exist.
  CompanyCopies(std::string folder, std::size_t count);

  std::size_t count() const { return count_; }
  const std::string& folder() const { return folder_; }
  research::Analysis order(std::size_t i) const;

 private:
  const std::string folder_;
  const std::size_t count_;
};

// The facts by which a file is enlarged.
enum class Excess {
  unused_tags,  // facts of tags that no rule reads, as in real files
  used_tags,    // facts of the tags that the rules read: all are kept until they are chosen
};

// Writes the facts of Apple with further ones, at least `bytes` bytes, into the data folder
// `folder`, which must not exist.
void write_large_facts(const std::string& folder, std::size_t bytes, Excess excess);

// Returns the options of the start of an analysis without a gate.
StartOptions options_of_analysis(const std::string& id);

// The folder of the bundled files.
std::string bundled_folder();

}  // namespace belay::bench
