#pragma once
// belay/record.h - records: an agent's own rows, saved in a node's commit, in any store.
//
// A record type is a plain struct that defines its collection, its key and the members that can be
// searched:
//
//     struct Note {
//       static constexpr std::string_view collection = "notes";
//       std::string id;
//       std::string date;
//       std::string content;
//       std::string key() const { return id; }
//       static auto indexed() { return std::tuple{&Note::date}; }
//     };
//
// A record belongs to a tenant and a user; collection and key identify it within them. Saving a
// record with an existing key replaces it. Members in indexed() are strings or integers, and are
// searched for equal values; collection.h adds ranges. The type can also have:
//
//     static auto ordered();                      // indexes with an order: see collection.h
//     Instant expires_at() const;                 // not read from then on; unset: never
//     static constexpr bool is_of_tenant = true;  // the records belong to no user

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "belay/ids.h"
#include "belay/rows.h"
#include "belay/task.h"
#include "belay/value.h"

namespace belay {

// Values of an ordered index: from `from` on, ordered by value and key.
struct RecordRange {
  std::string from = {};
  std::string until = {};  // not empty: only values before this one
  bool is_descending = false;
  std::string after = {};  // with the `after` of the query: only records after this value and key
};

// The save or the deletion of one record by a commit.
struct RecordWrite {
  std::string collection;
  UserId user;
  std::string key;
  std::string json;                                          // the record; empty if `erase`
  std::vector<std::pair<std::string, std::string>> indexed;  // names of indexes, and values
  bool erase = false;
  Instant expires_at = {};                             // unset: never
  std::optional<std::uint64_t> expected_version = {};  // see RecordPut
  bool is_of_tenant = false;                           // belongs to no user
};

// The same as a row of a commit.
struct RecordPut {
  std::string collection;
  UserId user;  // empty: the record belongs to the whole tenant
  std::string key;
  std::string envelope;                                      // empty: deletes the record
  std::vector<std::pair<std::string, std::string>> indexed;  // names of indexes, and values
  std::string seal = {};                                     // covers `indexed`
  Instant expires_at = {};                                   // unset: never
  std::optional<std::uint64_t> expected_version = {};  // of the stored record; 0: it must be new
  friend bool operator==(const RecordPut&, const RecordPut&) = default;
};

// A stored record.
struct RecordRow {
  std::string collection;
  UserId user;
  std::string key;
  std::string json;
  RunId run;              // the run whose commit saved it; null: none
  std::uint64_t seq = 0;  // that commit's seq
  Instant updated_at{};
  std::uint64_t version = 0;    // see StoredRecord
  Instant expires_at = {};      // unset: never
  std::string sort_value = {};  // of a range: the value of the index
};

struct RecordFilter {
  std::string collection;
  UserId user;
  std::string key;    // not empty: only this record
  std::string field;  // not empty: only records whose indexed `field` equals `value`
  std::string value;
  std::string after;  // not empty: only keys after this one
  std::size_t limit = 1000;
  std::optional<RecordRange> range = {};  // set: `field` is an ordered index
  bool is_of_tenant = false;              // the records belong to no user
};

template <typename R>
concept Record = reflect::PlainStruct<R> && requires(const R& record) {
  { R::collection } -> std::convertible_to<std::string_view>;
  { record.key() } -> std::convertible_to<std::string>;
  R::indexed();
};

template <typename R>
inline constexpr bool is_of_tenant = [] {
  if constexpr (requires { R::is_of_tenant; }) return bool{R::is_of_tenant};
  return false;
}();

// A record with its version, for a save that expects it unchanged.
template <typename R>
struct Versioned {
  R record;
  std::uint64_t version = 0;
};

// Returns the text by which an indexed value is searched.
inline std::string index_text(std::string_view text) { return std::string(text); }
inline std::string index_text(std::integral auto number) { return std::to_string(number); }

// Returns the write that deletes a record.
inline RecordWrite record_erasure(std::string_view collection, UserId user, std::string key) {
  return {std::string(collection), std::move(user), std::move(key), {}, {}, true};
}

// Returns the write that saves `record` for `user`. `invalid` for an invalid key, a record that is
// too large, or a value that JSON cannot represent.
template <Record R>
Result<RecordWrite> record_write(const R& record, UserId user) {
  RecordWrite write;
  write.collection = R::collection;
  write.is_of_tenant = is_of_tenant<R>;
  if (!write.is_of_tenant) write.user = std::move(user);
  write.key = record.key();
  BELAY_CHECK(check_name("record's key", write.key));
  BELAY_TRY(write.json, encode_json(record));
  if (write.json.size() > limits::record_bytes_max) {
    return error(ErrorCode::invalid, "The record \"" + write.key + "\" has " +
                                         std::to_string(write.json.size()) + " bytes; at most " +
                                         std::to_string(limits::record_bytes_max) +
                                         " can be saved.");
  }
  std::apply(
      [&](auto... members) {
        (write.indexed.emplace_back(reflect::member_names<R>[reflect::index_of(members)],
                                    index_text(record.*members)),
         ...);
      },
      R::indexed());
  if constexpr (requires { R::ordered(); }) {
    auto add = [&](const auto& index) {
      write.indexed.emplace_back("order:" + std::string(index.name), index.value_of(record));
    };
    std::apply([&](const auto&... indexes) { (add(indexes), ...); }, R::ordered());
  }
  if constexpr (requires { record.expires_at(); }) write.expires_at = record.expires_at();
  return write;
}

template <Record R>
Result<R> record_from(const RecordRow& row) {
  BELAY_TRY(Value value, parse_json(row.json));
  return decode_json<R>(value);
}

// Reads a user's records as they were last committed. Threading: on a run's executor.
class Records {
 public:
  virtual ~Records() = default;
  virtual Task<Result<std::vector<RecordRow>>> find(RecordFilter filter) = 0;

