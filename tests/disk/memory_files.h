#pragma once
// tests/disk/memory_files.h - files in memory under SQLite, with the locks and the shared memory
// that it wants of them. A file is in memory while anybody has it open; before and after it is an
// ordinary one, which tests and the store itself look at. What is told of a database that is open,
// its being there, its size and its bytes, is true of the ordinary file at any time.
//
// Between those that have a file open the locks are those of SQLite's own "unix" inside of one
// process (os_unix.c of 3.40), so whoever waits there waits here.

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace belay::disk {

// What one of those that have a file open holds of it.
struct Hold {
  int level = SQLITE_LOCK_NONE;  // of the file
  unsigned shared = 0;           // bits of the shared memory's locks
  unsigned exclusive = 0;
  bool has_mapped = false;
};

// Thread-safe.
class MemoryFile {
 public:
  // `kept_at`: the descriptor of the ordinary file, which is written along with it; -1 for none.
  MemoryFile(std::string path, std::string content, int kept_at);
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();

  // How many bytes there were.
  std::size_t read(char* to, std::size_t size, std::size_t offset) const;
  bool write(const char* from, std::size_t size, std::size_t offset);
  bool truncate(std::size_t size);
  std::size_t size() const;

  // Answer with SQLite's codes.
  int lock(Hold& hold, int level);
  void unlock(Hold& hold, int level);
  bool is_reserved() const;
  int map_shared(Hold& hold, int region, int size, bool extend, void volatile** memory);
  int lock_shared(Hold& hold, int offset, int count, int flags);
  void unmap_shared(Hold& hold);

 private:
  friend class MemoryFiles;

  mutable std::mutex mutex_;
  std::string path_;  // empty: it is nobody's any more
  std::string content_;
  bool is_changed_ = false;  // in memory alone
  int kept_at_;
  int users_ = 0;
  int level_ = SQLITE_LOCK_NONE;  // the highest that anybody holds
  int sharers_ = 0;
  std::vector<std::unique_ptr<char[]>> regions_;
  int mappers_ = 0;
  std::array<int, SQLITE_SHM_NLOCK> locks_{};  // how many share it; -1: it is one's alone
};

// Thread-safe.
class MemoryFiles {
 public:
  // By SQLite's flags; an empty path is a file without a name. Null when it can't be opened.
  std::shared_ptr<MemoryFile> open(const std::string& path, int flags);
  void close(const std::shared_ptr<MemoryFile>& file);
  // Whether there is one with anything in it: for SQLite an empty log is none.
  bool is_there(const std::string& path) const;
  // False when there was none.
  bool remove(const std::string& path);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<MemoryFile>> open_;  // by path
};

}  // namespace belay::disk
