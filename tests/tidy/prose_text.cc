// Splits the text of a block into words, and the files of each language into blocks.

#include "tests/tidy/prose_text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "tests/tidy/lexer.h"
#include "tests/tidy/prose_markdown.h"

namespace belay::tidy {
namespace {

constexpr std::size_t kCodeSpanMax = 300;  // a backtick without a partner does not hide a page

bool is_letter(char c) {
  unsigned char byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) || c == '_' || byte >= 0x80;
}
bool is_white(char c) { return std::isspace(static_cast<unsigned char>(c)); }

// Dashes, arrows, ellipses, box characters: three bytes of UTF-8 that begin with 0xE2.
bool is_symbol(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]) == 0xE2 && at + 2 < text.size();
}

class WordReader {
 public:
  explicit WordReader(const Block& block) : block_(block), text_(block.text) {
    passage_.source = block.source;
  }

  Passage run() {
    while (at_ < text_.size()) step();
    passage_.end = gap_ == Gap::question ? Gap::question : Gap::sentence;
    return std::move(passage_);
  }

 private:
  void step() {
    char c = text_[at_];
    if (is_symbol(text_, at_)) {
      widen(Gap::punctuation);
      at_ += 3;
    } else if (is_letter(c)) {
      take_word();
    } else if (c == '`' && take_code_span()) {
      return;
    } else if (block_.source == Source::document && text_.substr(at_, 2) == "](") {
      widen(Gap::punctuation);
      at_ = std::min(text_.find(')', at_), text_.size());
    } else {
      if (!is_white(c)) widen(gap_of(c));
      ++at_;
    }
  }

  Gap gap_of(char c) const {
    if (block_.source == Source::document && c == '*') return Gap::space;  // emphasis
    if (c != '.' && c != '!' && c != '?') return Gap::punctuation;
    std::size_t next = std::min(text_.find_first_not_of("\"'`*_)]", at_ + 1), text_.size());
    if (next < text_.size() && !is_white(text_[next])) return Gap::punctuation;
    return c == '?' ? Gap::question : Gap::sentence;
  }

  // The first end of a sentence decides: `?"` stays a question.
  void widen(Gap gap) {
    if (gap_ == Gap::space || (gap_ == Gap::punctuation && gap != Gap::space)) gap_ = gap;
  }

  void take_word() {
    std::size_t end = at_;
    while (end < text_.size() && continues_word(end)) ++end;
    add(std::string(text_.substr(at_, end - at_)));
    at_ = end;
  }

  bool continues_word(std::size_t at) const {
    char c = text_[at];
    if (is_symbol(text_, at)) return false;
    if (is_letter(c)) return true;
    bool joins = c == '-' || c == '\'';
    return joins && at > at_ && is_letter(text_[at - 1]) && at + 1 < text_.size() &&
           is_letter(text_[at + 1]) && !is_symbol(text_, at + 1);
  }

  bool take_code_span() {
    std::size_t close = text_.find('`', at_ + 1);
    if (close == text_.npos || close == at_ + 1 || close - at_ > kCodeSpanMax) return false;
    add(std::string(kCodeSpan));
    at_ = close + 1;
    return true;
  }

  void add(std::string word) {
    auto next = std::upper_bound(
        block_.lines.begin(), block_.lines.end(), at_,
        [](std::size_t at, const std::pair<std::size_t, int>& line) { return at < line.first; });
    int line = next == block_.lines.begin() ? 1 : std::prev(next)->second;
    passage_.words.push_back({std::move(word), line, gap_});
    gap_ = Gap::space;
  }

  const Block& block_;
  std::string_view text_;
  Passage passage_ = {};
  std::size_t at_ = 0;
  Gap gap_ = Gap::sentence;
};

// Gathers the lines of comments into blocks, one for each run of lines without an empty one.
class CommentBlocks {
 public:
  // `text` is a line of a comment without its marks. A comment after code starts a new block.
  void add(std::string_view text, int line, bool after_code) {
    bool empty = text.find_first_not_of(" \t/*#-=") == text.npos;
    bool adjacent = !blocks_.empty() && line <= last_line_ + 1 && !after_code && !broken_;
    last_line_ = line;
    broken_ = empty;
    if (empty) return;
    if (!adjacent) blocks_.push_back({Source::comment, "", {}});
    blocks_.back().add(text, line);
  }

