#include "redis/reply.h"

#include <charconv>

namespace belay::redis {
namespace {

constexpr std::size_t line_bytes_max = 64u << 10;  // a status, an error, a number

Error no_reply(std::string_view why) {
  return error(ErrorCode::corrupt,
               "The reply does not come from Redis, or is damaged: " + std::string(why) +
                   "; check the address in the setting redis.");
}

std::optional<std::int64_t> number_in(std::string_view line) {
  std::int64_t number = 0;
  auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (failed != std::errc() || end != line.data() + line.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string to_bytes(const Command& command) {
  std::string bytes = "*" + std::to_string(command.size()) + "\r\n";
  for (const std::string& part : command) {
    bytes += "$" + std::to_string(part.size()) + "\r\n";
    bytes += part;
    bytes += "\r\n";
  }
  return bytes;
}

void ReplyReader::feed(std::string_view bytes) {
  if (is_broken_) return;
  if (begin_ > 0) {
    held_.erase(0, begin_);
    begin_ = 0;
  }
  held_ += bytes;
}

Result<std::optional<Reply>> ReplyReader::next() {
  if (is_broken_) return no_reply("no further replies can be read");
  if (empty() || held_.size() - begin_ < wanted_) return std::optional<Reply>();
  wanted_ = 0;
  items_ = 0;
  Reply reply;
  std::size_t at = begin_;
  auto is_whole = read(reply, at, 0);
  if (!is_whole.ok()) {
    is_broken_ = true;
    held_.clear();
    begin_ = 0;
    return std::move(is_whole).error();
  }
  if (!*is_whole) return std::optional<Reply>();
  begin_ = at;
  return std::optional(std::move(reply));
}

std::optional<std::string_view> ReplyReader::line(std::size_t& at) {
  std::size_t end = held_.find("\r\n", at);
  if (end == std::string::npos) return std::nullopt;
  std::string_view found = std::string_view(held_).substr(at, end - at);
  at = end + 2;
  return found;
}

Result<bool> ReplyReader::read(Reply& reply, std::size_t& at, int depth) {
  if (at >= held_.size()) return false;
  char kind = held_[at];
  if (std::string_view("+-:$*").find(kind) == std::string_view::npos) {
    return no_reply("a reply does not begin with one of + - : $ *");
  }
  std::size_t begin = at + 1;
  auto text = line(begin);
  if (!text && held_.size() - at > line_bytes_max) return no_reply("a line has no end");
  if (!text) return false;
  at = begin;
  if (kind == '+' || kind == '-') {
    reply.kind = kind == '+' ? Reply::Kind::status : Reply::Kind::error;
    reply.text = *text;
    return true;
  }
  auto number = number_in(*text);
  if (!number) return no_reply("a number is invalid");
  if (kind == ':') {
    reply.kind = Reply::Kind::number;
    reply.number = *number;
    return true;
  }
  if (*number == -1) return true;  // nil
  if (*number < 0) return no_reply("a size is below zero");
  return kind == '$' ? read_text(reply, *number, at) : read_list(reply, *number, at, depth);
}

Result<bool> ReplyReader::read_text(Reply& reply, std::int64_t size, std::size_t& at) {
  if (size > static_cast<std::int64_t>(bytes_max)) return no_reply("a reply is too large");
  std::size_t bytes = static_cast<std::size_t>(size);
  if (at - begin_ + bytes > bytes_max) return no_reply("a reply is too large");
  if (held_.size() < at + bytes + 2) {
    wanted_ = at + bytes + 2 - begin_;
    return false;
  }
  if (held_.compare(at + bytes, 2, "\r\n") != 0)
    return no_reply("a text has another size than announced");
  reply.kind = Reply::Kind::text;
  reply.text = held_.substr(at, bytes);
  at += bytes + 2;
  return true;
}

Result<bool> ReplyReader::read_list(Reply& reply, std::int64_t size, std::size_t& at, int depth) {
  if (depth + 1 > depth_max) return no_reply("lists are nested too deep");
  if (size > static_cast<std::int64_t>(items_max)) return no_reply("a list is too long");
  items_ += static_cast<std::size_t>(size);
  if (items_ > items_max) return no_reply("a list is too long");
  reply.kind = Reply::Kind::list;
  for (std::int64_t i = 0; i < size; ++i) {
    BELAY_TRY(bool is_whole, read(reply.items.emplace_back(), at, depth + 1));
    if (!is_whole) return false;
  }
  return true;
}

}  // namespace belay::redis
