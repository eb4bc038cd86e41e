#include "agents/research/edgar/ticker_table.h"

#include <algorithm>
#include <filesystem>

#include "agents/research/files/whole_file.h"
#include "agents/research/filings/data_folders.h"
#include "belay/value.h"

namespace belay::research {
namespace {

constexpr std::size_t kTickerBytesMax = 12;
constexpr std::size_t kTickersFileBytesMax = 8 << 20;

std::string tickers_path(const std::string& folder) {
  return (std::filesystem::path(folder) / "edgar" / "tickers.json").string();
}

bool is_letter_or_number(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

std::optional<std::string> ticker_of(std::string_view text) {
  std::string ticker;
  for (char c : text.substr(0, kTickerBytesMax + 1)) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    ticker += c;
  }
  bool is_ticker =
      !ticker.empty() && ticker.size() <= kTickerBytesMax && is_letter_or_number(ticker.front()) &&
      std::all_of(ticker.begin(), ticker.end(),
                  [](char c) { return is_letter_or_number(c) || c == '.' || c == '-'; });
  if (!is_ticker) return std::nullopt;
  return ticker;
}

Result<TickerTable> parse_company_tickers(std::string_view text) {
  Result<Value> json = parse_json(text);
  const Value::Object* rows = json.ok() ? json->as_object() : nullptr;
  if (!rows) {
    return error(ErrorCode::corrupt, "The SEC's table of tickers is not a JSON object.");
  }
  TickerTable table;
  for (const auto& [index, row] : *rows) {
    const std::string* name = row["ticker"].as_string();
    std::optional<std::uint64_t> number = row["cik_str"].as_uint();
    std::optional<std::string> ticker = name ? ticker_of(*name) : std::nullopt;
    std::string cik = number ? ten_digits(std::to_string(*number)) : "";
    if (ticker && !cik.empty()) table.emplace(*ticker, cik);
  }
  if (table.empty()) return error(ErrorCode::corrupt, "The SEC's table of tickers has no company.");
  return table;
}

std::optional<std::string> listed_ticker(const TickerTable& table, std::string_view ticker) {
  std::string name(ticker);
  if (!table.contains(name)) std::replace(name.begin(), name.end(), '.', '-');
  if (!table.contains(name)) return std::nullopt;
  return name;
}

Result<TickerTable> read_tickers(const std::string& folder) {
  std::string path = tickers_path(folder);
  BELAY_TRY(std::optional<std::string> text, read_if_exists(path, kTickersFileBytesMax));
  TickerTable table;
  if (!text) return table;
  Result<Value> json = parse_json(*text);
  const Value::Object* rows = json.ok() ? json->as_object() : nullptr;
  if (!rows) {
    return error(ErrorCode::corrupt, "The file \"" + path +
                                         "\" is not a JSON object of tickers. Delete it, and "
                                         "fetch again.");
  }
  for (const auto& [name, number] : *rows) {
    std::optional<std::string> ticker = ticker_of(name);
    std::string cik = number.as_string() ? ten_digits(*number.as_string()) : "";
    if (ticker && !cik.empty()) table[*ticker] = cik;
  }
  return table;
}

Result<Done> add_ticker(const std::string& folder, const std::string& ticker,
                        const std::string& cik) {
  BELAY_TRY(TickerTable table, read_tickers(folder));
  auto found = table.find(ticker);
  if (found != table.end() && found->second == cik) return Done{};
  table[ticker] = cik;
  Value::Object rows;
  for (const auto& [name, number] : table) rows[name] = number;
  return replace_file(tickers_path(folder), to_pretty_json(Value(std::move(rows))) + "\n");
}

std::string cik_in_folders(const std::vector<std::string>& folders, std::string_view ticker) {
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    Result<TickerTable> table = read_tickers(*folder);
    if (!table.ok()) continue;
    auto found = table->find(ticker);
    if (found != table->end()) return found->second;
  }
  return {};
}

}  // namespace belay::research
