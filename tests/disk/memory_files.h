#pragma once
// tests/disk/memory_files.h - files in memory under SQLite, with their locks and shared memory
//
// A file is in memory while it is open; before and after that it is an ordinary file, which tests
// and the store itself can read. While a database is open, its ordinary file always has its current
// existence, size and bytes.
//
// Between those that have a file open, the locks are those of SQLite's own "unix" VFS within one
// process (os_unix.c of 3.40): a wait there is a wait here.

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace belay::disk {

// The locks of one of those that have a file open.
struct Hold {
  int level = SQLITE_LOCK_NONE;  // of the file
  unsigned shared = 0;           // bits of the shared memory's locks
  unsigned exclusive = 0;
  bool has_mapped = false;
};

// Thread-safe.
class MemoryFile {
 public:
  // `kept_at` is the descriptor of the ordinary file, which is written too; -1 for none.
  MemoryFile(std::string path, std::string content, int kept_at);
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();

  // Returns the number of bytes that could be read.
  std::size_t read(char* to, std::size_t size, std::size_t offset) const;
  bool write(const char* from, std::size_t size, std::size_t offset);
  bool truncate(std::size_t size);
  std::size_t size() const;

  // Return SQLite's result codes.
  int lock(Hold& hold, int level);
  void unlock(Hold& hold, int level);
  bool is_reserved() const;
  int map_shared(Hold& hold, int region, int size, bool extend, void volatile** memory);
  int lock_shared(Hold& hold, int offset, int count, int flags);
  void unmap_shared(Hold& hold);

 private:
  friend class MemoryFiles;

  mutable std::mutex mutex_;
  std::string path_;  // empty: the file was removed
  std::string content_;
  bool is_changed_ = false;  // only in memory
  int kept_at_;
  int users_ = 0;
  int level_ = SQLITE_LOCK_NONE;  // the highest level that is held
  int sharers_ = 0;
  std::vector<std::unique_ptr<char[]>> regions_;
  int mappers_ = 0;
  std::array<int, SQLITE_SHM_NLOCK> locks_{};  // number of sharers; -1: exclusive
};

// Thread-safe.
class MemoryFiles {
 public:
  // Opens a file with SQLite's flags; if the path is empty, the file has no name. Returns null if
  // it cannot be opened.
  std::shared_ptr<MemoryFile> open(const std::string& path, int flags);
  void close(const std::shared_ptr<MemoryFile>& file);
  // Returns whether there is a file that is not empty: for SQLite an empty WAL does not exist.
  bool is_there(const std::string& path) const;
  // Returns false if there was no file.
  bool remove(const std::string& path);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<MemoryFile>> open_;  // by path
};

}  // namespace belay::disk
