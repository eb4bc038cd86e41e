#pragma once
// conversation/call_arguments.h - the arguments of a call as an object, whatever its model sent.
//
// Threading: any thread.

#include "belay/value.h"

namespace belay::conversation {

// Returns the object that is given, or that a text contains as JSON; empty for nothing. Any other
// value is the member "input".
Value call_arguments(const Value& given);

}  // namespace belay::conversation
