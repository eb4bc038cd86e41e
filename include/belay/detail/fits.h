#pragma once
// belay/detail/fits.h - decides which values state.h accepts for a member: values that convert to
// the member's type without narrowing.

#include <chrono>
#include <concepts>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "belay/value.h"

namespace belay::detail {

// True if To can hold every value of the number type From: an int fits a double and an int64_t; a
// double does not fit an int, an int an unsigned, or a size_t an int64_t. No number fits a bool.
template <typename To, typename From>
consteval bool holds_every() {
  constexpr bool is_fraction = std::is_floating_point_v<From> && !std::is_floating_point_v<To>;
  if constexpr (std::is_same_v<To, From>) {
    return true;
  } else if constexpr (std::is_same_v<To, bool> || is_fraction) {
    return false;
  } else {
    return (std::is_signed_v<To> || !std::is_signed_v<From>) &&
           std::numeric_limits<To>::digits >= std::numeric_limits<From>::digits;
  }
}

// True if M converts implicitly from V through a constructor that preserves the value: conversions
// that braces would reject as narrowing are excluded.
template <typename M, typename V>
concept ConvertsInBraces =
    std::is_convertible_v<V, M> && requires(V&& value) { M{std::forward<V>(value)}; };

template <typename M, typename V>
consteval bool fits() {
  using From = std::remove_cvref_t<V>;
  if constexpr (std::is_same_v<M, From>) {
    return std::is_constructible_v<M, V>;
  } else if constexpr (std::is_arithmetic_v<M> && std::is_arithmetic_v<From>) {
    return holds_every<M, From>();
  } else if constexpr (std::is_arithmetic_v<M> && std::is_enum_v<From>) {
    return std::is_convertible_v<V, M> && holds_every<M, std::underlying_type_t<From>>();
  } else if constexpr (std::is_arithmetic_v<M>) {
    return std::is_class_v<From> && ConvertsInBraces<M, V>;
  } else if constexpr (std::is_enum_v<M>) {
    return std::is_class_v<From> && std::is_convertible_v<V, M>;
  } else if constexpr (std::is_same_v<M, std::string>) {
    return !std::is_null_pointer_v<From> &&
           (std::is_convertible_v<V, std::string> || std::is_convertible_v<V, std::string_view>);
  } else if constexpr (codec::is_optional<M> && codec::is_optional<From>) {
    return fits<typename M::value_type, typename From::value_type>();
  } else if constexpr (codec::is_optional<M>) {
    return std::is_same_v<From, std::nullopt_t> || fits<typename M::value_type, V>();
  } else if constexpr (codec::is_duration<M> && codec::is_duration<From>) {
    return std::is_convertible_v<V, M> && holds_every<typename M::rep, typename From::rep>();
  } else {
    return std::is_convertible_v<V, M>;
  }
}

// A value of type V can be set as a member of type M.
template <typename M, typename V>
concept Fits = fits<M, V>();

// A list of values, each of which fits an item of type M.
template <typename M, typename List>
concept FitsEach = codec::is_vector<std::remove_cvref_t<List>> &&
                   Fits<M, typename std::remove_cvref_t<List>::value_type>;

// Only lists, maps, structs and optionals accept a value in braces. A text in braces would be a
// list of characters, and narrowing of a number in braces might cause only a warning.
struct NoBraces {
  NoBraces() = delete;
};
template <typename M>
using Braced = std::conditional_t<std::is_class_v<M> && !std::is_same_v<M, std::string> &&
                                      !std::is_same_v<M, Value> && !codec::is_duration<M>,
                                  M, NoBraces>;

// Returns the member's new value. A text of any type becomes a std::string.
template <typename M, typename V>
M fitted(V&& value) {
  static_assert(Fits<M, V>,
                "This value does not fit the member: it does not convert to the member's type "
                "without narrowing. Give it the member's own type (0u for an unsigned number, an "
                "enumerator for an enum), or cast it where you know that nothing is lost.");
  if constexpr (Fits<M, V>) {
    return M(std::forward<V>(value));
  } else {
    return M();
  }
}

}  // namespace belay::detail
