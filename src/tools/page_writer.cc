#include "tools/page_writer.h"

#include <algorithm>
#include <cstdint>

namespace belay::tools {
namespace {

constexpr std::string_view fence = "```";

struct Character {
  std::string_view bytes;
  std::uint32_t code = 0;
};

Character first_character(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t length = byte(0) < 0xc0 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  length = std::min(length, text.size());
  std::uint32_t code = length == 1 ? byte(0) : byte(0) & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) code = (code << 6) | (byte(i) & 0x3fu);
  return {text.substr(0, length), code};
}

bool is_white(std::uint32_t code) {
  return code == ' ' || (code >= '\t' && code <= '\r') || code == 0xa0;
}

// Control characters; the soft hyphen, characters without a width that no script needs, and the
// tags, with which a page could hide text from people.
bool is_invisible(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x200b ||
         code == 0x2060 || code == 0xfeff || (code >= 0xe0000 && code <= 0xe007f);
}

}  // namespace

void PageWriter::add_break() {
  if (!out_.empty()) out_.append(static_cast<std::size_t>(breaks_), '\n');
  needs_space_ = needs_space_ && breaks_ == 0;
  breaks_ = 0;
}

// Writes all that must precede a text.
void PageWriter::begin_text() {
  add_break();
  bool begins_line = out_.empty() || out_.back() == '\n';
  for (; separators_ > 0; --separators_) {
    out_ += begins_line ? "|" : " |";
    begins_line = false;
    needs_space_ = true;
  }
  if (needs_space_ && !begins_line) out_ += ' ';
  needs_space_ = false;
  out_ += marks_;
  marks_.clear();
  if (link_.empty() || has_link_text_) return;
  out_ += '[';
  has_link_text_ = true;
}

void PageWriter::text(std::string_view text) {
  while (!text.empty() && !is_full()) {
    Character next = first_character(text);
    text.remove_prefix(next.bytes.size());
    if (is_white(next.code)) {
      needs_space_ = true;
      continue;
    }
    if (is_invisible(next.code)) continue;
    if (needs_space_ || breaks_ > 0 || separators_ > 0 || !marks_.empty() || !link_.empty()) {
      begin_text();
    }
    out_ += next.bytes;
  }
}

void PageWriter::preformatted(std::string_view text) {
  while (!text.empty() && !is_full()) {
    Character next = first_character(text);
    text.remove_prefix(next.bytes.size());
    bool is_kept = next.code == '\n' || next.code == '\t';
    if (is_invisible(next.code) && !is_kept) continue;
    if (!is_preformatted_) {
      if (next.code == '\n') continue;
      separate(Break::paragraph);
      begin_text();
      out_ += fence;
      out_ += '\n';
      is_preformatted_ = true;
    }
    out_ += next.bytes;
  }
}

void PageWriter::end_preformatted() {
  if (!is_preformatted_) return;
  is_preformatted_ = false;
  out_.erase(out_.find_last_not_of(" \t\n") + 1);
  out_ += '\n';
  out_ += fence;
  separate(Break::paragraph);
}

void PageWriter::separate(Break least) {
  if (is_inline_) {
    needs_space_ = true;
    return;
  }
  breaks_ = std::max(breaks_, static_cast<int>(least));
}

void PageWriter::begin_link(std::string url) {
  end_link();
  link_ = std::move(url);
}

void PageWriter::end_link() {
  if (has_link_text_) out_ += "](" + link_ + ")";
  has_link_text_ = false;
  link_.clear();
}

std::string PageWriter::end() {
  end_preformatted();
  end_link();
  return std::move(out_);
}

}  // namespace belay::tools
