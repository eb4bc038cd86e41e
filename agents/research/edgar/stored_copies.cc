#include "agents/research/edgar/stored_copies.h"

#include <filesystem>
#include <utility>

#include "agents/research/files/whole_file.h"

namespace belay::research {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCopiesName = "fetched.json";
constexpr std::size_t kCopiesBytesMax = 64 << 20;

}  // namespace

Result<StoredCopies> StoredCopies::open(std::string folder) {
  StoredCopies copies(std::move(folder));
  for (const char* name : {"10k", "submissions"}) {
    std::error_code failure;
    fs::create_directories(copies.path_of(name), failure);
    if (!failure) continue;
    return error(ErrorCode::unavailable, "The folder \"" + copies.path_of(name) +
                                             "\" cannot be created: " + failure.message() + ".");
  }
  Result<std::optional<std::string>> text =
      read_if_exists(copies.path_of(kCopiesName), kCopiesBytesMax);
  if (!text.ok() || !*text) return copies;
  Result<Value> json = parse_json(**text);
  if (!json.ok()) return copies;
  Result<StoredCopiesFile> file = decode_json<StoredCopiesFile>(*json);
  if (file.ok()) copies.copies_ = *std::move(file);
  return copies;
}

std::string StoredCopies::path_of(const std::string& name) const {
  return (fs::path(folder_) / "edgar" / name).string();
}

std::optional<StoredCopy> StoredCopies::find(const std::string& name,
                                             const std::string& url) const {
  auto found = copies_.files.find(name);
  if (found == copies_.files.end() || found->second.url != url) return std::nullopt;
  std::error_code failure;
  std::uintmax_t size = fs::file_size(path_of(name), failure);
  if (failure || size != found->second.bytes) return std::nullopt;
  return found->second;
}

Result<Done> StoredCopies::note(const std::string& name, StoredCopy copy) {
  copies_.files[name] = std::move(copy);
  BELAY_TRY(std::string text, encode_json(copies_));
  return replace_file(path_of(kCopiesName), text);
}

bool is_fresh(const StoredCopy& copy, Instant now, std::chrono::milliseconds age_max) {
  return copy.checkedAt <= now && now - copy.checkedAt < age_max;
}

}  // namespace belay::research
