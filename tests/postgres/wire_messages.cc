#include "tests/postgres/wire_messages.h"

namespace belay::postgres_tests {

std::uint32_t wire_number(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4 && i < bytes.size(); ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

std::string wire_bytes(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(static_cast<unsigned char>(number >> shift));
  }
  return bytes;
}

std::string wire_message(char type, const std::string& body) {
  return type + wire_bytes(static_cast<std::uint32_t>(body.size() + 4)) + body;
}

std::optional<WireMessage> WireReader::take(char type, std::size_t size) {
  if (buffer_.size() < size) return std::nullopt;
  WireMessage message{type, buffer_.substr(0, size)};
  buffer_.erase(0, size);
  return message;
}

std::optional<WireMessage> WireReader::next() {
  if (letters_ > 0 && side_ == Side::server && !buffer_.empty()) {
    --letters_;
    return take(0, 1);
  }
  std::size_t head = is_starting_ ? 4 : 5;
  if (buffer_.size() < head) return std::nullopt;
  std::size_t length = wire_number(std::string_view(buffer_).substr(head - 4));
  if (!is_starting_) return take(buffer_[0], length + 1);
  auto message = take(0, length);
  // After a request for encryption, which is rejected, the client starts again.
  if (message && wire_number(message->body()) == kWireProtocol) is_starting_ = false;
  return message;
}

}  // namespace belay::postgres_tests
