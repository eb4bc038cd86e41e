#pragma once
// mcp/parameter_headers.h - the HTTP headers that repeat parts of a request, since 2026-07-28: the
// name of the tool, and the arguments that its schema marks with "x-mcp-header". Pure functions.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/http.h"
#include "belay/value.h"

namespace belay::mcp {

// Returns the value of a header: the text, or its base64 form if a header cannot contain it.
std::string header_value(std::string_view text);

// Returns why the marks of a schema are not valid; nullopt if they are.
std::optional<std::string> marks_fault(const Value& schema);

// Returns the headers of a call. REQUIRES: the marks are valid.
std::vector<HttpHeader> parameter_headers(const Value& schema, const Value& arguments);

}  // namespace belay::mcp
