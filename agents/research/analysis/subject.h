#pragma once
// agents/research/analysis/subject.h - the company of an analysis with its peers, market data and
// annual report, read from the data folders.

#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agents/research/analysis/analysis_state.h"
#include "agents/research/filings/data_folders.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research {

// Returns the ten digits of a company's number at the SEC: that of the order, else of its data
// folders, else the bundled one. Empty if it is unknown. Blocks.
std::string known_cik(const AnalysisRequest& request, const std::string& ticker);
// Returns the constants with the replacements of the order; `invalid` for one that is not possible.
Result<Constants> constants_of(const AnalysisRequest& request);

class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  const Company& company() const { return *company_; }
  const TextContext& text() const { return text_; }
  const Constants& constants() const { return constants_; }
  const AnalysisFacts& facts() const { return facts_; }
  // Rows of market files, and peers, that could not be used.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  friend class SubjectLoader;
  friend class SubjectCache;

  // The state of a file when it was read.
  struct Stamp {
    std::uintmax_t size = 0;
    std::filesystem::file_time_type time{};
    bool operator==(const Stamp&) const = default;
  };
  static Stamp stamp_of(const std::string& path);
  std::uintmax_t file_bytes() const;  // of all files
  // Returns whether all files are as they were read.
  bool is_current() const;

  std::map<std::string, Stamp> stamps_;  // by path
  Constants constants_;
  MarketData market_;
  std::optional<Company> company_;
  std::optional<FilingTextFile> file_;
  std::optional<TenKText> ten_k_;
  TextContext text_;
  AnalysisFacts facts_;
  std::vector<std::string> problems_;
};

// Reads the files; blocks. Fails with `invalid`, naming the file and the cause, if the company
// cannot be analyzed: an unknown ticker, a missing or damaged file, or no fiscal year.
Result<std::shared_ptr<const Subject>> load_subject(const AnalysisRequest& request);

// Keeps the subjects of the last analyses: at most 20, and as long as their files have at most 64
// MB. Thread-safe; a load blocks other loads.
class SubjectCache {
 public:
  // Returns the subject of a request with the same facts. Fails with `invalid` if a file is another
  // one than that of the facts, whose digests it compares.
  Result<std::shared_ptr<const Subject>> subject(const AnalysisRequest& request,
                                                 const AnalysisFacts& facts);
  // Loads the subject of a new analysis.
  Result<std::shared_ptr<const Subject>> load(const AnalysisRequest& request);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Subject> subject;
  };

  void keep(std::string key, std::shared_ptr<const Subject> subject);

  std::mutex lock_;
  std::list<Entry> entries_;  // the most recently used first
};

}  // namespace belay::research
