#pragma once

#include <cstdlib>

// BELAY_REFUSED("text") marks a function that exists only for its compile error: the compiler
// prints the text at the line of the call. GCC's attribute causes four lines, while a static_assert
// prints each template between the call and itself; it has an effect when code is generated, so
// that -fsyntax-only accepts the call. Clang's attribute has an effect in editors, too. The body is
// { std::abort(); }, because GCC requires a definition for the arguments of local types.
#if defined(__clang__)
#define BELAY_REFUSED(text) [[clang::unavailable(text)]]
#else
#define BELAY_REFUSED(text) [[gnu::error(text), gnu::noinline]]
#endif

#define BELAY_NOT_ITS_VALUE                                                                     \
  "A Result is not its value: write .value(), which throws the Error, or examine it with ok() " \
  "and error()."
