// Executes the inputs of the corpus without libFuzzer, in the tests of every build.

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/target.h"

namespace belay::fuzz {

void replay(const char* corpus, Target target) {
  std::size_t count = 0;
  auto folder = std::filesystem::path(BELAY_SOURCE_DIR) / "tests/fuzz/corpus" / corpus;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::string input((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    SCOPED_TRACE(entry.path().filename().string());
    target(input);
    ++count;
  }
  EXPECT_GT(count, 0u) << "nothing is kept in " << folder;
  target("");
  target(std::string(100'000, '['));
  target(std::string(5'000, '\xff'));
  target(std::string("\0\n\r\t\"", 5));
}

}  // namespace belay::fuzz
