#pragma once
// base/edit_distance.h - the number of characters to insert, delete or replace between two texts.

#include <cstddef>
#include <string_view>

namespace belay {

// Takes time in proportion to the product of the lengths: the caller bounds them.
std::size_t edit_distance(std::string_view one, std::string_view other);

}  // namespace belay
