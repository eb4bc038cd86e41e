#include "agents/research/analysis/request_options.h"

#include <charconv>
#include <filesystem>

namespace belay::research {
namespace {

namespace fs = std::filesystem;

// Splits "NAME=VALUE".
Result<std::pair<std::string, std::string>> pair_of(const std::string& option,
                                                    const std::string& text) {
  std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    return error(ErrorCode::invalid,
                 "Invalid " + option + " \"" + text + "\": expected NAME=VALUE.");
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<double> number_of(const std::string& text) {
  double number = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc() && end == text.data() + text.size()) return number;
  return error(ErrorCode::invalid, "Invalid number \"" + text + "\" of --set.");
}

Result<std::vector<std::string>> absolute_folders(const std::vector<std::string>& given) {
  std::vector<std::string> folders;
  for (const std::string& path : given) {
    std::error_code failure;
    fs::path absolute = fs::weakly_canonical(path, failure);
    if (failure || !fs::is_directory(absolute, failure)) {
      return error(ErrorCode::invalid, "The data folder \"" + path + "\" does not exist.");
    }
    folders.push_back(absolute.string());
  }
  return folders;
}

}  // namespace

void RequestOptions::declare(CommandWords& words) {
  words.option("--peers", peers_, "Tickers of comparable companies").comma_separated();
  words.option("--only", only_, "Only these specialists").comma_separated();
  words.option("--as-of", as_of_, "Date of the analysis (default: that of the last filing)");
  words.option("--data", data_, "Folder with filings and prices; may be repeated");
  words.option("--cik", ciks_, "TICKER=CIK of a company that the bundled data does not have");
  words.option("--set", constants_, "NAME=VALUE: replaces a declared assumption");
  words.flag("--yes", yes_, "Approve every gate");
  words.flag("--no-checkpoints", no_checkpoints_, "Execute each specialist as one step");
}

Result<AnalysisRequest> RequestOptions::request(const ModuleSettings& settings,
                                                OrderReader reader) const {
  AnalysisRequest request;
  request.peers = peers_;
  request.only = only_;
  request.asOf = as_of_;
  request.yes = yes_;
  request.checkpoints = !no_checkpoints_;
  for (const std::string& each : ciks_) {
    BELAY_TRY(auto cik, pair_of("--cik", each));
    request.ciks[cik.first] = cik.second;
  }
  for (const std::string& each : constants_) {
    BELAY_TRY(auto constant, pair_of("--set", each));
    BELAY_TRY(request.constants[constant.first], number_of(constant.second));
  }
  if (settings.is_remote) {
    if (data_.empty()) return request;
    return error(ErrorCode::invalid,
                 "--data is not possible with --server: a server reads its own "
                 "folders.");
  }
  if (data_.empty() && reader == OrderReader::worker) return request;
  std::vector<std::string> folders = data_;
  if (folders.empty()) folders.push_back(bundled_data_folder(settings));
  if (folders.front().empty()) {
    return error(ErrorCode::invalid,
                 "No data. Name a folder with --data, or set BELAY_RESEARCH_DATA.");
  }
  BELAY_TRY(request.data, absolute_folders(folders));
  return request;
}

std::string bundled_data_folder(const ModuleSettings& settings) {
  std::string named = settings.value(kDataSetting);
  if (!named.empty()) return named;
  std::error_code failure;
  fs::path program = fs::read_symlink("/proc/self/exe", failure);
  if (failure) return {};
  for (fs::path folder = program.parent_path(); folder != folder.parent_path();
       folder = folder.parent_path()) {
    for (const char* place : kBundledPlaces) {
      if (fs::is_directory(folder / place, failure)) return (folder / place).string();
    }
  }
  return {};
}

}  // namespace belay::research
