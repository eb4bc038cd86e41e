#include "tests/tidy/prose_markdown.h"

#include <algorithm>
#include <cctype>

namespace belay::tidy {
namespace {

constexpr std::size_t kCodeIndent = 4;

class Markdown {
 public:
  std::vector<Block> run(std::string_view text) {
    for (line_ = 1; !text.empty(); ++line_) {
      std::size_t end = std::min(text.find('\n'), text.size());
      read(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::move(blocks_);
  }

 private:
  void read(std::string_view line) {
    std::size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
    std::string_view text = line.substr(indent);
    if (skips(text)) return close();
    if (text.empty()) {
      is_after_blank_ = true;
      return close();
    }
    bool starts_code = indent >= kCodeIndent && !in_list_ && (is_after_blank_ || in_code_);
    in_code_ = starts_code;
    is_after_blank_ = false;
    if (starts_code || text.starts_with('>')) return close();
    if (text.starts_with('|')) return add_row(text);
    std::size_t mark = marker_of(text);
    if (indent == 0 && open_ == false) in_list_ = false;
    if (mark > 0) {
      close();
      in_list_ = in_list_ || text[0] != '#';
      text.remove_prefix(mark);
    }
    add(text);
    if (mark > 0 && line[indent] == '#') close();
  }

  // Fences, what is between them, and HTML comments.
  bool skips(std::string_view text) {
    if (!fence_.empty()) {
      if (text.starts_with(fence_)) fence_.clear();
      return true;
    }
    for (std::string_view fence : {"```", "~~~"}) {
      if (!text.starts_with(fence)) continue;
      fence_ = std::string(fence);
      return true;
    }
    if (text.starts_with("<!--")) in_comment_ = true;
    bool skipped = in_comment_;
    if (text.find("-->") != text.npos) in_comment_ = false;
    return skipped;
  }

  // The size of the marker of a heading or of a list item, or 0.
  static std::size_t marker_of(std::string_view text) {
    std::size_t end = 0;
    if (text[0] == '#') {
      end = std::min(text.find_first_not_of('#'), text.size());
    } else if (text[0] == '-' || text[0] == '*' || text[0] == '+') {
      end = 1;
    } else {
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
      if (end == 0 || end == text.size() || (text[end] != '.' && text[end] != ')')) return 0;
      ++end;
    }
    return end < text.size() && text[end] == ' ' ? end : 0;
  }

  void add_row(std::string_view row) {
    close();
    while (!row.empty()) {
      std::size_t end = std::min(row.find('|'), row.size());
      add(row.substr(0, end));
      close();
      row.remove_prefix(std::min(end + 1, row.size()));
    }
  }

  void add(std::string_view text) {
    if (!open_) blocks_.push_back({Source::document, "", {}});
    open_ = true;
    blocks_.back().add(text, line_);
  }

  void close() { open_ = false; }

  std::vector<Block> blocks_;
  std::string fence_;
  int line_ = 0;
  bool open_ = false;
  bool in_comment_ = false;
  bool in_list_ = false;
  bool in_code_ = false;
  bool is_after_blank_ = true;
};

}  // namespace

std::vector<Block> markdown_blocks(std::string_view text) { return Markdown().run(text); }

}  // namespace belay::tidy
