#pragma once
// tests/support/corpus_file.h - reads a corpus: lines of columns separated by tabs, whose last
// column can contain any bytes as \xHH, and a backslash as \\. Lines that begin with # are
// comments.

#include <fstream>
#include <string>
#include <vector>

namespace belay {

inline int hex_digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

inline std::string unescaped(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
    } else if (text.at(++i) == 'x') {
      bytes += static_cast<char>(hex_digit(text.at(i + 1)) * 16 + hex_digit(text.at(i + 2)));
      i += 2;
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

// Returns the columns of each line; all have `columns`.
inline std::vector<std::vector<std::string>> corpus_rows(const std::string& path,
                                                         std::size_t columns) {
  std::ifstream file(path);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::vector<std::string> row;
    for (std::size_t i = 1; i < columns; ++i) {
      std::size_t tab = line.find('\t');
      row.push_back(line.substr(0, tab));
      line.erase(0, tab == line.npos ? line.size() : tab + 1);
    }
    row.push_back(unescaped(line));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace belay
