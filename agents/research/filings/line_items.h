#pragma once
// agents/research/filings/line_items.h - the items of financial statements, and their tags.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace belay::research {

enum class ItemKind {
  flow,            // a currency amount over a year
  instant,         // a currency amount at a date
  shares_of_year,  // a number of shares, averaged over a year
  shares_at_date,  // a number of shares at a date
  per_share,       // a currency amount per share over a year
};

// An item takes the first of its tags that has a value in the year. An item without tags is
// calculated from other tags: see statements.h.
struct LineItem {
  std::string name;
  ItemKind kind = ItemKind::flow;
  std::vector<std::string> gaap;  // tags of us-gaap, in order
  std::vector<std::string> ifrs;  // tags of ifrs-full, in order
};

// All items, in the order of docs/research.md.
const std::vector<LineItem>& line_items();
// Returns the item, or null.
const LineItem* find_line_item(std::string_view name);

// Returns whether a figure or rule reads this tag, "TAXONOMY:TAG".
bool is_used_tag(std::string_view tag);

}  // namespace belay::research
