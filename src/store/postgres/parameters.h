#pragma once
// store/postgres/parameters.h - the parameters ($1, $2, ...) of a statement in PostgreSQL's binary
// format: single values, or columns of values for unnest().
//
// The formats are those of the types' send and receive functions, as the server documents them in
// https://www.postgresql.org/docs/15/protocol-overview.html#PROTOCOL-FORMAT-CODES: big-endian
// integers; a timestamptz is the microseconds since 2000-01-01 UTC; an array is its dimensions,
// then each element after its length.
//
// Threading: one thread at a time.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "belay/ids.h"
#include "store/enum_names.h"

namespace belay::postgres {

// Returns the 16 bytes of an id, which must outlive the result.
std::string_view bytes_of_id(const Uuid& id);

// The object ids of the used types, from the server's pg_type.dat.
enum class Type : std::uint32_t {
  boolean = 16,
  bytes = 17,
  number = 20,  // bigint
  text = 25,
  instant = 1184,  // timestamptz
  uuid = 2950,
};

// Converts between an Instant and the 8 bytes of a timestamptz. Instants before the server's first
// one become that one.
std::int64_t microseconds_since_2000(Instant instant);
Instant instant_since_2000(std::int64_t microseconds);

// Returns the number, at most the largest bigint.
std::int64_t clamped(std::uint64_t number);

// One column of a batch of rows: an array parameter for unnest(). Bytes are copied.
class Column {
 public:
  explicit Column(Type type);

  // Adds a value. REQUIRES: it has the column's type.
  void add(std::int64_t number);
  void add(std::uint64_t number) { add(clamped(number)); }
  void add(bool value);
  void add(Instant instant);
  void add(std::string_view text_or_bytes);
  void add(const Uuid& id);
  void add(const Digest& digest);
  void add_null();
  void add_or_null(const Uuid& id) { id.is_null() ? add_null() : add(id); }
  // Adds null for the default instant.
  void add_or_null(Instant instant) { instant == Instant{} ? add_null() : add(instant); }
  template <typename E>
    requires(store::enum_names<E>.size() > 0)
  void add(E value) {
    add(store::enum_name(value));
  }
  void add(const char*) = delete;

  std::size_t size() const { return count_; }
  Type type() const { return type_; }
  // The binary format of a one-dimensional array; valid until the column changes or is destroyed.
  std::string_view encoded() const { return encoded_; }

 private:
  void add_length(std::size_t length);

  Type type_;
  std::size_t count_ = 0;
  std::string encoded_;
};

// The values of one statement, from $1 on. Bytes are copied, except for those of refer().
class Parameters {
 public:
  Parameters& add(std::int64_t number);
  Parameters& add(std::uint64_t number) { return add(clamped(number)); }
  Parameters& add(bool value);
  Parameters& add(Instant instant);
  Parameters& add(std::string_view text);
  Parameters& add_bytes(std::string_view bytes);
  Parameters& add(const Uuid& id);
  Parameters& add(const Digest& digest);
  Parameters& add(const Column& column);
  // The same without a copy: the column must outlive this object, and must not change.
  Parameters& refer(const Column& column);
  void reserve(std::size_t count) { values_.reserve(count); }
  Parameters& add_null(Type type);
  Parameters& add_or_null(const Uuid& id) { return id.is_null() ? add_null(Type::uuid) : add(id); }
  Parameters& add_or_null(Instant instant) {
    return instant == Instant{} ? add_null(Type::instant) : add(instant);
  }
  template <typename E>
    requires(store::enum_names<E>.size() > 0)
  Parameters& add(E value) {
    return add(store::enum_name(value));
  }
  Parameters& add(const char*) = delete;

  // The arguments of PQsendQueryParams(); valid until this object changes or is destroyed.
  struct View {
    std::vector<std::uint32_t> types;
    std::vector<const char*> values;
    std::vector<int> lengths;
    std::vector<int> formats;
  };
  View view() const;

 private:
  struct Value {
    std::uint32_t type = 0;
    std::string bytes;
    bool is_null = false;
    std::string_view elsewhere = {};  // if it is not empty, instead of `bytes`
  };
  Parameters& add_value(Type type, std::string bytes);

  std::vector<Value> values_;
};

}  // namespace belay::postgres