  // Returns the record with this key, or nullopt.
  template <Record R>
  Task<Result<std::optional<R>>> get(std::string key) {
    RecordFilter filter = filter_for<R>();
    filter.key = std::move(key);
    auto rows = co_await find(std::move(filter));
    if (!rows.ok()) co_return std::move(rows).error();
    std::optional<R> found;
    if (!rows->empty()) {
      BELAY_CO_TRY(found, record_from<R>(rows->front()));
    }
    co_return std::move(found);
  }

  // The same with its version; nullopt if the record does not exist: its version is 0.
  template <Record R>
  Task<Result<std::optional<Versioned<R>>>> get_versioned(std::string key) {
    RecordFilter filter = filter_for<R>();
    filter.key = std::move(key);
    auto rows = co_await find(std::move(filter));
    if (!rows.ok()) co_return std::move(rows).error();
    std::optional<Versioned<R>> found;
    if (!rows->empty()) {
      BELAY_CO_TRY(R record, record_from<R>(rows->front()));
      found = Versioned<R>{std::move(record), rows->front().version};
    }
    co_return std::move(found);
  }

  // Returns the records whose indexed `member` equals `value`, ordered by key, at most `limit`.
  template <Record R, typename M>
  Task<Result<std::vector<R>>> where(M R::* member, M value, std::size_t limit) {
    RecordFilter filter = filter_for<R>();
    filter.field = reflect::member_names<R>[reflect::index_of(member)];
    filter.value = index_text(value);
    filter.limit = limit;
    auto rows = co_await find(std::move(filter));
    if (!rows.ok()) co_return std::move(rows).error();
    std::vector<R> found;
    for (const RecordRow& row : *rows) {
      BELAY_CO_TRY(R record, record_from<R>(row));
      found.push_back(std::move(record));
    }
    co_return std::move(found);
  }

 private:
  template <Record R>
  static RecordFilter filter_for() {
    RecordFilter filter;
    filter.collection = R::collection;
    filter.is_of_tenant = is_of_tenant<R>;
    return filter;
  }
};

}  // namespace belay
