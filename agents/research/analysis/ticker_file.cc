#include "agents/research/analysis/ticker_file.h"

#include <algorithm>

#include "agents/research/filings/data_folders.h"

namespace belay::research {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t\r";

Error bad_entry(std::string message) { return error(ErrorCode::invalid, std::move(message)); }

std::string_view without_blanks(std::string_view text) {
  std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// Returns the beginning of a text of any bytes, for a message.
std::string quotable(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string shown;
  for (char c : text.substr(0, kShown)) shown += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > kShown ? shown + "..." : shown;
}

bool has_form_of_ticker(std::string_view text) {
  constexpr std::size_t kTickerMax = 10;
  auto is_sign = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
  };
  return !text.empty() && text.size() <= kTickerMax &&
         std::all_of(text.begin(), text.end(), is_sign);
}

}  // namespace

Result<Done> check_ticker(std::string_view ticker) {
  if (has_form_of_ticker(ticker)) return Done{};
  return bad_entry("Invalid ticker \"" + quotable(ticker) +
                   "\": expected capital letters and digits, such as AAPL or BRK-B.");
}

Result<BatchTicker> batch_ticker_from(std::string_view entry) {
  BatchTicker read;
  std::size_t equals = entry.find('=');
  read.ticker = without_blanks(entry.substr(0, equals));
  BELAY_CHECK(check_ticker(read.ticker));
  if (equals == std::string_view::npos) return read;
  read.cik = without_blanks(entry.substr(equals + 1));
  if (!ten_digits(read.cik).empty()) return read;
  return bad_entry("Invalid CIK \"" + quotable(read.cik) + "\" of " + read.ticker +
                   ": expected a number of at most ten digits.");
}

Result<Done> BatchTickers::add(BatchTicker entry) {
  auto found = std::find_if(all_.begin(), all_.end(),
                            [&](const BatchTicker& each) { return each.ticker == entry.ticker; });
  if (found != all_.end()) {
    if (ten_digits(found->cik) == ten_digits(entry.cik)) return Done{};
    return bad_entry("The ticker " + entry.ticker + " appears twice, with different numbers.");
  }
  if (all_.size() == kCompaniesMax) {
    return bad_entry("Too many companies: at most " + std::to_string(kCompaniesMax) + ".");
  }
  all_.push_back(std::move(entry));
  return Done{};
}

Result<std::vector<BatchTicker>> tickers_in(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  BatchTickers tickers;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = without_blanks(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    auto entry = batch_ticker_from(line);
    auto added = entry.ok() ? tickers.add(*std::move(entry)) : Result<Done>(entry.error());
    if (!added.ok())
      return bad_entry("Line " + std::to_string(number) + ": " + added.error().message);
  }
  std::vector<BatchTicker> all = tickers.take();
  if (all.empty()) return bad_entry("It has no ticker. Write one a line, such as AAPL.");
  return all;
}

}  // namespace belay::research
