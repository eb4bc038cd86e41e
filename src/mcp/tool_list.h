#pragma once
// mcp/tool_list.h - reads a page of the tools of a server, and the result of a call. Both are
// untrusted. Pure functions.

#include <optional>
#include <string>

#include "belay/mcp.h"

namespace belay::mcp {

inline constexpr std::size_t tool_name_bytes_max = 128;
inline constexpr std::size_t description_bytes_max = 16 * 1024;
inline constexpr std::size_t schema_bytes_max = 64 * 1024;
inline constexpr std::size_t cursor_bytes_max = 4 * 1024;
inline constexpr std::size_t cursors_max = 200;

// Adds the tools of a page to `list`, and returns the cursor of the next page. `checks_marks`: the
// tools are called over HTTP since 2026-07-28. Fails with `invalid` for a page that is malformed,
// and with `exhausted` for more tools than `tools_max`.
Result<std::optional<std::string>> add_page(const Value& page, bool checks_marks,
                                            std::size_t tools_max, ToolList& list);

// Returns the result of a call. `invalid` if it is malformed or not complete.
Result<CallResult> call_result_of(const Value& result);

}  // namespace belay::mcp
