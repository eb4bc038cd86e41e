// Checks that sanitized builds also detect the misuse of the standard library.

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace belay {
namespace {

#if defined(__has_feature)
#define BELAY_HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BELAY_HAS_SANITIZER 1
#else
#define BELAY_HAS_SANITIZER 0
#endif

#if BELAY_HAS_SANITIZER && !defined(_GLIBCXX_ASSERTIONS)
#error "A build with sanitizers has the standard library's assertions as well."
#endif

#ifdef _GLIBCXX_ASSERTIONS
TEST(StandardLibraryDeathTest, EndsAProcessThatReadsWhatIsNotThere) {
  std::optional<int> nothing;
  EXPECT_DEATH((void)*nothing, "Assertion");
  std::vector<int> items;
  items.reserve(4);
  EXPECT_DEATH((void)items[0], "Assertion");
}
#endif

}  // namespace
}  // namespace belay
