#include "agents/research/edgar/fetch_command.h"

#include <array>
#include <charconv>
#include <utility>

#include "agents/research/edgar/filing_fetch.h"
#include "belay/output.h"

namespace belay::research {
namespace {

constexpr const char* kUserAgent = "research_edgar_user_agent";
constexpr const char* kFilesUrl = "research_edgar_files_url";
constexpr const char* kDataUrl = "research_edgar_data_url";
constexpr std::size_t kTickersMax = 100;
constexpr std::size_t kFilingsMax = 20;

constexpr const char* kFetchHelp =
    R"(Requests the company facts and annual reports of companies from the SEC (EDGAR), and
writes them to a folder for --data. The SEC requires a User-Agent with a name and a mail
address; without one, nothing is requested. TICKER is one ticker, or a comma-separated list.

Examples:
  {p} research fetch AAPL --output filings --user-agent "Sample Company admin@sample.org"
  {p} research fetch AAPL,MSFT --output filings --filings 3
  {p} research analyze AAPL --peers MSFT --data filings
)";

Result<std::vector<std::string>> tickers_from(const std::string& text) {
  std::vector<std::string> tickers;
  for (std::size_t begin = 0; begin <= text.size();) {
    std::size_t end = std::min(text.find(',', begin), text.size());
    std::optional<std::string> ticker = ticker_of(text.substr(begin, end - begin));
    if (!ticker || tickers.size() == kTickersMax) {
      return error(ErrorCode::invalid,
                   "Invalid TICKER \"" + shortened(one_line(text), 60, "...") +
                       "\": expected 1 to 100 tickers, such as AAPL or BRK-B,MSFT.");
    }
    tickers.push_back(*std::move(ticker));
    begin = end + 1;
  }
  return tickers;
}

Value document_of(const FetchedCompany& company) {
  Value::Array files;
  for (const FetchedFile& file : company.files) {
    files.push_back(Value::object(
        {{"path", file.path}, {"outcome", name_of(file.outcome)}, {"bytes", file.bytes}}));
  }
  Value::Array notes;
  for (const std::string& note : company.notes) notes.push_back(one_line(note));
  return Value::object({{"ticker", company.ticker},
                        {"cik", company.cik},
                        {"entity", one_line(company.entity)},
                        {"files", std::move(files)},
                        {"notes", std::move(notes)}});
}

void show(Output& output, const FetchedCompany& company) {
  output.line(output.styled(Style::bold, company.ticker) + "  " + one_line(company.entity) +
              "  CIK " + company.cik);
  for (const FetchedFile& file : company.files) {
    output.line("  " + padded(name_of(file.outcome), 10) + file.path + "  " +
                std::to_string(file.bytes) + " bytes");
  }
  for (const std::string& note : company.notes) {
    output.line("  " + output.styled(Style::warning, one_line(note)));
  }
}

// An error of the server, which the other companies would meet as well.
bool ends_fetch(const Error& why) {
  return why.code == ErrorCode::unavailable || why.code == ErrorCode::forbidden;
}

class Fetch final : public ModuleCommand {
 public:
  void declare(CommandWords& words) override {
    words.argument("TICKER", ticker_, "The company, such as AAPL, or several: AAPL,MSFT")
        .required();
    words.option("--output", folder_, "Folder for the files; created if it does not exist")
        .required();
    words.option("--user-agent", user_agent_,
                 "Name and mail address for the SEC (default: BELAY_RESEARCH_EDGAR_USER_AGENT)");
    words.option("--filings", filings_, "Annual reports of each company, the newest ones")
        .range(std::size_t{1}, kFilingsMax)
        .shows_default();
    words.option("--as-of", as_of_, "Only reports filed until this date");
    words
        .option("--max-age", age_max_,
                "Files younger than this are not requested: 90s, 30m, 24h, 7d")
        .shows_default();
  }

  Result<Done> validate(const ModuleSettings& settings) override {
    BELAY_TRY(tickers_, tickers_from(ticker_));
    edgar_.user_agent = user_agent_.empty() ? settings.value(kUserAgent) : user_agent_;
    BELAY_CHECK(check_user_agent(edgar_.user_agent));
    places_ = edgar_places(settings);
    BELAY_TRY(policy_, edgar_policy(places_));
    options_.folder = folder_;
    options_.filings = filings_;
    BELAY_TRY(options_.age_max, age_from(age_max_));
    if (as_of_.empty()) return Done{};
    options_.as_of = Date::parse(as_of_);
    if (options_.as_of) return Done{};
    return error(ErrorCode::invalid,
                 "Invalid --as-of \"" + as_of_ + "\": expected a date, YYYY-MM-DD.");
  }

