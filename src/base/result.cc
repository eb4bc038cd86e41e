#include "belay/result.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace belay {
namespace {

struct CodeName {
  ErrorCode code;
  std::string_view name;
};

constexpr std::array code_names{
    CodeName{ErrorCode::not_found, "not_found"}, CodeName{ErrorCode::conflict, "conflict"},
    CodeName{ErrorCode::invalid, "invalid"},     CodeName{ErrorCode::unavailable, "unavailable"},
    CodeName{ErrorCode::uncertain, "uncertain"}, CodeName{ErrorCode::exhausted, "exhausted"},
    CodeName{ErrorCode::cancelled, "cancelled"}, CodeName{ErrorCode::corrupt, "corrupt"},
};

}  // namespace

std::string_view name_of(ErrorCode code) {
  for (const CodeName& entry : code_names) {
    if (entry.code == code) return entry.name;
  }
  return "unknown";
}

std::optional<ErrorCode> error_code_named(std::string_view name) {
  for (const CodeName& entry : code_names) {
    if (entry.name == name) return entry.code;
  }
  return std::nullopt;
}

Error error(ErrorCode code, std::string message) { return Error{code, std::move(message)}; }

namespace detail {

void throw_failure(const Error& error) { throw Failure(error); }

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "belay: broken invariant at %s:%d: %s\n", file, line, expression);
  std::abort();
}

}  // namespace detail
}  // namespace belay
