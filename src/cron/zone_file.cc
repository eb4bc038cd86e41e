#include "cron/zone_file.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace belay::cron {
namespace {

using std::chrono::seconds;

constexpr std::size_t kHeaderBytes = 44;
constexpr std::size_t kTypeBytes = 6;  // of an offset: its seconds, is_dst, index of its name

Error corrupt(std::string fault) {
  return error(ErrorCode::corrupt, "Invalid time zone file: " + std::move(fault) +
                                       ". Install the package tzdata again.");
}

std::int64_t big_endian(std::string_view bytes) {
  // The first byte has the sign.
  std::uint64_t value = (static_cast<unsigned char>(bytes.front()) & 0x80) != 0 ? ~0ULL : 0;
  for (char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return static_cast<std::int64_t>(value);
}

// Removes the first `size` bytes of `rest` and returns them; nothing if there are fewer.
std::optional<std::string_view> take(std::string_view& rest, std::size_t size) {
  if (rest.size() < size) return std::nullopt;
  std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(size);
  return taken;
}

struct Header {
  char version = 0;
  std::size_t ut_indicators = 0;
  std::size_t standard_indicators = 0;
  std::size_t leap_seconds = 0;
  std::size_t transitions = 0;
  std::size_t types = 0;
  std::size_t name_bytes = 0;

  std::size_t body_bytes(std::size_t time_bytes) const {
    return transitions * (time_bytes + 1) + types * kTypeBytes + name_bytes +
           leap_seconds * (time_bytes + 4) + standard_indicators + ut_indicators;
  }
};

std::optional<Header> take_header(std::string_view& rest) {
  auto bytes = take(rest, kHeaderBytes);
  if (!bytes || !bytes->starts_with("TZif")) return std::nullopt;
  Header header;
  header.version = (*bytes)[4];
  std::size_t at = 20;
  for (std::size_t* count :
       {&header.ut_indicators, &header.standard_indicators, &header.leap_seconds,
        &header.transitions, &header.types, &header.name_bytes}) {
    std::int64_t value = big_endian(bytes->substr(at, 4));
    // Above this, the sum of the sizes could overflow; no file has as many.
    if (value < 0 || value > std::int64_t{zone_file_bytes_max}) return std::nullopt;
    *count = static_cast<std::size_t>(value);
    at += 4;
  }
  return header;
}

// Reads the transitions of a body whose times have 4 or 8 bytes.
Result<Zone::Periods> decode_body(const Header& header, std::string_view body,
                                  std::size_t time_bytes) {
  if (header.leap_seconds > 0) {
    return error(ErrorCode::invalid,
                 "The time zone file counts leap seconds. Use the zone without the prefix right/.");
  }
  std::string_view times = body.substr(0, header.transitions * time_bytes);
  std::string_view indices = body.substr(times.size(), header.transitions);
  std::string_view types = body.substr(times.size() + indices.size(), header.types * kTypeBytes);
  if (header.types == 0) return corrupt("it has no offset from UTC");

  std::vector<seconds> offsets;
  for (std::size_t type = 0; type < header.types; ++type) {
    seconds offset(big_endian(types.substr(type * kTypeBytes, 4)));
    if (std::chrono::abs(offset) >= zone_offset_max) return corrupt("an offset exceeds 26 hours");
    offsets.push_back(offset);
  }
  Zone::Periods periods;
  periods.first_offset = offsets.front();
  std::optional<std::int64_t> last;
  for (std::size_t i = 0; i < header.transitions; ++i) {
    std::int64_t at = big_endian(times.substr(i * time_bytes, time_bytes));
    auto type = static_cast<unsigned char>(indices[i]);
    if (type >= offsets.size()) return corrupt("a transition refers to an offset that is missing");
    if (last && at <= *last) return corrupt("its transitions are not in ascending order");
    last = at;
    seconds before =
        periods.transitions.empty() ? periods.first_offset : periods.transitions.back().offset;
    // A transition can change only the name of the time, or whether it counts as daylight time.
    // The last one is kept in any case: the rule applies from it on.
    if (offsets[type] == before && i + 1 < header.transitions) continue;
    periods.transitions.push_back({sys_seconds(seconds(at)), offsets[type]});
  }
  return periods;
}

}  // namespace

Result<Zone::Periods> decode_zone_file(std::string_view bytes) {
  std::string_view rest = bytes;
  auto header = take_header(rest);
  if (!header) return corrupt("it does not begin with a header of TZif");
  auto body = take(rest, header->body_bytes(4));
  if (!body) return corrupt("it is incomplete");
  if (header->version < '2') return decode_body(*header, *body, 4);

  // From version 2 on, the same data follow with times of 8 bytes, and then the rule in a line.
  header = take_header(rest);
  if (!header) return corrupt("its second header is missing");
  body = take(rest, header->body_bytes(8));
  if (!body) return corrupt("it is incomplete");
  BELAY_TRY(Zone::Periods periods, decode_body(*header, *body, 8));
  if (rest.size() < 2 || rest.front() != '\n' || rest.find('\n', 1) == rest.npos) {
    return corrupt("the line with its rule is missing");
  }
  std::string_view line = rest.substr(1, rest.find('\n', 1) - 1);
  if (line.empty()) return periods;
  auto rule = ZoneRule::parse(line);
  if (!rule.ok()) return corrupt("its rule for the future cannot be read");
  periods.rule = *rule;
  return periods;
}

}  // namespace belay::cron
