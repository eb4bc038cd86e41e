#include "conversation/interrupt_id.h"

#include <string>

namespace belay::conversation {

std::optional<InterruptId> interrupt_id_from(std::string_view text) {
  constexpr std::size_t digits = 32;
  std::string dashed(text);
  if (text.size() == digits) {
    for (std::size_t at : {8u, 13u, 18u, 23u}) dashed.insert(at, "-");
  }
  auto id = uuid_from(dashed);
  return id ? std::optional(InterruptId(*id)) : std::nullopt;
}

}  // namespace belay::conversation
