#pragma once
// base/append_all.h

#include <iterator>
#include <utility>
#include <vector>

namespace belay {

// Moves the elements of `from` to the end of `to`.
template <typename T>
void append_all(std::vector<T>& to, std::vector<T>& from) {
  if (to.empty()) {
    to = std::move(from);
  } else {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  }
}

}  // namespace belay
