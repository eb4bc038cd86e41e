#include "http/message.h"

#include <algorithm>

#include "http/ascii.h"

namespace belay::http {

const std::string* find_header(const std::vector<Header>& headers, std::string_view name) {
  auto found = std::find_if(headers.begin(), headers.end(),
                            [&](const Header& header) { return equal_letters(header.name, name); });
  return found == headers.end() ? nullptr : &found->value;
}

std::string_view Request::header(std::string_view name) const {
  const std::string* found = find_header(headers, name);
  return found ? std::string_view(*found) : std::string_view();
}

}  // namespace belay::http
