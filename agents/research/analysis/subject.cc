#include "agents/research/analysis/subject.h"

#include <algorithm>

#include "agents/research/edgar/ticker_table.h"

namespace belay::research {
namespace {

// A worker executes several analyses, whose subtasks alternate. A company in memory takes up to
// twice the bytes of its files.
constexpr std::size_t kSubjectsKept = 20;
constexpr std::uintmax_t kFileBytesKept = 64u << 20;

Error unusable(const std::string& cause) { return error(ErrorCode::invalid, cause); }

Result<std::string> cik_of(const AnalysisRequest& request, const std::string& ticker) {
  std::string cik = known_cik(request, ticker);
  if (!cik.empty()) return cik;
  return unusable("Unknown ticker \"" + ticker + "\". Name its number at the SEC: --cik " + ticker +
                  "=CIK.");
}

// JSON has no U+0000.
std::string without_nul(std::string text) {
  std::erase(text, '\0');
  return text;
}

std::string key_of(const AnalysisRequest& request, const AnalysisFacts& facts) {
  std::string json = encode_json(request).value();
  return json + facts.asOf;
}

}  // namespace

std::string known_cik(const AnalysisRequest& request, const std::string& ticker) {
  auto given = request.ciks.find(ticker);
  if (given != request.ciks.end()) return ten_digits(given->second);
  std::string cik = cik_in_folders(request.data, ticker);
  return cik.empty() ? bundled_cik(ticker) : cik;
}

Result<Constants> constants_of(const AnalysisRequest& request) {
  Constants constants;
  std::vector<ConstantOverride> overrides;
  for (const auto& [name, value] : request.constants) overrides.push_back({name, value});
  if (std::optional<std::string> why = constants.set_all(overrides)) return unusable(*why);
  return constants;
}

class SubjectLoader {
 public:
  explicit SubjectLoader(const AnalysisRequest& request)
      : request_(request), folders_(request.data), subject_(std::make_shared<Subject>()) {}

  Result<std::shared_ptr<const Subject>> load() {
    BELAY_TRY(subject_->constants_, constants_of(request_));
    BELAY_TRY(std::string cik, cik_of(request_, request_.ticker));
    FileRead<CompanyFacts> facts = folders_.company_facts(cik);
    if (!facts.content) return unusable(facts.error);
    note_file(facts.path, facts.digest);
    BELAY_TRY(as_of_, as_of(*facts.content));
    load_market();
    subject_->company_.emplace(company(request_.ticker, *facts.content));
    if (!subject_->company().has_years()) {
      return unusable(facts.path + ": it has no usable fiscal year filed until " + as_of_.text());
    }
    BELAY_CHECK(load_peers());
    BELAY_CHECK(load_text());
    describe(*facts.content, cik);
    return std::shared_ptr<const Subject>(std::move(subject_));
  }

 private:
  Company company(const std::string& ticker, const CompanyFacts& facts) const {
    return Company(ticker, facts, as_of_, subject_->market_, subject_->constants_);
  }

  Result<Date> as_of(const CompanyFacts& facts) const {
    if (request_.asOf.empty()) return *facts.last_filed;
    std::optional<Date> date = Date::parse(request_.asOf);
    if (date) return *date;
    return unusable("Invalid --as-of \"" + request_.asOf + "\": expected a date, YYYY-MM-DD.");
  }

  void note_file(const std::string& path, const std::string& digest) {
    subject_->stamps_[path] = Subject::stamp_of(path);
    subject_->facts_.files[path] = digest;
  }

  void load_market() {
    MarketRead read = folders_.market_data({request_.ticker});
    for (const auto& [path, digest] : read.digests) note_file(path, digest);
    subject_->market_ = std::move(read.data);
    subject_->problems_ = std::move(read.problems);
  }

  // A peer whose file cannot be used is left out; a peer without a known CIK is an error.
  Result<Done> load_peers() {
    for (const std::string& peer : request_.peers) {
      BELAY_TRY(std::string cik, cik_of(request_, peer));
      subject_->facts_.peerCiks[peer] = cik;
      FileRead<CompanyFacts> facts = folders_.company_facts(cik);
      if (!facts.path.empty()) note_file(facts.path, facts.digest);
      if (facts.content) {
        subject_->company_->add_peer(company(peer, *facts.content));
      } else {
        subject_->problems_.push_back(facts.error);
      }
    }
    return Done{};
  }