  Task<Result<ExitCode>> run(ModuleContext& world) override {
    BELAY_CO_TRY(std::shared_ptr<HttpAccess> http, open_http(policy_));
    BELAY_CO_TRY(
        std::unique_ptr<FilingFetch> fetch,
        FilingFetch::open(std::move(http), places_, edgar_, options_, world.clock, world.random));
    Value::Array companies;
    Value::Array failures;
    for (const std::string& ticker : tickers_) {
      world.output.progress("Fetching " + ticker);
      Result<FetchedCompany> company = co_await fetch->company(ticker);
      if (company.ok()) {
        show(world.output, *company);
        companies.push_back(document_of(*company));
        continue;
      }
      const Error& why = company.error();
      if (tickers_.size() == 1) co_return why;
      world.output.line(world.output.styled(Style::bold, ticker) + "  " +
                        world.output.styled(Style::bad, one_line(why.message)));
      failures.push_back(Value::object({{"ticker", ticker},
                                        {"code", std::string(belay::name_of(why.code))},
                                        {"error", one_line(why.message)}}));
      if (ends_fetch(why)) break;
    }
    bool has_all = companies.size() == tickers_.size();
    world.output.document(Value::object({{"folder", folder_},
                                         {"companies", std::move(companies)},
                                         {"failures", std::move(failures)},
                                         {"requests", std::uint64_t{fetch->requests()}}}));
    if (!has_all) co_return ExitCode::failed;
    world.output.line("Analyze: " + world.command_line({"research", "analyze", tickers_.front(),
                                                        "--data", folder_}));
    co_return ExitCode::done;
  }

 private:
  std::string ticker_;
  std::string folder_;
  std::string user_agent_;
  std::size_t filings_ = 1;
  std::string as_of_;
  std::string age_max_ = "24h";
  std::vector<std::string> tickers_;
  EdgarOptions edgar_;
  EdgarPlaces places_;
  EgressPolicy policy_;
  FetchOptions options_;
};

}  // namespace

Result<std::chrono::milliseconds> age_from(const std::string& text) {
  constexpr std::int64_t kSecondsMax = 365 * 86'400;
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kUnits = {
      {{"s", 1}, {"m", 60}, {"h", 3'600}, {"d", 86'400}}};
  std::int64_t number = 0;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  std::int64_t factor = text == "0" ? 1 : 0;
  for (const auto& [name, seconds] : kUnits) {
    if (unit == name) factor = seconds;
  }
  if (fault == std::errc() && factor > 0 && number >= 0 && number <= kSecondsMax / factor) {
    return std::chrono::milliseconds(std::chrono::seconds(number * factor));
  }
  return error(ErrorCode::invalid, "Invalid --max-age \"" + shortened(one_line(text), 60, "...") +
                                       "\": expected a time such as 90s, 30m, 24h or 7d, or 0.");
}

EdgarPlaces edgar_places(const ModuleSettings& settings) {
  EdgarPlaces places;
  if (std::string url = settings.value(kFilesUrl); !url.empty()) places.files = std::move(url);
  if (std::string url = settings.value(kDataUrl); !url.empty()) places.data = std::move(url);
  return places;
}

std::vector<ModuleSetting> edgar_settings() {
  return {
      {kUserAgent, "BELAY_RESEARCH_EDGAR_USER_AGENT",
       "name and mail address for requests to the SEC; unset: no requests", true},
      {kFilesUrl, "BELAY_RESEARCH_EDGAR_FILES_URL",
       "server of the SEC's filings (https://www.sec.gov)", true},
      {kDataUrl, "BELAY_RESEARCH_EDGAR_DATA_URL", "server of the SEC's data (https://data.sec.gov)",
       true},
  };
}

std::vector<ModuleCommandSpec> fetch_commands() {
  std::vector<ModuleCommandSpec> all;
  all.push_back({.path = {"research", "fetch"},
                 .line = "Fetch filings of companies from the SEC into a folder",
                 .end = kFetchHelp,
                 .uses_store = false,
                 .make = make_module_command<Fetch>});
  return all;
}

}  // namespace belay::research
