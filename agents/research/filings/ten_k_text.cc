#include "agents/research/filings/ten_k_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "agents/research/filings/item_headings.h"

namespace belay::research {
namespace {

// The last heading of each item, by index in kItemTitles.
using LastHeadings = std::array<std::optional<TextLine>, kTenKItems>;

LastHeadings last_headings(std::string_view text) {
  LastHeadings headings;
  for (std::size_t at = 0; at < text.size();) {
    const TextLine line = line_at(text, at);
    at = line.next;
    if (const auto item = item_of_heading(line.span.of(text))) headings[*item] = line;
  }
  return headings;
}

// Returns the items whose headings are in the order of the form, with their texts.
std::vector<TenKItem> divided(std::string_view text) {
  std::vector<TenKItem> items;
  const LastHeadings headings = last_headings(text);
  for (std::size_t i = 0; i < kTenKItems; ++i) {
    if (!headings[i]) continue;
    const TextLine& line = *headings[i];
    const bool in_order = items.empty() || line.span.begin > items.back().heading.begin;
    if (!in_order) continue;
    if (!items.empty()) items.back().text.end = line.span.begin;
    items.push_back({kItemTitles[i].item, line.span, {line.next, text.size()}, {}});
  }
  return items;
}

}  // namespace

TenKText::TenKText(std::string bytes)
    : bytes_(std::move(bytes)),
      document_(measure_text(bytes_, {0, bytes_.size()}, PartLines::kept)),
      items_(divided(bytes_)) {
  for (TenKItem& item : items_) {
    item.measures = measure_text(bytes_, item.text, PartLines::left_out);
  }
}

const TenKItem* TenKText::item(std::string_view name) const {
  const auto found = std::find_if(items_.begin(), items_.end(),
                                  [name](const TenKItem& item) { return item.name == name; });
  return found == items_.end() ? nullptr : &*found;
}

const TenKItem* TenKText::item_at(std::uint64_t offset) const {
  const auto found = std::find_if(items_.begin(), items_.end(), [offset](const TenKItem& item) {
    return offset >= item.heading.begin && offset < item.text.end;
  });
  return found == items_.end() ? nullptr : &*found;
}

}  // namespace belay::research
