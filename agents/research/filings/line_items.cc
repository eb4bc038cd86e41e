#include "agents/research/filings/line_items.h"

#include <algorithm>
#include <array>
#include <set>

#include "agents/research/filings/data_text.h"
#include "agents/research/filings/text_lines.h"

namespace belay::research {
namespace {

// The tags that are no line item, but part of a calculated one, of a rule, or of another figure.
constexpr std::array kTagsOfRules = {
    "us-gaap:SellingAndMarketingExpense",
    "us-gaap:GeneralAndAdministrativeExpense",
    "us-gaap:DepreciationAmortizationAndAccretionNet",
    "us-gaap:DepreciationAndAmortization",
    "us-gaap:DepreciationDepletionAndAmortization",
    "us-gaap:LongTermDebtAndCapitalLeaseObligationsCurrent",
    "us-gaap:DebtCurrent",
    "us-gaap:LongTermDebtCurrent",
    "us-gaap:ShortTermBorrowings",
    "us-gaap:CommercialPaper",
    "us-gaap:CommonStockSharesIssued",
    "ifrs-full:SellingExpense",
    "ifrs-full:GeneralAndAdministrativeExpense",
    "ifrs-full:DepreciationAndAmortisationExpense",
    "ifrs-full:LongtermBorrowings",
    "ifrs-full:NoncurrentPortionOfNoncurrentBondsIssued",
    "ifrs-full:ShorttermBorrowings",
    "ifrs-full:CurrentPortionOfLongtermBorrowings",
    "ifrs-full:CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued",
    "ifrs-full:NumberOfSharesIssued",
    "dei:EntityPublicFloat",
    "dei:EntityCommonStockSharesOutstanding",
    "ecd:PeoTotalCompAmt",
};

ItemKind kind_named(std::string_view name) {
  if (name == "I") return ItemKind::instant;
  if (name == "SF") return ItemKind::shares_of_year;
  if (name == "SI") return ItemKind::shares_at_date;
  if (name == "P") return ItemKind::per_share;
  return ItemKind::flow;
}

std::vector<LineItem> read_line_items(std::string_view text) {
  std::vector<LineItem> items;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (line.empty() || line.starts_with('#')) continue;
    bool is_tag = line.starts_with(' ');
    std::string_view first = take_word(line);
    std::string second(take_word(line));
    if (!is_tag) {
      items.push_back({std::string(first), kind_named(second), {}, {}});
    } else if (first == "us-gaap") {
      items.back().gaap.push_back(std::move(second));
    } else {
      items.back().ifrs.push_back(std::move(second));
    }
  }
  return items;
}

std::set<std::string, std::less<>> used_tags() {
  std::set<std::string, std::less<>> tags(kTagsOfRules.begin(), kTagsOfRules.end());
  for (const LineItem& item : line_items()) {
    for (const std::string& tag : item.gaap) tags.insert("us-gaap:" + tag);
    for (const std::string& tag : item.ifrs) tags.insert("ifrs-full:" + tag);
  }
  return tags;
}

}  // namespace

const std::vector<LineItem>& line_items() {
  static const std::vector<LineItem> items = read_line_items(line_items_text());
  return items;
}

const LineItem* find_line_item(std::string_view name) {
  const std::vector<LineItem>& items = line_items();
  auto found = std::find_if(items.begin(), items.end(),
                            [&](const LineItem& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

bool is_used_tag(std::string_view tag) {
  static const std::set<std::string, std::less<>> tags = used_tags();
  return tags.contains(tag);
}

}  // namespace belay::research
