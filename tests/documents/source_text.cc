#include "tests/documents/source_text.h"

#include <fstream>
#include <sstream>

namespace belay::documents {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(std::filesystem::path(BELAY_SOURCE_DIR) / path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace belay::documents
