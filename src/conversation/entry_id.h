#pragma once
// conversation/entry_id.h - the id of an entry whose message has none.
//
// Clients recognise entries by these ids: a changed seed shows each entry of a thread twice.
//
// Threading: any thread.

#include <string>
#include <string_view>

#include "belay/ids.h"

namespace belay::conversation {

// `kind` is the rule, and `place` the position within the thread.
inline std::string entry_id(std::string_view thread, std::string_view kind,
                            std::string_view place) {
  std::string seed = "conversation\n";
  seed.append(kind).append("\n").append(thread).append("\n").append(place);
  return derived_uuid(seed).text();
}

}  // namespace belay::conversation
