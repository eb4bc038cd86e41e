#include "agents/research/filings/filing_text_file.h"

#include <algorithm>

namespace belay::research {
namespace {

constexpr std::string_view kFilingTextMark = "-10-K-";
constexpr std::string_view kFilingTextEnding = ".txt";
constexpr std::size_t kFilingDateBytes = 10;  // "2024-11-01"

}  // namespace

std::optional<FilingTextName> parse_filing_text_name(std::string_view file_name) {
  if (!file_name.ends_with(kFilingTextEnding)) return std::nullopt;
  file_name.remove_suffix(kFilingTextEnding.size());
  if (file_name.size() <= kFilingTextMark.size() + kFilingDateBytes) return std::nullopt;
  const auto filed = Date::parse(file_name.substr(file_name.size() - kFilingDateBytes));
  file_name.remove_suffix(kFilingDateBytes);
  if (!filed || !file_name.ends_with(kFilingTextMark)) return std::nullopt;
  file_name.remove_suffix(kFilingTextMark.size());
  return FilingTextName{std::string(file_name), *filed};
}

std::optional<std::size_t> latest_filing_text(const std::vector<FilingTextName>& names,
                                              std::string_view ticker, Date as_of) {
  std::optional<std::size_t> latest;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].ticker != ticker || names[i].filed > as_of) continue;
    if (!latest || names[i].filed >= names[*latest].filed) latest = i;
  }
  return latest;
}

Input filing_text_input(std::uint64_t size, Date filed) {
  return Input{.concept_name = "filing-text",
               .value = static_cast<double>(size),
               .form = std::string(kFilingTextForm),
               .filed = filed.text()};
}

Date filing_text_period_end(const std::vector<Date>& year_ends, Date filed) {
  std::optional<Date> latest;
  std::optional<Date> latest_until_filed;
  for (const Date end : year_ends) {
    if (!latest || end > *latest) latest = end;
    if (end <= filed && (!latest_until_filed || end > *latest_until_filed))
      latest_until_filed = end;
  }
  return latest_until_filed ? *latest_until_filed : latest.value_or(filed);
}

}  // namespace belay::research
