#pragma once
// belay/detail/reflect.h - lists the names and members of a plain struct, without registration.
//
// A plain struct is an aggregate without base classes, C arrays or bit fields, with at most
// limits::state_members_max members, all with defaults. Member and enumerator names are read from
// the compiler's spelling of a template argument (GCC 12, clang 19).

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "belay/limits.h"

namespace belay::reflect {

namespace detail {

// Converts to any member type, but not to the struct itself, to count the members.
template <typename Self>
struct Anything {
  template <typename T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, Self>)
  operator T() const;
};

// Converts to the base classes of T only.
template <typename T>
struct AnyBase {
  template <typename Base>
    requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
  operator Base() const;
};

template <typename T, typename... Arguments>
consteval std::size_t count_members() {
  if constexpr (requires { T{Arguments{}..., Anything<T>{}}; }) {
    return count_members<T, Arguments..., Anything<T>>();
  } else {
    return sizeof...(Arguments);
  }
}

// Storage for a T that is never constructed: only the addresses of its members are used.
template <typename T>
union Storage {
  char none;
  T value;
  constexpr Storage() : none{} {}
  constexpr ~Storage() {}
};
template <typename T>
inline constexpr Storage<T> storage{};

// The parameter needs a name although it is unused: clang omits unnamed parameters from the text.
template <auto named>
consteval std::string_view spelling() {
  return __PRETTY_FUNCTION__;
}

// Returns the last identifier before the bracket that ends `text`'s first template argument.
consteval std::string_view last_identifier(std::string_view text) {
  auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::size_t stop = text.find(';');  // GCC appends "; std::string_view = ..."
  if (stop == std::string_view::npos) stop = text.size();
  while (stop > 0 && !is_name(text[stop - 1])) --stop;
  std::size_t begin = stop;
  while (begin > 0 && is_name(text[begin - 1])) --begin;
  return text.substr(begin, stop - begin);
}

}  // namespace detail

template <typename T>
concept PlainStruct = std::is_class_v<T> && std::is_aggregate_v<T>;

template <PlainStruct T>
inline constexpr bool has_base = requires { T{detail::AnyBase<T>{}}; };

// A struct with a base class has no members here: codec.h rejects its use.
template <PlainStruct T>
inline constexpr std::size_t member_count = has_base<T> ? 0 : detail::count_members<T>();

namespace detail {

// A structured binding needs one name per member; therefore each number of members has its code.
template <std::size_t count, typename T, typename Use>
constexpr decltype(auto) with_1_to_16(T& value, Use& use) {
  if constexpr (count == 1) {
    auto& [m1] = value;
    return use(m1);
  } else if constexpr (count == 2) {
    auto& [m1, m2] = value;
    return use(m1, m2);
  } else if constexpr (count == 3) {
    auto& [m1, m2, m3] = value;
    return use(m1, m2, m3);
  } else if constexpr (count == 4) {
    auto& [m1, m2, m3, m4] = value;
    return use(m1, m2, m3, m4);
  } else if constexpr (count == 5) {
    auto& [m1, m2, m3, m4, m5] = value;
    return use(m1, m2, m3, m4, m5);
  } else if constexpr (count == 6) {
    auto& [m1, m2, m3, m4, m5, m6] = value;
    return use(m1, m2, m3, m4, m5, m6);
  } else if constexpr (count == 7) {
    auto& [m1, m2, m3, m4, m5, m6, m7] = value;
    return use(m1, m2, m3, m4, m5, m6, m7);
  } else if constexpr (count == 8) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8);
  } else if constexpr (count == 9) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9);
  } else if constexpr (count == 10) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10);
  } else if constexpr (count == 11) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11);
  } else if constexpr (count == 12) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12);
  } else if constexpr (count == 13) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13);
  } else if constexpr (count == 14) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14);
  } else if constexpr (count == 15) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15);
  } else if constexpr (count == 16) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16);
  }
}

