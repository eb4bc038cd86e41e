#pragma once
// tests/disk/recording_disk.h - a disk under SQLite that keeps what was asked of it, and fails
// where a test says so. What it may hold after a power cut, power_cut.h tells.

#include <sqlite3.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/disk/memory_files.h"
#include "tests/disk/power_cut.h"

namespace belay::disk {

enum class Fault {
  write_error,  // EIO
  full,         // ENOSPC
  short_write,  // half of it is written, then ENOSPC
  read_error,
  short_read,   // fewer bytes than there are: the rest are zero
  flipped_bit,  // one bit of what is read is another
  sync_error,
  open_error,
};

// While it exists, every file that SQLite opens lies on it: in memory, and in its folder when
// nobody has it open, which makes thousands of cases possible. Create it before the store, and let
// it outlive the store. One at a time. Thread-safe.
//
// A failed sync is told once to everyone who has the file open, as Linux does since 4.13.
class RecordingDisk {
 public:
  RecordingDisk();
  RecordingDisk(const RecordingDisk&) = delete;
  RecordingDisk& operator=(const RecordingDisk&) = delete;
  ~RecordingDisk();

  // All that changed a file so far, unless somebody listens.
  std::vector<Operation> operations() const;
  std::size_t size() const;
  // How often files were synced, with success: what group commit saves.
  std::size_t syncs() const;

  // Is given each operation, in place of its being kept.
  void listen(std::function<void(Operation)> listener);

  // Several processes on one disk: what is opened from now on is this one's. 0 to begin with.
  void opens_for(int process);
  // It is dead, at once or when it has changed something so many times more: all its calls fail,
  // and nothing of it reaches the disk any more.
  void kill(int process);
  void kill_after(int process, std::size_t changes);
  bool is_dead(int process) const;

  // From now on the call number `after` (0: the next one) that the fault may befall fails, and with
  // `for_ever` all such calls after it.
  void fail(Fault fault, std::size_t after, bool for_ever);
  void heal();
  // How many calls have failed, and how many the fault could have befallen since fail().
  std::size_t failed() const;
  std::size_t tried() const;
  // A disk that says that it has synced, and has not: what a test must find out.
  void lie_about_syncs() { lies_ = true; }

  // For the calls of the file system beneath.
  MemoryFiles& files() { return files_; }
  void note(Operation operation);
  bool fails(Fault fault);
  bool lies() const { return lies_; }
  // Whose file it is that SQLite opens under this name: by the name of a database as SQLite itself
  // keeps it, a log belongs to whoever has opened its database.
  int owner_of(const char* name, int flags);
  // Whether this call may still happen: changes count towards kill_after().
  bool may_change(int process);
  // How often a sync of the file has failed.
  int failed_syncs(const std::string& file) const;

 private:
  struct Plan {
    Fault fault = Fault::write_error;
    std::size_t after = 0;
    bool for_ever = false;
  };

  mutable std::mutex mutex_;
  std::vector<Operation> operations_;
  std::optional<Plan> plan_;
  std::size_t tried_ = 0;
  std::size_t failed_ = 0;
  bool lies_ = false;
  std::function<void(Operation)> listener_;
  int opener_ = 0;
  std::map<const void*, int> owners_;        // by where SQLite keeps the name of a database
  std::map<int, std::size_t> changes_left_;  // of those that are to die; 0: they are dead
  std::map<std::string, int> failed_syncs_;
  MemoryFiles files_;
  std::unique_ptr<sqlite3_vfs> vfs_;
};

// Turns over one bit, counted from the first byte's lowest.
void flip_bit(char* bytes, std::uint64_t bit);

}  // namespace belay::disk