  Result<Done> load_text() {
    const Company& subject = subject_->company();
    TextContext& text = subject_->text_;
    text.fiscal_year_end = subject.year_end(subject.last_year()).text();
    FileRead<FilingTextFile> file = folders_.filing_text(request_.ticker, as_of_);
    if (!file.error.empty()) return unusable(file.error);
    if (!file.content) return Done{};
    note_file(file.path, file.digest);
    std::vector<Date> ends;
    for (const FiscalYear& year : subject.statements().years().all()) ends.push_back(year.end);
    text.input = filing_text_input(file.content->bytes.size(), file.content->filed);
    text.period_end = filing_text_period_end(ends, file.content->filed).text();
    subject_->ten_k_.emplace(std::move(file.content->bytes));
    text.text = &*subject_->ten_k_;
    return Done{};
  }

  void describe(const CompanyFacts& facts, const std::string& cik) {
    const Company& subject = subject_->company();
    AnalysisFacts& described = subject_->facts_;
    described.asOf = as_of_.text();
    described.entity = without_nul(facts.entity_name);
    described.cik = cik;
    described.currency = subject.currency();
    for (std::size_t year : subject.reported_years()) {
      described.fiscalYears.push_back(subject.year_end(year).text());
    }
  }

  const AnalysisRequest& request_;
  const DataFolders folders_;
  std::shared_ptr<Subject> subject_;
  Date as_of_;
};

Subject::Stamp Subject::stamp_of(const std::string& path) {
  std::error_code failure;
  Stamp stamp;
  stamp.size = std::filesystem::file_size(path, failure);
  stamp.time = std::filesystem::last_write_time(path, failure);
  return stamp;
}

std::uintmax_t Subject::file_bytes() const {
  std::uintmax_t bytes = 0;
  for (const auto& [path, stamp] : stamps_) {
    bool is_known = stamp.size != static_cast<std::uintmax_t>(-1);
    if (is_known) bytes += stamp.size;
  }
  return bytes;
}

bool Subject::is_current() const {
  return std::all_of(stamps_.begin(), stamps_.end(),
                     [](const auto& each) { return stamp_of(each.first) == each.second; });
}

Result<std::shared_ptr<const Subject>> load_subject(const AnalysisRequest& request) {
  return SubjectLoader(request).load();
}

Result<std::shared_ptr<const Subject>> SubjectCache::subject(const AnalysisRequest& request,
                                                             const AnalysisFacts& facts) {
  std::string key = key_of(request, facts);
  std::lock_guard guard(lock_);
  auto found = std::find_if(entries_.begin(), entries_.end(),
                            [&](const Entry& entry) { return entry.key == key; });
  if (found != entries_.end() && found->subject->is_current()) {
    entries_.splice(entries_.begin(), entries_, found);
    return entries_.front().subject;
  }
  if (found != entries_.end()) entries_.erase(found);
  // Later filings than those of the start must not become visible.
  AnalysisRequest same = request;
  same.asOf = facts.asOf;
  BELAY_TRY(std::shared_ptr<const Subject> loaded, load_subject(same));
  for (const auto& [path, digest] : facts.files) {
    auto now = loaded->facts().files.find(path);
    if (now == loaded->facts().files.end() || now->second != digest) {
      return unusable(path + " has changed since the analysis began. Start a new analysis.");
    }
  }
  if (loaded->facts().files.size() != facts.files.size()) {
    return unusable(
        "The data folders have other files than when the analysis began. Start a new "
        "analysis.");
  }
  keep(std::move(key), loaded);
  return loaded;
}

Result<std::shared_ptr<const Subject>> SubjectCache::load(const AnalysisRequest& request) {
  std::lock_guard guard(lock_);
  BELAY_TRY(std::shared_ptr<const Subject> loaded, load_subject(request));
  keep(key_of(request, loaded->facts()), loaded);
  return loaded;
}

void SubjectCache::keep(std::string key, std::shared_ptr<const Subject> subject) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.key == key; });
  entries_.push_front({std::move(key), std::move(subject)});
  std::uintmax_t bytes = 0;
  std::size_t kept = 0;
  for (auto entry = entries_.begin(); entry != entries_.end(); ++kept) {
    bytes += entry->subject->file_bytes();
    bool is_over = kept == kSubjectsKept || bytes > kFileBytesKept;
    // The newest one is in use.
    entry = is_over && kept > 0 ? entries_.erase(entry) : std::next(entry);
  }
}

}  // namespace belay::research
