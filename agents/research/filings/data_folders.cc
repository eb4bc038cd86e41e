#include "agents/research/filings/data_folders.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "agents/research/filings/line_items.h"
#include "agents/research/filings/market_files.h"
#include "belay/ids.h"

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

// Passes a file in parts to `use`. Returns the digest of its bytes; sets `problem` if it cannot be
// read.
template <typename Use>
std::string read_parts(const fs::path& path, std::uintmax_t bytes_max, std::string& problem,
                       Use use) {
  problem = file_problem(path, bytes_max);
  if (!problem.empty()) return {};
  std::ifstream file(path, std::ios::binary);
  std::string digest;
  std::string chunk(kChunkBytes, '\0');
  std::uintmax_t size = 0;
  while (file && size <= bytes_max) {  // a file can grow meanwhile
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    std::string_view part =
        std::string_view(chunk).substr(0, static_cast<std::size_t>(file.gcount()));
    size += part.size();
    digest = to_hex(sha256(digest + std::string(part)));
    use(part);
  }
  if (!file.eof() || size > bytes_max) problem = "it cannot be read";
  return digest;
}

std::string read_file(const fs::path& path, std::uintmax_t bytes_max, std::string& problem,
                      std::string& bytes) {
  return read_parts(path, bytes_max, problem, [&](std::string_view part) { bytes += part; });
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
  CompanyFactsReader reader(is_used_tag);
  std::string problem;
  result.digest = read_parts(result.path, kFactsBytesMax, problem,
                             [&](std::string_view part) { reader.read(part); });
  if (problem.empty()) {
    CompanyFactsRead read = reader.finish();
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
  std::string bytes;
  result.digest = read_file(result.path, kTextBytesMax, problem, bytes);
  if (problem.empty()) {
    result.content = FilingTextFile{std::move(bytes), names[*latest].filed};
  } else {
    result.error = result.path + ": " + problem;
  }
  return result;
}

MarketRead DataFolders::market_data(const std::vector<std::string>& tickers) const {
  MarketRead read;
  MarketFiles files({tickers.begin(), tickers.end()});
  for (const std::string& folder : paths_) {
    for (const fs::path& path : files_in(fs::path(folder) / "prices")) {
      std::optional<MarketFileKind> kind = market_file_kind(path.filename().string());
      if (!kind) continue;
      std::string problem;
      std::string bytes;
      read.digests[path.string()] = read_file(path, kMarketBytesMax, problem, bytes);
      if (problem.empty()) files.read(*kind, path.string(), bytes);
      if (!problem.empty()) read.problems.push_back(path.string() + ": " + problem);
    }
  }
  const std::vector<std::string>& texts = files.problems().texts;
  read.problems.insert(read.problems.end(), texts.begin(), texts.end());
  read.data = files.data();
  return read;
}

}  // namespace belay::research
