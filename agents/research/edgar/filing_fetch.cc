#include "agents/research/edgar/filing_fetch.h"

#include <cstdint>
#include <utility>

#include "agents/research/edgar/filing_html.h"
#include "agents/research/files/pending_file.h"
#include "agents/research/files/whole_file.h"
#include "agents/research/filings/company_facts.h"
#include "agents/research/filings/ten_k_text.h"

namespace belay::research {
namespace {

constexpr std::size_t kTickersBytesMax = 16 << 20;
constexpr std::size_t kFactsBytesMax = 64 << 20;
constexpr std::size_t kSubmissionsBytesMax = 32 << 20;
constexpr std::size_t kDocumentBytesMax = 32 << 20;
constexpr std::size_t kOlderFilesMax = 100;
constexpr std::size_t kBeginningBytesMax = 64 << 10;
constexpr Date kEndOfTime{INT32_MAX};
constexpr const char* kTickersName = "company_tickers.json";

bool is_plain_text(std::string_view document) { return document.ends_with(".txt"); }

bool is_readable_document(std::string_view document) {
  return document.ends_with(".htm") || document.ends_with(".html") || document.ends_with(".xml") ||
         is_plain_text(document);
}

Error damaged(const std::string& what, const std::string& why) {
  return error(ErrorCode::corrupt, "The response to the request for " + what +
                                       " cannot be used: " + why + ". Fetch again later.");
}

Result<Done> check_tickers(std::string_view text) {
  BELAY_TRY(TickerTable table, parse_company_tickers(text));
  return Done{};
}

Result<Done> check_submissions(std::string_view text) {
  BELAY_TRY(Submissions all, parse_submissions(text));
  return Done{};
}

}  // namespace

const char* name_of(FetchOutcome outcome) {
  switch (outcome) {
    case FetchOutcome::written:
      return "written";
    case FetchOutcome::unchanged:
      return "unchanged";
    case FetchOutcome::recent:
      return "recent";
  }
  return "";
}

// The body of a response on its way into a file.
class FilingFetch::Content : public EdgarBody {
 public:
  explicit Content(std::string what) : what_(std::move(what)) {}

  // Sets the path of the file. Before begin().
  void set_path(std::string path) { path_ = std::move(path); }
  // Checks the whole body, and replaces the file. Blocks. Returns the size of the file.
  virtual Result<std::uint64_t> store() = 0;

 protected:
  Error unusable(const std::string& why) const { return damaged(what_, why); }
  const std::string& path() const { return path_; }

 private:
  const std::string what_;
  std::string path_;
};

// A small file that is stored unchanged.
class FilingFetch::ListContent final : public Content {
 public:
  ListContent(std::string what, ListCheck check) : Content(std::move(what)), check_(check) {}

  Result<Done> begin() override {
    text_.clear();
    return Done{};
  }
  Result<Done> add(std::string_view piece) override {
    text_ += piece;
    return Done{};
  }
  Result<std::uint64_t> store() override {
    Result<Done> checked = check_(text_);
    if (!checked.ok()) return unusable(checked.error().message);
    BELAY_CHECK(replace_file(path(), text_));
    return std::uint64_t{text_.size()};
  }

 private:
  const ListCheck check_;
  std::string text_;
};

// Company facts, which are read and written while they arrive, and stored unchanged.
class FilingFetch::FactsContent final : public Content {
 public:
  FactsContent(std::string what, std::string cik)
      : Content(std::move(what)), cik_(std::move(cik)) {}

  Result<Done> begin() override {
    reader_ = std::make_unique<CompanyFactsReader>([](std::string_view) { return false; });
    if (file_) return file_->restart();
    BELAY_TRY(file_, PendingFile::create(path()));
    return Done{};
  }
  Result<Done> add(std::string_view piece) override {
    reader_->read(piece);
    return file_->add(piece);
  }
  Result<std::uint64_t> store() override {
    CompanyFactsRead read = reader_->finish();
    if (!read.error.empty()) return unusable("it is " + read.error);
    if (read.facts.cik != cik_) return unusable("it is not of CIK " + cik_);
    if (!read.facts.last_filed) return unusable("it has no facts");
    std::uint64_t bytes = file_->bytes();
    BELAY_CHECK(file_->replace());
    return bytes;
  }

