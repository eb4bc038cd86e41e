#include "agents/research/filings/data_folders.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "agents/research/filings/line_items.h"
#include "agents/research/filings/market_files.h"

namespace belay::research {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunkBytes = 256 * 1024;
constexpr std::uintmax_t kTextBytesMax = 64 << 20;
constexpr std::uintmax_t kMarketBytesMax = 64 << 20;
constexpr std::uintmax_t kFactsBytesMax = 512 << 20;
constexpr std::size_t kFilesMax = 100'000;  // in a folder

struct BundledCompany {
  std::string_view ticker;
  std::string_view cik;
};
constexpr std::array kBundled = {
    BundledCompany{"AAPL", "0000320193"},  BundledCompany{"MSFT", "0000789019"},
    BundledCompany{"GOOGL", "0001652044"}, BundledCompany{"NVDA", "0001045810"},
    BundledCompany{"TSLA", "0001318605"},  BundledCompany{"JPM", "0000019617"},
    BundledCompany{"CAT", "0000018230"}};

// Returns the reason why a file cannot be read; empty if it can.
std::string file_problem(const fs::path& path, std::uintmax_t bytes_max) {
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) return "it is not a regular file";
  std::uintmax_t size = fs::file_size(path, failure);
  if (failure) return failure.message();
  if (size > bytes_max) {
    return "it has " + std::to_string(size) + " bytes, more than " + std::to_string(bytes_max);
  }
  return {};
}

std::optional<std::string> read_file(const fs::path& path, std::uintmax_t bytes_max,
                                     std::string& problem) {
  problem = file_problem(path, bytes_max);
  if (!problem.empty()) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  std::string chunk(kChunkBytes, '\0');
  while (file) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    bytes.append(chunk, 0, static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > bytes_max) file.setstate(std::ios::badbit);
  }
  if (file.eof() && !file.bad()) return bytes;
  problem = "it cannot be read";
  return std::nullopt;
}

// Returns the files of a folder by name, the first kFilesMax of them; none if it does not exist.
std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  fs::directory_iterator each(folder, failure);
  while (!failure && each != fs::directory_iterator() && files.size() < kFilesMax) {
    files.push_back(each->path());
    each.increment(failure);
  }
  std::sort(files.begin(), files.end());
  return files;
}

CompanyFactsRead read_facts(const fs::path& path) {
  CompanyFactsReader reader(is_used_tag);
  std::ifstream file(path, std::ios::binary);
  std::string chunk(kChunkBytes, '\0');
  bool goes_on = true;
  while (goes_on && file) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    auto count = static_cast<std::size_t>(file.gcount());
    goes_on = reader.read(std::string_view(chunk).substr(0, count));
  }
  bool is_read = file.eof() || !goes_on;
  CompanyFactsRead result = reader.finish();
  if (!is_read) result.error = "it cannot be read";
  return result;
}

}  // namespace

std::string ten_digits(std::string_view cik) {
  constexpr std::size_t kDigits = 10;
  bool is_number = !cik.empty() && cik.size() <= kDigits &&
                   cik.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? std::string(kDigits - cik.size(), '0') + std::string(cik) : "";
}

std::string bundled_cik(std::string_view ticker) {
  for (const BundledCompany& each : kBundled) {
    if (each.ticker == ticker) return std::string(each.cik);
  }
  return {};
}

FileRead<CompanyFacts> DataFolders::company_facts(std::string_view cik) const {
  FileRead<CompanyFacts> result;
  std::string name = "CIK" + ten_digits(cik) + ".json";
  std::error_code failure;
  for (auto folder = paths_.rbegin(); folder != paths_.rend() && result.path.empty(); ++folder) {
    fs::path path = fs::path(*folder) / "edgar" / name;
    if (fs::exists(path, failure)) result.path = path.string();
  }
  if (result.path.empty()) {
    result.error = "edgar/" + name + " is in none of the data folders";
    return result;
  }
  std::string problem = file_problem(result.path, kFactsBytesMax);
  if (problem.empty()) {
    CompanyFactsRead read = read_facts(result.path);
    problem = read.error;
    if (problem.empty() && !read.facts.cik.empty() && read.facts.cik != ten_digits(cik)) {
      problem = "it is the file of CIK " + read.facts.cik;
    }
    if (problem.empty() && !read.facts.last_filed) problem = "it has no facts";
    if (problem.empty()) result.content = std::move(read.facts);
  }
  if (!problem.empty()) result.error = result.path + ": " + problem;
  return result;
}

FileRead<FilingTextFile> DataFolders::filing_text(std::string_view ticker, Date as_of) const {
  std::vector<FilingTextName> names;
  std::vector<std::string> files;
  for (const std::string& folder : paths_) {
    for (const fs::path& path : files_in(fs::path(folder) / "edgar" / "10k")) {
      std::optional<FilingTextName> name = parse_filing_text_name(path.filename().string());
      if (!name) continue;
      names.push_back(*name);
      files.push_back(path.string());
    }
  }
  FileRead<FilingTextFile> result;
  std::optional<std::size_t> latest = latest_filing_text(names, ticker, as_of);
  if (!latest) return result;
  result.path = files[*latest];
  std::string problem;
  std::optional<std::string> bytes = read_file(result.path, kTextBytesMax, problem);
  if (bytes) {
    result.content = FilingTextFile{std::move(*bytes), names[*latest].filed};
  } else {
    result.error = result.path + ": " + problem;
  }
  return result;
}

std::vector<std::string> DataFolders::market_files() const {
  std::vector<std::string> found;
  for (const std::string& folder : paths_) {
    for (const fs::path& path : files_in(fs::path(folder) / "prices")) {
      if (market_file_kind(path.filename().string())) found.push_back(path.string());
    }
  }
  return found;
}

MarketData DataFolders::market_data(const std::vector<std::string>& tickers,
                                    std::vector<std::string>& problems) const {
  MarketFiles files({tickers.begin(), tickers.end()});
  for (const std::string& path : market_files()) {
    std::string problem;
    std::optional<std::string> bytes = read_file(path, kMarketBytesMax, problem);
    MarketFileKind kind = *market_file_kind(fs::path(path).filename().string());
    if (bytes) files.read(kind, path, *bytes);
    if (!bytes) problems.push_back(path + ": " + problem);
  }
  problems.insert(problems.end(), files.problems().texts.begin(), files.problems().texts.end());
  return files.data();
}

}  // namespace belay::research
