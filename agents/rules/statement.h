#pragma once
// rules/statement.h - decides whether a crisis phrase states a wish, a plan or an act of the
// writer.

#include <cstddef>
#include <string_view>
#include <vector>

#include "agents/rules/words.h"

namespace belay::rules {

// The places of the quotation marks in a text. A day can have many phrases in a long text: the text
// is searched once, not for each of them.
class QuotationMarks {
 public:
  explicit QuotationMarks(std::string_view text);

  std::size_t count() const { return starts_.size(); }
  // Returns the number of marks that begin before this byte.
  std::size_t before(std::size_t offset) const;

 private:
  std::vector<std::size_t> starts_;  // in ascending order
};

// Returns whether the tokens [first, limit) are about the writer and now: not denied, not quoted,
// not about another person and not about years ago. In doubt, they are. `marks` are those of
// `text`.
bool is_statement(std::string_view text, const Words& words, const QuotationMarks& marks,
                  std::size_t first, std::size_t limit);

}  // namespace belay::rules