template <std::size_t count, typename T, typename Use>
constexpr decltype(auto) with_17_to_24(T& value, Use& use) {
  if constexpr (count == 17) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17);
  } else if constexpr (count == 18) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18);
  } else if constexpr (count == 19) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19] =
        value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
               m19);
  } else if constexpr (count == 20) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
               m20);
  } else if constexpr (count == 21) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
               m20, m21);
  } else if constexpr (count == 22) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
               m20, m21, m22);
  } else if constexpr (count == 23) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
               m20, m21, m22, m23);
  } else if constexpr (count == 24) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
               m20, m21, m22, m23, m24);
  }
}

template <std::size_t count, typename T, typename Use>
constexpr decltype(auto) with_25_to_32(T& value, Use& use) {
  if constexpr (count == 25) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
               m20, m21, m22, m23, m24, m25);
  } else if constexpr (count == 26) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25, m26] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
               m20, m21, m22, m23, m24, m25, m26);
  } else if constexpr (count == 27) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25, m26, m27] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
               m20, m21, m22, m23, m24, m25, m26, m27);
  } else if constexpr (count == 28) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25, m26, m27, m28] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
               m20, m21, m22, m23, m24, m25, m26, m27, m28);
  } else if constexpr (count == 29) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25, m26, m27, m28, m29] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
               m20, m21, m22, m23, m24, m25, m26, m27, m28, m29);
  } else if constexpr (count == 30) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
               m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30);
  } else if constexpr (count == 31) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
               m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31);
  } else if constexpr (count == 32) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32] = value;
    return use(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
               m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32);
  }
}

}  // namespace detail

// Calls use(member&...) with all members of `value`, and returns what it returns.
template <typename T, typename Use>
constexpr decltype(auto) with_members(T& value, Use&& use) {
  constexpr std::size_t count = member_count<std::remove_const_t<T>>;
  static_assert(count >= 1 || has_base<std::remove_const_t<T>>,
                "A state or record needs at least one member.");
  static_assert(count <= limits::state_members_max,
                "Too many members (limits::state_members_max): group some in a nested struct.");
  if constexpr (count == 0) {
    return use();
  } else if constexpr (count <= 16) {
    return detail::with_1_to_16<count>(value, use);
  } else if constexpr (count <= 24) {
    return detail::with_17_to_24<count>(value, use);
  } else {
    return detail::with_25_to_32<count>(value, use);
  }
}

namespace detail {
template <typename T>
consteval auto member_pointers() {
  return with_members(storage<T>.value, [](auto&... members) { return std::tuple{&members...}; });
}
template <typename T, std::size_t... I>
consteval auto member_names(std::index_sequence<I...>) {
  return std::array<std::string_view, sizeof...(I)>{
      last_identifier(spelling<std::get<I>(member_pointers<T>())>())...};
}
template <typename E, std::size_t... I>
consteval auto enumerator_names(std::index_sequence<I...>) {
  return std::array<std::string_view, sizeof...(I)>{
      last_identifier(spelling<static_cast<E>(I)>())...};
}
}  // namespace detail

template <PlainStruct T>
inline constexpr auto member_names =
    detail::member_names<T>(std::make_index_sequence<member_count<T>>());

// Names of the enumerators with the values 0 to 31, by value; for a value without an enumerator,
// the text begins with a digit.
template <typename E>
  requires std::is_enum_v<E>
inline constexpr auto enumerator_names =
    detail::enumerator_names<E>(std::make_index_sequence<32>());

// Calls use(name, member&) for each member in order.
template <typename T, typename Use>
constexpr void for_each_member(T& value, Use&& use) {
  with_members(value, [&](auto&... members) {
    std::size_t index = 0;
    (use(member_names<std::remove_const_t<T>>[index++], members), ...);
  });
}

// Returns the index of the member that `member` points to.
template <typename T, typename M>
std::size_t index_of(M T::* member) {
  static const T instance{};
  std::size_t index = 0;
  std::size_t found = member_count<T>;
  with_members(instance, [&](const auto&... members) {
    auto compare = [&](const void* address) {
      if (address == static_cast<const void*>(&(instance.*member))) found = index;
      ++index;
    };
    (compare(&members), ...);
  });
  return found;
}

}  // namespace belay::reflect
