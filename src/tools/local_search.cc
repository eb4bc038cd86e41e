#include "tools/local_search.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/in_quotes.h"
#include "models/json_sanitizer.h"

namespace belay::tools {
namespace {

enum class FileKind { other, text, html };

FileKind kind_of(std::string_view name) {
  std::size_t dot = name.rfind('.');
  if (dot == name.npos) return FileKind::other;
  std::string ending(name.substr(dot));
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (ending == ".txt" || ending == ".md") return FileKind::text;
  return ending == ".html" ? FileKind::html : FileKind::other;
}

std::string without_slashes(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

// Returns "handbook/travel.md" for "travel.md" in "/srv/handbook": the model has no use for the
// rest.
std::string shown_name(const std::string& folder, const std::string& path) {
  std::string name = folder.substr(folder.rfind('/') + 1);
  bool has_name = !name.empty() && name != "." && name != "..";
  return models::sanitized_text(has_name ? name + "/" + path : path);
}

// Returns an empty text if the file cannot be read: it has no paragraphs then.
std::string content_of(int file, std::uint64_t bytes) {
  std::string text(bytes, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    ssize_t size = ::read(file, text.data() + filled, text.size() - filled);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    filled += static_cast<std::size_t>(size);
  }
  text.resize(filled);
  return models::sanitized_text(text);
}

IndexedFile version_of(const struct stat& status) {
  IndexedFile file;
  file.size = static_cast<std::int64_t>(status.st_size);
  file.modified = static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                  static_cast<std::int64_t>(status.st_mtim.tv_nsec);
  return file;
}

bool is_same(const IndexedFile& one, const IndexedFile& other) {
  return one.size == other.size && one.modified == other.modified;
}

}  // namespace

Result<std::shared_ptr<LocalSearch>> LocalSearch::open(LocalSearchOptions options) {
  if (options.folders.empty()) {
    return error(ErrorCode::invalid,
                 "A local search has no folders. Name at least one in "
                 "LocalSearchOptions::folders.");
  }
  for (std::string& folder : options.folders) folder = without_slashes(std::move(folder));
  BELAY_TRY(auto index, SearchIndex::open(options.index));
  BELAY_TRY(auto files, index->files());
  auto search = std::make_shared<LocalSearch>(std::move(options), std::move(index));
  search->files_ = std::move(files);
  BELAY_CHECK(search->update());
  return search;
}

Result<SearchAnswer> LocalSearch::search(std::string_view words, int limit) {
  std::lock_guard lock(mutex_);
  BELAY_CHECK(update());
  SearchAnswer answer;
  std::string query = match_query(models::sanitized_text(words));
  BELAY_TRY(answer.results, index_->search(query, std::clamp(limit, 1, options_.results_max)));
  if (!is_complete_)
    answer.note = "Some files are not searched: the limits of the index are reached.";
  return answer;
}

Result<Done> LocalSearch::begin(Update& update) {
  if (update.has_begun) return Done{};
  BELAY_CHECK(index_->begin());
  update.has_begun = true;
  return Done{};
}

// One transaction: the index has the state before the update, or after it.
Result<Done> LocalSearch::update() {
  Update update;
  auto updated = update_folders(update);
  if (updated.ok() && update.has_begun) updated = index_->commit();
  if (!updated.ok()) {
    if (update.has_begun) {
      auto ignored = index_->roll_back();  // the first error is the cause
      static_cast<void>(ignored);
    }
    return updated;
  }
  files_ = std::move(update.files);
  is_complete_ = update.is_complete;
  indexed_ += update.indexed;
  return Done{};
}

Result<Done> LocalSearch::update_folders(Update& update) {
  for (const std::string& folder : options_.folders) BELAY_CHECK(update_folder(folder, update));
  for (const auto& [path, file] : files_) {
    if (update.files.count(path) > 0) continue;
    BELAY_CHECK(begin(update));
    BELAY_CHECK(index_->remove(file.id));
  }
  return Done{};
}

Result<Done> LocalSearch::update_folder(const std::string& folder, Update& update) {
  Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) {
    ErrorCode code =
        errno == ENOENT || errno == ENOTDIR ? ErrorCode::invalid : ErrorCode::unavailable;
    return error(code, "The folder " + in_quotes(folder) + " could not be opened (" +
                           std::system_category().message(errno) +
                           "). Check LocalSearchOptions::folders.");
  }
  std::optional<Error> failure;
  int fault = walk_beneath(opened.number(), Resolution::kernel, [&](const FoundEntry& entry) {
    return visit(entry, folder, update, failure);
  });
  if (failure) return *std::move(failure);
  if (fault != 0) update.is_complete = false;
  return Done{};
}

Visit LocalSearch::visit(const FoundEntry& entry, const std::string& folder, Update& update,
                         std::optional<Error>& failure) {
  if (entry.name.starts_with('.')) return Visit::skip;
  if (S_ISDIR(entry.status.st_mode)) return Visit::enter;
  if (!S_ISREG(entry.status.st_mode) || kind_of(entry.name) == FileKind::other) return Visit::skip;
  auto bytes = static_cast<std::uint64_t>(entry.status.st_size);
  if (update.files.size() >= options_.files_max) {
    update.is_complete = false;
    return Visit::stop;
  }
  if (bytes > options_.file_bytes_max || update.bytes + bytes > options_.bytes_max) {
    update.is_complete = false;
    return Visit::skip;
  }
  auto updated = update_file(entry, folder, update);
  if (updated.ok()) return Visit::skip;
  failure = std::move(updated).error();
  return Visit::stop;
}

Result<Done> LocalSearch::update_file(const FoundEntry& entry, const std::string& folder,
                                      Update& update) {
  std::string path = folder + "/" + entry.path;
  if (update.files.count(path) > 0) return Done{};  // one folder is in another
  IndexedFile version = version_of(entry.status);
  auto known = files_.find(path);
  if (known != files_.end() && is_same(known->second, version)) {
    update.bytes += static_cast<std::uint64_t>(version.size);
    update.files.emplace(std::move(path), known->second);
    return Done{};
  }
  Opened opened = open_beneath(entry.folder, entry.name, O_RDONLY, Resolution::kernel);
  struct stat status{};
  bool is_readable =
      opened.fault == 0 && ::fstat(opened.file.number(), &status) == 0 && S_ISREG(status.st_mode);
  if (!is_readable) {
    if (opened.fault != ENOENT) update.is_complete = false;
    return Done{};
  }
  // The version precedes the content: a change during the read is found by the next update.
  version = version_of(status);
  std::uint64_t bytes =
      std::min(static_cast<std::uint64_t>(status.st_size), options_.file_bytes_max);
  std::string content = content_of(opened.file.number(), bytes);
  BELAY_CHECK(begin(update));
  if (known != files_.end()) BELAY_CHECK(index_->remove(known->second.id));
  bool is_html = kind_of(entry.name) == FileKind::html;
  auto paragraphs = is_html ? paragraphs_of_html(content) : paragraphs_of_text(content);
  BELAY_TRY(version.id, index_->add(path, shown_name(folder, entry.path), version, paragraphs));
  update.bytes += bytes;
  ++update.indexed;
  update.files.emplace(std::move(path), version);
  return Done{};
}

}  // namespace belay::tools
