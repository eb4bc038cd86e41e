// The settings file: an accepted file has known keys only, and every error contains its line.

#include "cli/config_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include "cli/modules.h"
#include "program/belay_program.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {
namespace {

// A file in memory that has a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : file_(::memfd_create("settings", MFD_CLOEXEC)) {
    require(file_ >= 0, "there is a file");
    for (std::string_view rest = content; !rest.empty();) {
      ssize_t written = ::write(file_, rest.data(), rest.size());
      require(written > 0, "the file can be written");
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(file_); }
  std::string name() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(ConfigFile, "config_file") {
  using namespace belay;
  static const cli::Program program =
      *cli::program_with("belay", program::options(), program::modules());
  fuzz::MemoryFile held(input);
  cli::Environment environment;
  environment.home = "/people/ana";
  cli::GlobalFlags flags;
  flags.config = held.name();
  auto file = cli::read_config(program, environment, flags);
  if (!file.ok()) {
    fuzz::require_sound(file.error());
    fuzz::require(file.error().code == ErrorCode::invalid, "settings that are wrong are invalid");
    return;
  }
  fuzz::require(file->has_value(), "the file that was named was read");
  for (const auto& [key, entry] : (*file)->entries) {
    fuzz::require(entry.line > 0, "a setting has its line");
    fuzz::require(input.find(key) != input.npos || input.find('\\') != input.npos ||
                      input.find('\n') != input.npos || input.find('\0') != input.npos,
                  "a key stands in the file");
  }
  cli::add_config(program, **file, environment);
  auto settings = cli::settings_from(program, environment, flags);
  if (!settings.ok()) return fuzz::require_sound(settings.error());
  cli::explain_settings(program, environment, flags, *file, *settings);
}
