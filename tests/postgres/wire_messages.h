#pragma once
// tests/postgres/wire_messages.h - splits a byte stream into messages of PostgreSQL's protocol 3
//
// A message consists of a type, a length and a body. The first message of a connection has no type.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belay::postgres_tests {

struct WireMessage {
  char type = 0;      // 0: no type, as in the first messages of a client
  std::string bytes;  // the whole message, as it is forwarded
  std::string_view body() const { return std::string_view(bytes).substr(type == 0 ? 4 : 5); }
};

class WireReader {
 public:
  enum class Side { client, server };
  explicit WireReader(Side side) : side_(side), is_starting_(side == Side::client) {}

  void add(std::string_view bytes) { buffer_ += bytes; }
  // Returns the next whole message, if there is one.
  std::optional<WireMessage> next();
  // The server's response to a request for encryption is a single byte.
  void expect_letter() { ++letters_; }

 private:
  std::optional<WireMessage> take(char type, std::size_t size);

  Side side_;
  bool is_starting_;
  int letters_ = 0;
  std::string buffer_;
};

std::uint32_t wire_number(std::string_view bytes);  // the first four bytes, in network byte order
std::string wire_bytes(std::uint32_t number);
std::string wire_message(char type, const std::string& body);

// The code in a client's first message.
inline constexpr std::uint32_t kWireProtocol = 196'608;
inline constexpr std::uint32_t kWireTls = 80'877'103;
inline constexpr std::uint32_t kWireGss = 80'877'104;
inline constexpr std::uint32_t kWireCancel = 80'877'102;

}  // namespace belay::postgres_tests