 private:
  const std::string cik_;
  std::unique_ptr<CompanyFactsReader> reader_;
  std::unique_ptr<PendingFile> file_;
};

// The document of a filing, whose text is stored.
class FilingFetch::DocumentContent final : public Content {
 public:
  DocumentContent(std::string what, bool is_plain)
      : Content(std::move(what)), is_plain_(is_plain) {}

  Result<Done> begin() override {
    document_.clear();
    return Done{};
  }
  Result<Done> add(std::string_view piece) override {
    document_ += piece;
    return Done{};
  }
  Result<std::uint64_t> store() override {
    std::string_view beginning = std::string_view(document_).substr(0, kBeginningBytesMax);
    if (std::string title = page_title(beginning); title.starts_with("SEC.gov")) {
      return unusable("it is the page \"" + title + "\"");
    }
    FilingText read = is_plain_ ? text_of_plain(document_) : text_of_html(document_);
    std::string().swap(document_);
    if (!read.is_whole) return unusable("its HTML is too irregular to be read");
    if (read.text.empty()) return unusable("it has no text");
    BELAY_CHECK(replace_file(path(), read.text));
    std::uint64_t bytes = read.text.size();
    has_items_ = !TenKText(std::move(read.text)).items().empty();
    return bytes;
  }
  bool has_items() const { return has_items_; }

