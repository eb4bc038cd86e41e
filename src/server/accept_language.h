#pragma once
// server/accept_language.h - selects the language of a response (RFC 9110, section 12.5.4).

#include <initializer_list>
#include <string_view>

namespace belay::server {

// Returns the language of `known` ("en", "es") with the highest weight in `header`; of equal
// weights, the first named. A region ("es-AR") counts as its language. Empty: the header accepts
// none of them, or any ("*").
std::string_view accepted_language(std::string_view header,
                                   std::initializer_list<std::string_view> known);

}  // namespace belay::server
