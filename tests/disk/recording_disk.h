#pragma once
// tests/disk/recording_disk.h - a disk under SQLite that records its operations and injects faults
//
// power_cut.h computes the disk's contents after a power cut.

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
  short_read,   // fewer bytes than requested: the rest is zero
  flipped_bit,  // one bit of the read data is flipped
  sync_error,
  open_error,
};

// While it exists, every file that SQLite opens is on this disk: in memory while it is open, and in
// its folder otherwise, which makes thousands of cases possible. Must be created before the store
// and must outlive it. One at a time. Thread-safe.
//
// A failed sync is reported once to each of those that have the file open, as Linux does since
// 4.13.
class RecordingDisk {
 public:
  RecordingDisk();
  RecordingDisk(const RecordingDisk&) = delete;
  RecordingDisk& operator=(const RecordingDisk&) = delete;
  ~RecordingDisk();

  // Returns all changes of files so far; empty if there is a listener.
  std::vector<Operation> operations() const;
  std::size_t size() const;
  // Returns the number of successful syncs, which group commit reduces.
  std::size_t syncs() const;

  // Passes each operation to `listener` instead of recording it.
  void listen(std::function<void(Operation)> listener);

  // Several processes on one disk: files that are opened from now on belong to this process.
  // Initially 0.
  void opens_for(int process);
  // Makes a process dead, immediately or after a number of further changes: all its calls fail, and
  // none of them changes the disk.
  void kill(int process);
  void kill_after(int process, std::size_t changes);
  bool is_dead(int process) const;

  // Makes the call number `after` (0: the next one) that the fault can affect fail, and if
  // `for_ever` is set, all later such calls.
  void fail(Fault fault, std::size_t after, bool for_ever);
  void heal();
  // Return the number of failed calls, and of calls that the fault could have affected, since
  // fail().
  std::size_t failed() const;
  std::size_t tried() const;
  // Makes syncs return success without syncing: a fault that tests must detect.
  void lie_about_syncs() { lies_ = true; }

  // For the functions of the VFS.
  MemoryFiles& files() { return files_; }
  void note(Operation operation);
  bool fails(Fault fault);
  bool lies() const { return lies_; }
  // Returns the process that owns the file that SQLite opens with this name. The address at which
  // SQLite stores the name of a database identifies it: a WAL belongs to the process that opened
  // its database.
  int owner_of(const char* name, int flags);
  // Returns whether this call is still executed; changes count towards kill_after().
  bool may_change(int process);
  // Returns how often a sync of the file has failed.
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
  // By the address at which SQLite stores a database's name.
  std::map<const void*, int> owners_;
  std::map<int, std::size_t> changes_left_;  // of processes with a pending kill; 0: dead
  std::map<std::string, int> failed_syncs_;
  MemoryFiles files_;
  std::unique_ptr<sqlite3_vfs> vfs_;
};

// Flips one bit, counted from the lowest bit of the first byte.
void flip_bit(char* bytes, std::uint64_t bit);

}  // namespace belay::disk
