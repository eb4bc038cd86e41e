#pragma once
// tests/conformance/temporary_folder.h - a test's own folder, removed by the destructor.

#include <cstdlib>
#include <filesystem>
#include <string>

namespace belay::conformance {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string form = (std::filesystem::temp_directory_path() / "belay-XXXXXX").string();
    path_ = mkdtemp(form.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace belay::conformance
