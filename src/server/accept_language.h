#pragma once
// server/accept_language.h - which of a few languages a request wants (RFC 9110, section 12.5.4).

#include <initializer_list>
#include <string_view>

namespace belay::server {

// The one of `known` ("en", "es") that `header` gives the greatest weight; of equal weights the one
// that is named first. A region ("es-AR") counts as its language. Empty: it wants none of them, or
// any ("*").
std::string_view accepted_language(std::string_view header,
                                   std::initializer_list<std::string_view> known);

}  // namespace belay::server
