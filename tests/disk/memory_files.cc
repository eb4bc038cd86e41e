#include "tests/disk/memory_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

namespace belay::disk {
namespace {

bool is_on_disk(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && status.st_size > 0;
}

// Returns false if the file cannot be read.
bool read_whole(int file, std::string& content) {
  struct stat status{};
  if (fstat(file, &status) != 0) return false;
  content.resize(static_cast<std::size_t>(status.st_size));
  std::size_t have = 0;
  while (have < content.size()) {
    ssize_t more =
        pread(file, content.data() + have, content.size() - have, static_cast<off_t>(have));
    if (more <= 0) return false;
    have += static_cast<std::size_t>(more);
  }
  return true;
}

}  // namespace

MemoryFile::MemoryFile(std::string path, std::string content, int kept_at)
    : path_(std::move(path)), content_(std::move(content)), kept_at_(kept_at) {}

MemoryFile::~MemoryFile() {
  if (kept_at_ >= 0) ::close(kept_at_);
}

std::size_t MemoryFile::read(char* to, std::size_t size, std::size_t offset) const {
  std::lock_guard guard(mutex_);
  if (offset >= content_.size()) return 0;
  std::size_t there = std::min(size, content_.size() - offset);
  std::memcpy(to, content_.data() + offset, there);
  return there;
}

bool MemoryFile::write(const char* from, std::size_t size, std::size_t offset) {
  std::lock_guard guard(mutex_);
  if (content_.size() == offset) {
    content_.append(from, size);
  } else {
    if (content_.size() < offset + size) content_.resize(offset + size);
    content_.replace(offset, size, from, size);
  }
  is_changed_ = kept_at_ < 0;
  return is_changed_ ||
         pwrite(kept_at_, from, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

bool MemoryFile::truncate(std::size_t size) {
  std::lock_guard guard(mutex_);
  content_.resize(size);
  is_changed_ = kept_at_ < 0;
  return is_changed_ || ftruncate(kept_at_, static_cast<off_t>(size)) == 0;
}

std::size_t MemoryFile::size() const {
  std::lock_guard guard(mutex_);
  return content_.size();
}

int MemoryFile::lock(Hold& hold, int level) {
  std::lock_guard guard(mutex_);
  if (hold.level >= level) return SQLITE_OK;
  bool is_others = hold.level != level_;
  if (is_others && (level_ >= SQLITE_LOCK_PENDING || level > SQLITE_LOCK_SHARED)) {
    return SQLITE_BUSY;
  }
  if (level == SQLITE_LOCK_SHARED) {
    ++sharers_;
    hold.level = SQLITE_LOCK_SHARED;
    level_ = std::max(level_, SQLITE_LOCK_SHARED);
    return SQLITE_OK;
  }
  if (level == SQLITE_LOCK_EXCLUSIVE && sharers_ > 1) {
    // The holder of the reserved lock admits no new readers while it waits.
    if (hold.level == SQLITE_LOCK_RESERVED) hold.level = level_ = SQLITE_LOCK_PENDING;
    return SQLITE_BUSY;
  }
  hold.level = level_ = level;
  return SQLITE_OK;
}

void MemoryFile::unlock(Hold& hold, int level) {
  std::lock_guard guard(mutex_);
  if (hold.level <= level) return;
  if (hold.level > SQLITE_LOCK_SHARED) level_ = SQLITE_LOCK_SHARED;
  if (level == SQLITE_LOCK_NONE && --sharers_ == 0) level_ = SQLITE_LOCK_NONE;
  hold.level = level;
}

bool MemoryFile::is_reserved() const {
  std::lock_guard guard(mutex_);
  return level_ > SQLITE_LOCK_SHARED;
}

int MemoryFile::map_shared(Hold& hold, int region, int size, bool extend, void volatile** memory) {
  std::lock_guard guard(mutex_);
  if (!std::exchange(hold.has_mapped, true)) ++mappers_;
  *memory = nullptr;
  auto index = static_cast<std::size_t>(region);
  if (index >= regions_.size() && !extend) return SQLITE_OK;
  while (regions_.size() <= index) {
    regions_.push_back(std::make_unique<char[]>(static_cast<std::size_t>(size)));
  }
  *memory = regions_[index].get();
  return SQLITE_OK;
}

int MemoryFile::lock_shared(Hold& hold, int offset, int count, int flags) {
  std::lock_guard guard(mutex_);
  unsigned mask = (1U << (offset + count)) - (1U << offset);
  auto first = locks_.begin() + offset;
  auto last = first + count;
  if ((flags & SQLITE_SHM_UNLOCK) != 0) {
    if ((hold.exclusive & mask) != 0) std::fill(first, last, 0);
    // A shared lock is held once per holder.
    if ((hold.shared & mask) != 0) --*first;
    hold.exclusive &= ~mask;
    hold.shared &= ~mask;
    return SQLITE_OK;
  }
  if ((flags & SQLITE_SHM_SHARED) != 0) {
    if ((hold.shared & mask) != 0) return SQLITE_OK;
    if (*first < 0) return SQLITE_BUSY;
    ++*first;
    hold.shared |= mask;
    return SQLITE_OK;
  }
  for (int i = 0; i < count; ++i) {
    bool is_own = (hold.exclusive & (1U << (offset + i))) != 0;
    if (!is_own && first[i] != 0) return SQLITE_BUSY;
  }
  std::fill(first, last, -1);
  hold.exclusive |= mask;
  return SQLITE_OK;
}

void MemoryFile::unmap_shared(Hold& hold) {
  std::lock_guard guard(mutex_);
  for (std::size_t i = 0; i < locks_.size(); ++i) {
    if ((hold.exclusive & (1U << i)) != 0) locks_[i] = 0;
    if ((hold.shared & (1U << i)) != 0) --locks_[i];
  }
  hold.exclusive = hold.shared = 0;
  if (!std::exchange(hold.has_mapped, false)) return;
  // The first one that maps it again rebuilds it from the WAL, as after a crash.
  if (--mappers_ == 0) regions_.clear();
}

std::shared_ptr<MemoryFile> MemoryFiles::open(const std::string& path, int flags) {
  if (path.empty()) return std::make_shared<MemoryFile>(path, std::string(), -1);
  std::lock_guard guard(mutex_);
  std::shared_ptr<MemoryFile>& file = open_[path];
  if (!file) {
    bool is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    bool may_create = (flags & SQLITE_OPEN_CREATE) != 0;
    int create = is_database && may_create ? O_CREAT : 0;
    int real = ::open(path.c_str(), O_RDWR | O_CLOEXEC | create, 0600);
    std::string content;
    bool can_open = real >= 0 ? read_whole(real, content) : may_create;
    if (real >= 0 && !(can_open && is_database)) ::close(std::exchange(real, -1));
    if (!can_open) {
      open_.erase(path);
      return nullptr;
    }
    file = std::make_shared<MemoryFile>(path, std::move(content), real);
  }
  ++file->users_;
  return file;
}

void MemoryFiles::close(const std::shared_ptr<MemoryFile>& file) {
  std::lock_guard guard(mutex_);
  if (file->path_.empty() || --file->users_ > 0) return;
  if (file->is_changed_) {
    std::ofstream kept(file->path_, std::ios::binary);
    kept.write(file->content_.data(), static_cast<std::streamsize>(file->content_.size()));
  }
  open_.erase(file->path_);
}

bool MemoryFiles::is_there(const std::string& path) const {
  std::lock_guard guard(mutex_);
  auto file = open_.find(path);
  return file == open_.end() ? is_on_disk(path) : file->second->size() > 0;
}

bool MemoryFiles::remove(const std::string& path) {
  std::lock_guard guard(mutex_);
  auto file = open_.find(path);
  bool was_open = file != open_.end();
  if (was_open) {
    file->second->path_.clear();
    open_.erase(file);
  }
  return unlink(path.c_str()) == 0 || was_open;
}

}  // namespace belay::disk
