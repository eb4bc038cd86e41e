#pragma once
// agents/research/edgar/filing_fetch.h - FilingFetch: fetches the files of a company from the SEC
// into a data folder.
//
// The folder has the layout of --data (filings/data_folders.h):
//     edgar/CIK<10 digits>.json               the company facts, unchanged
//     edgar/10k/TICKER-10-K-<filed>.txt       the text of an annual report
//     edgar/tickers.json                      the companies that were fetched (ticker_table.h)
// and, only for later fetches:
//     edgar/company_tickers.json, edgar/submissions/CIK<10 digits>.json, edgar/fetched.json
// Each file is written atomically, after it was checked.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/edgar/edgar_client.h"
#include "agents/research/edgar/stored_copies.h"
#include "agents/research/edgar/submissions.h"
#include "agents/research/edgar/ticker_table.h"
#include "agents/research/finance/date.h"
#include "belay/task.h"

namespace belay::research {

struct FetchOptions {
  std::string folder;         // created if it does not exist
  std::size_t filings = 1;    // annual reports of each company, the newest ones
  std::optional<Date> as_of;  // only those that were filed until this day
  std::chrono::milliseconds age_max = std::chrono::hours(24);  // younger files are not requested
};

enum class FetchOutcome {
  written,    // fetched
  unchanged,  // the SEC confirmed that the file is current
  recent,     // not requested: see FetchOptions::age_max
};
const char* name_of(FetchOutcome outcome);

struct FetchedFile {
  std::string path;
  FetchOutcome outcome = FetchOutcome::written;
  std::uint64_t bytes = 0;
};

struct FetchedCompany {
  std::string ticker;  // as the SEC lists it
  std::string cik;     // ten digits
  std::string entity;
  std::vector<FetchedFile> files;  // those that an analysis reads
  std::vector<std::string> notes;  // reports that could not be used, and why
};

class FilingFetch {
 public:
  // The clock and the randomness must outlive the object. Reads the folder; blocks.
  static Result<std::unique_ptr<FilingFetch>> open(std::shared_ptr<HttpAccess> http,
                                                   EdgarPlaces places, EdgarOptions edgar,
                                                   FetchOptions options, Clock& clock,
                                                   Random& random);

  // For open(), which checks the options.
  FilingFetch(std::shared_ptr<HttpAccess> http, EdgarPlaces places, EdgarOptions edgar,
              FetchOptions options, StoredCopies copies, Clock& clock, Random& random)
      : places_(std::move(places)),
        options_(std::move(options)),
        copies_(std::move(copies)),
        client_(std::move(http), std::move(edgar), clock, random),
        clock_(clock) {}

  // Fetches the files of a company, one after the other. Fails with `not_found` for an unknown
  // ticker, with `corrupt` if a response is not the file that it should be, and with the errors of
  // EdgarClient::get(). Files that were complete before the error remain.
  Task<Result<FetchedCompany>> company(std::string ticker);

  std::size_t requests() const { return client_.requests(); }

 private:
  // A file of the folder, and the object of which it is a copy.
  struct Wanted {
    std::string name;  // below edgar/
    std::string url;
    std::string what;
    std::size_t bytes_max = 0;
    bool is_data = true;
  };
  class Content;
  class ListContent;
  class FactsContent;
  class DocumentContent;
  using ListCheck = Result<Done> (*)(std::string_view text);

  Task<Result<FetchedFile>> refresh(Wanted wanted, Content& content);
  Task<Result<std::string>> list(Wanted wanted, ListCheck check);
  Task<Result<Done>> load_tickers();
  Task<Result<FetchedFile>> facts(std::string cik);
  Task<Result<Submissions>> submissions(std::string cik);
  Task<Result<Done>> add_reports(FetchedCompany& company, Submissions all);

  const EdgarPlaces places_;
  const FetchOptions options_;
  StoredCopies copies_;
  EdgarClient client_;
  Clock& clock_;
  std::optional<TickerTable> tickers_;
};

}  // namespace belay::research
