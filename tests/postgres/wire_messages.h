#pragma once
// tests/postgres/wire_messages.h - the messages of PostgreSQL's protocol 3, cut out of a stream of
// bytes: type, length, body. What a connection begins with has no type.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belay::postgres_tests {

struct WireMessage {
  char type = 0;      // 0: without a type, as the first ones of a client
  std::string bytes;  // all of it, as it is sent on
  std::string_view body() const { return std::string_view(bytes).substr(type == 0 ? 4 : 5); }
};

class WireReader {
 public:
  enum class Side { client, server };
  explicit WireReader(Side side) : side_(side), is_starting_(side == Side::client) {}

  void add(std::string_view bytes) { buffer_ += bytes; }
  // The next whole message, if it is there.
  std::optional<WireMessage> next();
  // The server's answer to a request for encryption is one letter.
  void expect_letter() { ++letters_; }

 private:
  std::optional<WireMessage> take(char type, std::size_t size);

  Side side_;
  bool is_starting_;
  int letters_ = 0;
  std::string buffer_;
};

std::uint32_t wire_number(std::string_view bytes);  // its first four, in the order of the network
std::string wire_bytes(std::uint32_t number);
std::string wire_message(char type, const std::string& body);

// What a client's first message says.
inline constexpr std::uint32_t kWireProtocol = 196'608;
inline constexpr std::uint32_t kWireTls = 80'877'103;
inline constexpr std::uint32_t kWireGss = 80'877'104;
inline constexpr std::uint32_t kWireCancel = 80'877'102;

}  // namespace belay::postgres_tests
