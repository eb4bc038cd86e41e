#include "store/postgres/parameters.h"

#include <algorithm>
#include <limits>

namespace belay::postgres {
namespace {

constexpr std::int64_t seconds_to_2000 = 946'684'800;
constexpr std::int64_t microseconds_to_2000 = seconds_to_2000 * 1'000'000;
// In the binary format of an array.
constexpr std::size_t place_of_dimensions = 0;
constexpr std::size_t place_of_null = 4;
constexpr std::size_t place_of_count = 12;

// The server's first timestamp, 4713-01-01 BC (Julian): src/include/datatype/timestamp.h of
// PostgreSQL.
constexpr std::int64_t first_since_2000 = -211'813'488'000'000'000;

template <typename T>
void append_big_endian(std::string& to, T number) {
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8) {
    to.push_back(static_cast<char>(static_cast<std::uint64_t>(number) >> shift & 0xff));
  }
}

void put_big_endian(std::string& in, std::size_t place, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) in[place++] = static_cast<char>(number >> shift);
}

std::string eight_bytes_of(std::int64_t number) {
  std::string bytes;
  append_big_endian(bytes, number);
  return bytes;
}

std::string_view bytes_of_hash(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// Returns the array type of a type.
std::uint32_t array_of(Type type) {
  switch (type) {
    case Type::boolean:
      return 1000;
    case Type::bytes:
      return 1001;
    case Type::number:
      return 1016;
    case Type::text:
      return 1009;
    case Type::instant:
      return 1185;
    case Type::uuid:
      return 2951;
  }
  return 0;
}

}  // namespace

std::string_view bytes_of_id(const Uuid& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}

std::int64_t microseconds_since_2000(Instant instant) {
  std::int64_t since_1970 = instant.time_since_epoch().count();
  if (since_1970 < first_since_2000 + microseconds_to_2000) return first_since_2000;
  return since_1970 - microseconds_to_2000;
}

Instant instant_since_2000(std::int64_t microseconds) {
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max() - microseconds_to_2000;
  return Instant(std::chrono::microseconds(std::min(microseconds, last) + microseconds_to_2000));
}

std::int64_t clamped(std::uint64_t number) {
  constexpr auto greatest = std::numeric_limits<std::int64_t>::max();
  return number > static_cast<std::uint64_t>(greatest) ? greatest
                                                       : static_cast<std::int64_t>(number);
}

// An empty array has no dimension: its head is shorter. The head of others is put when the first
// element is added, so that an empty column allocates nothing.
Column::Column(Type type) : type_(type) {
  append_big_endian(encoded_, std::uint32_t{0});  // dimensions
  append_big_endian(encoded_, std::uint32_t{0});  // whether it has a null
  append_big_endian(encoded_, static_cast<std::uint32_t>(type_));
}

void Column::add_length(std::size_t length) {
  if (count_ == 0) {
    put_big_endian(encoded_, place_of_dimensions, 1);
    append_big_endian(encoded_, std::uint32_t{0});  // the number of elements
    append_big_endian(encoded_, std::uint32_t{1});  // the first index
  }
  append_big_endian(encoded_, static_cast<std::uint32_t>(length));
  put_big_endian(encoded_, place_of_count, static_cast<std::uint32_t>(++count_));
}

void Column::add(std::int64_t number) {
  add_length(sizeof number);
  append_big_endian(encoded_, number);
}

void Column::add(bool value) {
  add_length(1);
  encoded_.push_back(value ? '\1' : '\0');
}

void Column::add(Instant instant) { add(microseconds_since_2000(instant)); }

void Column::add(std::string_view text_or_bytes) {
  add_length(text_or_bytes.size());
  encoded_.append(text_or_bytes);
}

void Column::add(const Uuid& id) { add(bytes_of_id(id)); }
void Column::add(const Digest& digest) { add(bytes_of_hash(digest)); }

void Column::add_null() {
  put_big_endian(encoded_, place_of_null, 1);
  add_length(std::numeric_limits<std::uint32_t>::max());  // -1
}

Parameters& Parameters::add_value(Type type, std::string bytes) {
  values_.push_back({static_cast<std::uint32_t>(type), std::move(bytes), false});
  return *this;
}

Parameters& Parameters::add(std::int64_t number) {
  return add_value(Type::number, eight_bytes_of(number));
}
Parameters& Parameters::add(bool value) {
  return add_value(Type::boolean, std::string(1, value ? '\1' : '\0'));
}
Parameters& Parameters::add(Instant instant) {
  return add_value(Type::instant, eight_bytes_of(microseconds_since_2000(instant)));
}
Parameters& Parameters::add(std::string_view text) {
  return add_value(Type::text, std::string(text));
}
Parameters& Parameters::add_bytes(std::string_view bytes) {
  return add_value(Type::bytes, std::string(bytes));
}
Parameters& Parameters::add(const Uuid& id) {
  return add_value(Type::uuid, std::string(bytes_of_id(id)));
}
Parameters& Parameters::add(const Digest& digest) { return add_bytes(bytes_of_hash(digest)); }

Parameters& Parameters::add(const Column& column) {
  values_.push_back({array_of(column.type()), std::string(column.encoded()), false});
  return *this;
}

Parameters& Parameters::refer(const Column& column) {
  values_.push_back({array_of(column.type()), "", false, column.encoded()});
  return *this;
}

Parameters& Parameters::add_null(Type type) {
  values_.push_back({static_cast<std::uint32_t>(type), "", true});
  return *this;
}

Parameters::View Parameters::view() const {
  View view;
  view.types.reserve(values_.size());
  view.values.reserve(values_.size());
  view.lengths.reserve(values_.size());
  for (const Value& value : values_) {
    std::string_view bytes = value.elsewhere.empty() ? value.bytes : value.elsewhere;
    view.types.push_back(value.type);
    view.values.push_back(value.is_null ? nullptr : bytes.data());
    view.lengths.push_back(static_cast<int>(bytes.size()));
  }
  view.formats.assign(values_.size(), 1);
  return view;
}

}  // namespace belay::postgres
