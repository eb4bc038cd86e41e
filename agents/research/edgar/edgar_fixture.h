#pragma once
// agents/research/edgar/edgar_fixture.h - the objects of a company at the SEC, a data folder, and a
// fetch of both. For tests.

#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>

#include "agents/research/edgar/fake_edgar.h"
#include "agents/research/edgar/filing_fetch.h"
#include "belay/testing.h"

namespace belay::research {

inline constexpr const char* kDeclaredAgent = "Sample Company admin@sample.org";
inline constexpr const char* kTickersPath = "/files/company_tickers.json";
inline constexpr const char* kFactsPath = "/api/xbrl/companyfacts/CIK0000320193.json";
inline constexpr const char* kSubmissionsPath = "/submissions/CIK0000320193.json";
inline constexpr const char* kOlderPath = "/submissions/CIK0000320193-submissions-001.json";
inline constexpr const char* kDocumentPath =
    "/Archives/edgar/data/320193/000032019324000123/aapl-20240928.htm";

std::string contents_of(const std::string& path);
// Returns the folder with the bundled data.
std::string bundled_folder();
// Returns the contents of a file of the bundled data, below edgar/.
std::string bundled_file(const std::string& name);

class EdgarFolder {
 public:
  EdgarFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "edgar.XXXXXX").string();
    path_ = ::mkdtemp(path.data());
  }
  EdgarFolder(const EdgarFolder&) = delete;
  EdgarFolder& operator=(const EdgarFolder&) = delete;
  ~EdgarFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/edgar/" + name; }

 private:
  std::string path_;
};

// A list of filings; the second is an amendment.
std::string sample_submissions();
std::string sample_tickers();
// A document with the items 1 and 1A.
std::string sample_html();

// Gives a server the objects of Apple; the facts are those of the bundled data.
void give_apple(FakeEdgar& edgar);
std::shared_ptr<HttpAccess> http_for(const FakeEdgar& edgar);
// Returns options with a declared User-Agent, and delays of milliseconds.
EdgarOptions quick_options();

// One command after the other, on a folder.
class FetchWorld {
 public:
  explicit FetchWorld(FakeEdgar& edgar) : edgar_(edgar) { options_.folder = folder_.path(); }

  Result<std::unique_ptr<FilingFetch>> open() {
    EdgarPlaces places{edgar_.url(), edgar_.url()};
    return FilingFetch::open(http_for(edgar_), places, quick_options(), options_, clock_, random_);
  }
  Result<FetchedCompany> fetch(std::string ticker = "AAPL") {
    auto loop = make_event_loop();
    BELAY_TRY(auto fetch, open());
    return block_on(*loop, fetch->company(std::move(ticker)));
  }

  const EdgarFolder& folder() const { return folder_; }
  FetchOptions& options() { return options_; }
  testing::SimulatedClock& clock() { return clock_; }

 private:
  FakeEdgar& edgar_;
  EdgarFolder folder_;
  FetchOptions options_;
  testing::SimulatedClock clock_{*instant_from("2026-02-01T09:00:00Z")};
  testing::SeededRandom random_{7};
};

}  // namespace belay::research
