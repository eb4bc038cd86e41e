#include "agents/research/edgar/filing_lines.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace belay::research {
namespace {

constexpr std::string_view kCellSeparator = " | ";
constexpr std::string_view kNoBreakSpace = "\u00a0";
constexpr std::string_view kByteOrderMark = "\ufeff";
constexpr unsigned char kControlLead = 0xc2;  // U+0080 to U+00BF
constexpr unsigned char kControlsEnd = 0xa0;
constexpr unsigned char kDelete = 0x7f;

// The characters of Windows-1252 from 0x80 to 0x9f; empty: not assigned.
constexpr std::array<std::string_view, 32> kWindows1252 = {
    "\u20ac", "",       "\u201a", "\u0192", "\u201e", "\u2026", "\u2020", "\u2021",
    "\u02c6", "\u2030", "\u0160", "\u2039", "\u0152", "",       "\u017d", "",
    "",       "\u2018", "\u2019", "\u201c", "\u201d", "\u2022", "\u2013", "\u2014",
    "\u02dc", "\u2122", "\u0161", "\u203a", "\u0153", "",       "\u017e", "\u0178"};

bool is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Returns the bytes of the character at the beginning of `text`, which is not empty.
std::size_t character_bytes(std::string_view text) {
  auto first = static_cast<unsigned char>(text.front());
  std::size_t bytes = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return std::min(bytes, text.size());
}

// Returns the number of visible ASCII characters at the beginning of `text`.
std::size_t plain_bytes(std::string_view text) {
  auto end = std::find_if(text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; });
  return static_cast<std::size_t>(end - text.begin());
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

bool has_open_bracket(std::string_view cell) {
  return std::count(cell.begin(), cell.end(), '(') > std::count(cell.begin(), cell.end(), ')');
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_dash(std::string_view text) { return is_one_of(text, {"-", "\u2013", "\u2014"}); }

bool ends_as_number(std::string_view cell) {
  if (is_digit(cell.back()) || cell.back() == ')' || cell.back() == '-') return true;
  constexpr std::size_t kDashBytes = 3;
  return cell.size() >= kDashBytes && is_dash(cell.substr(cell.size() - kDashBytes));
}

bool begins_as_number(std::string_view cell) {
  char first = cell.front();
  return is_digit(first) || first == '(' || first == '.' || is_dash(cell.substr(0, 1)) ||
         is_dash(cell.substr(0, character_bytes(cell)));
}

// Filings have the sign of a currency, a closing bracket and "%" in separate columns.
// Returns whether `next` is part of the number in `cell`.
bool continues(std::string_view cell, std::string_view next) {
  if (next == "%") return ends_as_number(cell);
  if (is_one_of(next, {")", ")%", "%)"})) return has_open_bracket(cell);
  bool is_sign = is_one_of(cell, {"$", "\u20ac", "\u00a3", "\u00a5", "US$", "(", "$(", "\u20ac(",
                                  "\u00a3(", "\u00a5(", "US$("});
  return is_sign && begins_as_number(next);
}

}  // namespace

void FilingLines::add(std::string_view shown) {
  if (has_space_ && !text_.empty()) text_ += ' ';
  has_space_ = false;
  text_ += shown;
}

void FilingLines::text(std::string_view piece) {
  while (!piece.empty()) {
    if (std::size_t plain = plain_bytes(piece); plain > 0) {
      add(piece.substr(0, plain));
      piece.remove_prefix(plain);
      continue;
    }
    std::string_view character = piece.substr(0, character_bytes(piece));
    piece.remove_prefix(character.size());
    auto first = static_cast<unsigned char>(character.front());
    if (preformatted_ > 0 && (is_white(character.front()) || character == kNoBreakSpace)) {
      add_preformatted(character);
    } else if (is_white(character.front()) || character == kNoBreakSpace) {
      has_space_ = true;
    } else if (first == kControlLead && character.size() == 2 &&
               static_cast<unsigned char>(character[1]) < kControlsEnd) {
      std::string_view shown = kWindows1252[static_cast<unsigned char>(character[1]) & 0x1f];
      if (!shown.empty()) add(shown);
    } else if (first >= ' ' && first != kDelete && character != kByteOrderMark) {
      add(character);
    }
  }
}

void FilingLines::add_preformatted(std::string_view white) {
  bool is_in_cell = !in_cell_.empty() && in_cell_.back();
  if (white == "\n" && !is_in_cell) {
    end_preformatted_line();
  } else if (is_in_cell) {
    has_space_ = true;
  } else if (white == " " || white == "\t" || white == kNoBreakSpace) {
    text_ += ' ';
  }
}

void FilingLines::end_preformatted_line() {
  std::string line = take_text();
  while (line.ends_with(' ')) line.pop_back();
  if (line.empty()) {
    after_preformatted_ = false;
  } else {
    bool follows = after_preformatted_;
    if (follows) {
      out_ += '\n';
      out_ += line;
    } else {
      write(line);
    }
    after_preformatted_ = true;
  }
}

void FilingLines::begin_preformatted() {
  end_line();
  ++preformatted_;
  after_preformatted_ = false;
}

void FilingLines::end_preformatted() {
  end_line();
  if (preformatted_ > 0) --preformatted_;
  after_preformatted_ = false;
}

std::string FilingLines::take_text() {
  std::string text;
  text.swap(text_);
  has_space_ = false;
  return text;
}

void FilingLines::write(std::string_view line) {
  if (!out_.empty()) out_ += line.find(kCellSeparator) == line.npos ? "\n\n" : "\n";
  out_ += line;
  after_preformatted_ = false;
}

void FilingLines::end_line() {
  if (!in_cell_.empty() && in_cell_.back()) {
    has_space_ = true;
  } else if (preformatted_ > 0) {
    if (!text_.empty()) end_preformatted_line();
  } else if (std::string line = take_text(); !line.empty()) {
    write(line);
  }
}

void FilingLines::push_cell(std::string cell) {
  if (cell.empty()) return;
  if (!cells_.empty() && continues(cells_.back(), cell)) {
    cells_.back() += cell;
  } else {
    cells_.push_back(std::move(cell));
  }
}

void FilingLines::write_row() {
  std::string line;
  for (const std::string& cell : cells_) {
    if (!line.empty()) line += kCellSeparator;
    line += cell;
  }
  cells_.clear();
  if (!line.empty()) write(line);
}

void FilingLines::begin_table() {
  if (!in_cell_.empty() && in_cell_.back()) {
    push_cell(take_text());
  } else {
    end_line();
  }
  write_row();
  in_cell_.push_back(false);
}

void FilingLines::end_table() {
  end_row();
  if (!in_cell_.empty()) in_cell_.pop_back();
}

void FilingLines::begin_row() { end_row(); }

void FilingLines::end_row() {
  end_cell();
  write_row();
}

void FilingLines::begin_cell() {
  end_cell();
  if (!in_cell_.empty()) in_cell_.back() = true;
}

void FilingLines::end_cell() {
  if (!in_cell_.empty() && in_cell_.back()) {
    push_cell(take_text());
    in_cell_.back() = false;
  } else {
    end_line();
  }
}

std::string FilingLines::finish() {
  while (!in_cell_.empty()) end_table();
  end_row();
  if (!out_.empty()) out_ += '\n';
  return std::move(out_);
}

}  // namespace belay::research