  std::vector<Block> take() { return std::move(blocks_); }

 private:
  std::vector<Block> blocks_;
  int last_line_ = -1;
  bool broken_ = false;
};

std::string_view without_marks(std::string_view line) {
  std::size_t start = line.find_first_not_of(" \t/*#");
  if (start == line.npos) return "";
  std::size_t end = line.ends_with("*/") ? line.size() - 2 : line.size();
  return line.substr(start, end > start ? end - start : 0);
}

void add_comment(CommentBlocks& comments, std::string_view text, int line, bool after_code) {
  while (true) {
    std::size_t end = text.find('\n');
    comments.add(without_marks(text.substr(0, end)), line++, after_code);
    if (end == text.npos) return;
    text.remove_prefix(end + 1);
    after_code = false;
  }
}

std::vector<Block> cpp_blocks(std::string_view text) {
  CommentBlocks comments;
  std::vector<Block> strings;
  bool joins_string = false;
  int code_line = -1;
  for (const Token& token : tokens_and_prose_of(text)) {
    if (token.kind == TokenKind::comment) {
      add_comment(comments, token.text, token.line, token.line == code_line);
      continue;
    }
    if (token.kind == TokenKind::string) {
      if (!joins_string) strings.push_back({Source::string, "", {}});
      strings.back().add(token.text, token.line);
    }
    joins_string = token.kind == TokenKind::string;
    code_line = token.line;
  }
  std::vector<Block> all = comments.take();
  std::move(strings.begin(), strings.end(), std::back_inserter(all));
  return all;
}

// Returns the offset of the `#` that starts a comment on a line of a script, or npos.
std::size_t comment_start(std::string_view line) {
  bool single = false;
  bool quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    char c = line[at];
    if (c == '\\') {
      ++at;
    } else if (c == '\'' && !quoted) {
      single = !single;
    } else if (c == '"' && !single) {
      quoted = !quoted;
    } else if (c == '#' && !single && !quoted && (at == 0 || is_white(line[at - 1]))) {
      return at;
    }
  }
  return line.npos;
}

std::vector<Block> script_blocks(std::string_view text) {
  CommentBlocks comments;
  for (int number = 1; !text.empty(); ++number) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::size_t start = line.starts_with("#!") ? line.npos : comment_start(line);
    if (start == line.npos) continue;
    bool after_code = line.find_first_not_of(" \t") != start;
    comments.add(without_marks(line.substr(start)), number, after_code);
  }
  return comments.take();
}

bool ends_with_any(std::string_view path, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return path.ends_with(end); });
}

bool is_script(const File& file) {
  return file.text.starts_with("#!") || file.path.starts_with("scripts/") ||
         ends_with_any(file.path, {"CMakeLists.txt", ".cmake", "Makefile", ".sh", ".toml", ".yml",
                                   ".yaml", ".service"});
}

std::vector<Block> blocks_of(const File& file) {
  if (file.path.ends_with(".md")) return markdown_blocks(file.text);
  if (is_any_cpp(file.path)) return cpp_blocks(file.text);
  if (is_script(file)) return script_blocks(file.text);
  return {};
}

}  // namespace

void Block::add(std::string_view piece, int line) {
  if (!text.empty()) text += ' ';
  lines.emplace_back(text.size(), line);
  // A raw string contains line breaks.
  for (std::size_t at = 0; at < piece.size(); ++at) {
    if (piece[at] == '\n') lines.emplace_back(text.size() + at + 1, ++line);
  }
  text += piece;
}

Passage passage_of(const Block& block) { return WordReader(block).run(); }

std::vector<Passage> passages_of(const File& file) {
  std::vector<Passage> passages;
  for (const Block& block : blocks_of(file)) {
    Passage passage = passage_of(block);
    if (!passage.words.empty()) passages.push_back(std::move(passage));
  }
  return passages;
}

bool is_any_header(std::string_view path) {
  return ends_with_any(path, {".h", ".hh", ".hpp", ".hxx"});
}

bool is_any_cpp(std::string_view path) {
  return is_any_header(path) || ends_with_any(path, {".cc", ".cpp", ".cxx", ".c++", ".c"});
}

}  // namespace belay::tidy
