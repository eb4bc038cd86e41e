#pragma once
// tests/conformance/temporary_folder.h - a test's own folder, removed by the destructor.

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace belay::conformance {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    // The number: names of folders are also names of schemas, which remain, and mkdtemp() can
    // repeat the name of a folder that was removed. glibc derives it from the nanoseconds of a
    // clock.
    static std::atomic<int> number = 0;
    std::string name = "belay-" + std::to_string(++number) + "-XXXXXX";
    std::string form = (std::filesystem::temp_directory_path() / name).string();
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