 private:
  const bool is_plain_;
  std::string document_;
  bool has_items_ = true;
};

Result<std::unique_ptr<FilingFetch>> FilingFetch::open(std::shared_ptr<HttpAccess> http,
                                                       EdgarPlaces places, EdgarOptions edgar,
                                                       FetchOptions options, Clock& clock,
                                                       Random& random) {
  BELAY_CHECK(check_user_agent(edgar.user_agent));
  BELAY_TRY(StoredCopies copies, StoredCopies::open(options.folder));
  return std::make_unique<FilingFetch>(std::move(http), std::move(places), std::move(edgar),
                                       std::move(options), std::move(copies), clock, random);
}

// Ensures that the file of the folder is a copy that is recent enough.
Task<Result<FetchedFile>> FilingFetch::refresh(Wanted wanted, Content& content) {
  FetchedFile file;
  file.path = copies_.path_of(wanted.name);
  std::optional<StoredCopy> copy = copies_.find(wanted.name, wanted.url);
  if (copy && is_fresh(*copy, clock_.now(), options_.age_max)) {
    file.outcome = FetchOutcome::recent;
    file.bytes = copy->bytes;
    co_return file;
  }
  EdgarRequest request{wanted.url, wanted.what, wanted.bytes_max, wanted.is_data};
  if (copy) {
    request.etag = copy->etag;
    request.last_modified = copy->lastModified;
  }
  content.set_path(file.path);
  BELAY_CO_TRY(EdgarReply reply, co_await client_.get(std::move(request), content));
  StoredCopy current = copy.value_or(StoredCopy{});
  if (reply.is_unchanged) {
    file.outcome = FetchOutcome::unchanged;
  } else {
    BELAY_CO_TRY(current.bytes, content.store());
    current.url = wanted.url;
    current.etag = std::move(reply.etag);
    current.lastModified = std::move(reply.last_modified);
  }
  current.checkedAt = clock_.now();
  file.bytes = current.bytes;
  BELAY_CO_CHECK(copies_.note(wanted.name, std::move(current)));
  co_return file;
}

// Returns the contents of a list, after its refresh.
Task<Result<std::string>> FilingFetch::list(Wanted wanted, ListCheck check) {
  ListContent content(wanted.what, check);
  std::size_t bytes_max = wanted.bytes_max;
  BELAY_CO_TRY(FetchedFile file, co_await refresh(std::move(wanted), content));
  BELAY_CO_TRY(std::optional<std::string> text, read_if_exists(file.path, bytes_max));
  Result<Done> checked = check(text.value_or(""));
  if (checked.ok()) co_return std::move(text).value_or("");
  co_return error(ErrorCode::corrupt, "The file \"" + file.path + "\" has changed: " +
                                          checked.error().message + " Delete it, and fetch again.");
}

Task<Result<Done>> FilingFetch::load_tickers() {
  if (tickers_) co_return Done{};
  Wanted wanted{kTickersName, places_.files + "/files/company_tickers.json", "the table of tickers",
                kTickersBytesMax};
  BELAY_CO_TRY(std::string text, co_await list(std::move(wanted), check_tickers));
  BELAY_CO_TRY(tickers_, parse_company_tickers(text));
  co_return Done{};
}

Task<Result<FetchedFile>> FilingFetch::facts(std::string cik) {
  std::string name = "CIK" + cik + ".json";
  Wanted wanted{name, places_.data + "/api/xbrl/companyfacts/" + name,
                "the company facts of CIK " + cik, kFactsBytesMax};
  FactsContent content(wanted.what, cik);
  co_return co_await refresh(std::move(wanted), content);
}

// Returns the filings of a company, with older ones if the first file has too few.
Task<Result<Submissions>> FilingFetch::submissions(std::string cik) {
  std::string name = "CIK" + cik + ".json";
  std::string what = "the list of filings of CIK " + cik;
  Wanted wanted{"submissions/" + name, places_.data + "/submissions/" + name, what,
                kSubmissionsBytesMax};
  BELAY_CO_TRY(std::string text, co_await list(std::move(wanted), check_submissions));
  BELAY_CO_TRY(Submissions all, parse_submissions(text));
  Date until = options_.as_of.value_or(kEndOfTime);
  std::size_t read = 0;
  for (const OlderFilings& older : all.older) {
    if (newest_filings(all, options_.filings, until).size() >= options_.filings) break;
    if (older.first > until) continue;
    if (++read > kOlderFilesMax) break;
    Wanted page{"submissions/" + older.name, places_.data + "/submissions/" + older.name,
                "the older filings of CIK " + cik, kSubmissionsBytesMax};
    BELAY_CO_TRY(std::string older_text, co_await list(std::move(page), check_submissions));
    BELAY_CO_TRY(Submissions part, parse_submissions(older_text));
    all.filings.insert(all.filings.end(), part.filings.begin(), part.filings.end());
  }
  co_return all;
}

Task<Result<Done>> FilingFetch::add_reports(FetchedCompany& company, Submissions all) {
  Date until = options_.as_of.value_or(kEndOfTime);
  std::vector<AnnualFiling> filings = newest_filings(all, options_.filings, until);
  if (filings.empty()) company.notes.push_back("The SEC lists no annual report.");
  std::optional<Date> previous;
  for (const AnnualFiling& filing : filings) {
    std::string what =
        "the " + filing.form + " of " + company.ticker + " filed " + filing.filed.text();
    // The name of a text has its date.
    if (previous == filing.filed) {
      company.notes.push_back("Of several reports of a day, only one is stored: not " + what + ".");
      continue;
    }
    previous = filing.filed;
    if (!is_readable_document(filing.document)) {
      company.notes.push_back("The document of " + what + " is not HTML or plain text.");
      continue;
    }
    Wanted wanted{"10k/" + company.ticker + "-10-K-" + filing.filed.text() + ".txt",
                  places_.files + "/Archives/edgar/data/" + archive_path(company.cik, filing), what,
                  kDocumentBytesMax, false};
    DocumentContent content(what, is_plain_text(filing.document));
    BELAY_CO_TRY(FetchedFile file, co_await refresh(std::move(wanted), content));
    if (!content.has_items()) company.notes.push_back("No items were found in " + what + ".");
    company.files.push_back(std::move(file));
  }
  co_return Done{};
}

Task<Result<FetchedCompany>> FilingFetch::company(std::string ticker) {
  std::optional<std::string> name = ticker_of(ticker);
  if (!name) {
    co_return error(ErrorCode::invalid,
                    "The ticker must have 1 to 12 letters and digits, such as "
                    "AAPL or BRK-B.");
  }
  BELAY_CO_CHECK(co_await load_tickers());
  std::optional<std::string> listed = listed_ticker(*tickers_, *name);
  if (!listed) {
    co_return error(ErrorCode::not_found,
                    "The SEC's table of tickers does not have " + *name + ".");
  }
  FetchedCompany company;
  company.ticker = *listed;
  company.cik = tickers_->find(*listed)->second;
  BELAY_CO_TRY(FetchedFile facts_file, co_await facts(company.cik));
  company.files.push_back(std::move(facts_file));
  BELAY_CO_CHECK(add_ticker(options_.folder, company.ticker, company.cik));
  BELAY_CO_TRY(Submissions all, co_await submissions(company.cik));
  company.entity = all.entity;
  BELAY_CO_CHECK(co_await add_reports(company, std::move(all)));
  co_return company;
}

}  // namespace belay::research
