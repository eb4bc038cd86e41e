#include "http/head_scanner.h"

namespace belay::http {
namespace {

constexpr std::size_t kMethodBytesMax = 32;
constexpr std::size_t kVersionBytes = 11;  // " HTTP/1.1\r\n"

}  // namespace

std::optional<Refusal> HeadScanner::look(std::string_view head) {
  while (scanned_ < head.size() && size_ == 0) {
    char letter = head[scanned_];
    if (letter == '\r') {
      if (scanned_ + 1 == head.size()) break;
      if (head[scanned_ + 1] != '\n') {
        return Refusal{400, "A line of the request's head contains a carriage return."};
      }
      if (auto refusal = end_line(scanned_)) return refusal;
      scanned_ += 2;
      line_begin_ = scanned_;
      continue;
    }
    if (letter == '\n') {
      return Refusal{400, "A line of the request's head ends in a line feed alone, not in CR LF."};
    }
    bool is_blank = letter == ' ' || letter == '\t';
    if (is_blank && scanned_ == line_begin_) {
      return Refusal{400, "A line of the request's head begins with a space."};
    }
    if ((letter >= 0 && letter < ' ' && letter != '\t') || letter == 0x7f) {
      return Refusal{400, "The request's head contains a control character."};
    }
    if (letter == ' ' && first_space_ == 0) first_space_ = scanned_;
    if (first_space_ == 0 && lines_ == 0 && scanned_ >= kMethodBytesMax) {
      return Refusal{400, "The request does not begin with a method."};
    }
    ++scanned_;
  }
  return check_size(head.size());
}

std::optional<Refusal> HeadScanner::end_line(std::size_t end) {
  if (end == line_begin_) {
    if (lines_ == 0) return Refusal{400, "The request begins with an empty line."};
    size_ = end + 2;
    return std::nullopt;
  }
  if (++lines_ > limits_.headers + 1) {
    return Refusal{431,
                   "The request has more than " + std::to_string(limits_.headers) + " headers."};
  }
  return std::nullopt;
}

std::optional<Refusal> HeadScanner::check_size(std::size_t held) const {
  std::size_t size = size_ == 0 ? held : size_;
  if (lines_ == 0 && size > first_space_ + limits_.target_bytes + kVersionBytes) {
    return Refusal{414, "The request's target is longer than " +
                            std::to_string(limits_.target_bytes) + " bytes."};
  }
  if (size > limits_.head_bytes) {
    return Refusal{
        431, "The request's head is longer than " + std::to_string(limits_.head_bytes) + " bytes."};
  }
  return std::nullopt;
}

}  // namespace belay::http
