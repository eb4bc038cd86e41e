#pragma once
// agents/research/filings/ten_k_text.h - the text of an annual report, divided into its items.
//
// docs/research.md, section 8, defines items, words and sentences. Any bytes are a text; one
// without headings has no items. Immutable: concurrent reads are safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/filings/text_lines.h"
#include "agents/research/filings/text_measures.h"

namespace belay::research {

struct TenKItem {
  std::string_view name;  // "1A"
  TextSpan heading;       // the heading's line
  // From the line after the heading to the next item's heading. Its lines "PART II" are not part of
  // the item's text.
  TextSpan text;
  TextMeasures measures;
};

class TenKText {
 public:
  // Reads the bytes of a file. Time and memory are in proportion to their number.
  explicit TenKText(std::string bytes);

  const std::string& bytes() const { return bytes_; }
  const TextMeasures& document() const { return document_; }
  // The items in the order of the form, which is that of the file.
  const std::vector<TenKItem>& items() const { return items_; }
  // Returns the item named "1A", or null.
  const TenKItem* item(std::string_view name) const;
  // Returns the item whose heading or text contains the byte at `offset`, or null.
  const TenKItem* item_at(std::uint64_t offset) const;

 private:
  std::string bytes_;
  TextMeasures document_;
  std::vector<TenKItem> items_;
};

}  // namespace belay::research
