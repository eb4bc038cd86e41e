#pragma once
// rules/concepts.h - maps words of both languages to concepts ("burden" and "carga": burden).
//
// The list is concepts.tsv, which documents its format.
//
// Threading: immutable after construction.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "belay/result.h"

namespace belay::rules {

class Concepts {
 public:
  // Fails with `invalid`, naming the line, on a line without a tab or without words.
  static Result<Concepts> read(std::string_view tsv);

  // Returns the number of the concept of a folded word.
  std::optional<std::uint32_t> of(std::string_view word) const;

 private:
  std::unordered_map<std::string, std::uint32_t> words_;
  std::unordered_map<std::string, std::uint32_t> starts_;
};

// Returns the compiled-in list.
const Concepts& concepts();

}  // namespace belay::rules
