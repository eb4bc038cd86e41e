#pragma once
// tools/text_encoding.h - converts the bytes of a page to UTF-8.

#include <string>
#include <string_view>

namespace belay::tools {

enum class Markup {
  none,
  html,  // can declare its character set itself
};

// Returns the charset parameter of a Content-Type; "" if it has none.
std::string charset_of(std::string_view content_type);

// Converts to valid UTF-8. The character set is that of a byte order mark, otherwise `charset`,
// otherwise that which the markup declares at its beginning; the names are those of the Encoding
// Standard (https://encoding.spec.whatwg.org), in which ISO-8859-1 is windows-1252. Otherwise, and
// for another name: UTF-8 if it is valid, or windows-1252. Invalid sequences and NUL become U+FFFD.
std::string utf8_of(std::string bytes, std::string_view charset, Markup markup);

}  // namespace belay::tools
