#include "belay/storage.h"

#include <algorithm>

#include "store/encrypted/keys.h"

namespace belay {
namespace {

using encrypted::kKeyBytes;
using encrypted::kKeyIdMax;
using encrypted::NamedKey;

// Overwrites a text that contains keys, on every return path.
struct Overwriting {
  explicit Overwriting(std::string& held) : text(held) {}
  Overwriting(const Overwriting&) = delete;
  Overwriting& operator=(const Overwriting&) = delete;
  ~Overwriting() { encrypted::overwrite(text.data(), text.size()); }
  std::string& text;
};

bool is_key_id(std::string_view id) {
  auto may_stand = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !id.empty() && id.size() <= kKeyIdMax && std::all_of(id.begin(), id.end(), may_stand);
}

int position_in(std::string_view alphabet, char c) {
  std::size_t at = alphabet.find(c);
  return at == alphabet.npos ? -1 : static_cast<int>(at);
}

int hex_digit(char c) {
  if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  return position_in("0123456789abcdef", c);
}

int base64_digit(char c) {
  return position_in("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", c);
}

// `text` as digits of `bits` bits each, into exactly the bytes of a key; bits left over are zero.
bool decode(std::string_view text, int (*digit)(char), unsigned bits, std::uint8_t* out) {
  std::uint32_t held = 0;
  unsigned count = 0;
  std::size_t written = 0;
  for (char c : text) {
    int value = digit(c);
    if (value < 0) return false;
    held = (held << bits | static_cast<std::uint32_t>(value)) & 0xffff;
    count += bits;
    if (count < 8) continue;
    count -= 8;
    if (written == kKeyBytes) return false;
    out[written++] = static_cast<std::uint8_t>(held >> count);
    held &= (1u << count) - 1;
  }
  return written == kKeyBytes && held == 0;
}

bool read_key(std::string_view text, std::uint8_t* out) {
  if (text.size() == 2 * kKeyBytes) return decode(text, hex_digit, 4, out);
  if (text.size() != 44 || text.back() != '=') return false;
  text.remove_suffix(1);
  return decode(text, base64_digit, 6, out);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  std::size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

Error refuse(int line, std::string_view why) {
  return error(ErrorCode::invalid,
               "Line " + std::to_string(line) + " of the keys " + std::string(why) + ".");
}

}  // namespace

Result<KeyRing> KeyRing::from_text(std::string text) {
  Overwriting overwriting(text);
  std::vector<std::unique_ptr<NamedKey>> keys;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty() || line.front() == '#') continue;
    std::size_t colon = line.find(':');
    if (colon == line.npos) return refuse(number, "has no colon. Write it as id:key");
    std::string_view id = line.substr(0, colon);
    if (!is_key_id(id)) {
      return refuse(number, "has an invalid id before its colon. Use 1 to " +
                                std::to_string(kKeyIdMax) + " letters, digits, '.', '_' or '-'");
    }
    auto same = [&](const auto& other) { return other->id == id; };
    if (std::any_of(keys.begin(), keys.end(), same)) {
      return refuse(number, "has the id \"" + std::string(id) +
                                "\" for the second time. Use a different id for each key");
    }
    auto key = std::make_unique<NamedKey>();
    key->id = id;
    if (!read_key(trimmed(line.substr(colon + 1)), key->bytes.data())) {
      return refuse(number, "has no key of 32 bytes after \"" + key->id +
                                ":\". Write 64 hexadecimal digits, or 44 characters of base64");
    }
    keys.push_back(std::move(key));
  }
  if (keys.empty()) {
    return error(ErrorCode::invalid, "The keys are empty. Write at least one line id:key.");
  }
  KeyRing ring;
  ring.keys_ = std::make_shared<const encrypted::Keys>(std::move(keys));
  return ring;
}

std::vector<std::string> KeyRing::ids() const {
  std::vector<std::string> ids;
  if (!keys_) return ids;
  for (const auto& key : keys_->all()) ids.push_back(key->id);
  return ids;
}

}  // namespace belay
