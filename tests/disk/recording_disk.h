#pragma once
// tests/disk/recording_disk.h - a disk under SQLite that keeps what was asked of it, fails where a
// test says so, and tells what it may hold after a power cut.
//
// The model: what was written is sure to be there once its file has been synced afterwards. Until
// then any part of it may be there or not, whatever the order. What was unsynced when a sync failed
// may be given up for good by the kernel, though a later sync succeeds; what reads meanwhile still
// finds it in the cache (as ext4 and XFS do; see "Can Applications Recover from fsync Failures?",
// USENIX ATC 2020).

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace belay::disk {

struct Operation {
  enum class Kind { create, write, truncate, sync, failed_sync, remove };
  Kind kind = Kind::write;
  std::string file;         // its name without the folder
  std::int64_t offset = 0;  // of a write; the new size of a truncate
  std::string bytes;
};

enum class Fault {
  write_error,  // EIO
  full,         // ENOSPC
  short_write,  // half of it is written, then ENOSPC
  read_error,
  short_read,  // fewer bytes than there are: the rest are zero
  sync_error,
  open_error,
};

// While it exists, every file that SQLite opens lies on it: really in its folder, but never really
// synced, which makes thousands of cases possible. Create it before the store, and let it outlive
// the store. One at a time. Thread-safe.
class RecordingDisk {
 public:
  RecordingDisk();
  RecordingDisk(const RecordingDisk&) = delete;
  RecordingDisk& operator=(const RecordingDisk&) = delete;
  ~RecordingDisk();

  // All that changed a file so far.
  std::vector<Operation> operations() const;
  std::size_t size() const;

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
  void note(Operation operation);
  bool fails(Fault fault);
  bool lies() const { return lies_; }

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
  std::unique_ptr<sqlite3_vfs> vfs_;
};

// What a disk may hold when the power goes after the first `count` operations.
enum class Image {
  all_kept,
  unsynced_dropped,
  unsynced_reordered,  // of what was not synced a part is there, by the seed
  torn_512,            // all, but of the last write's last sector only the first half is there
  torn_4096,
  failed_sync_dropped,  // all, but what a failed sync has left unwritten
};
const char* name_of(Image image);

using Files = std::map<std::string, std::string>;  // contents by name

// Goes through operations one by one, and tells at each what the disk may hold.
class PowerCut {
 public:
  void apply(const Operation& operation);
  Files files(Image image, std::uint64_t seed = 0) const;

 private:
  struct File {
    bool is_there = false;  // for whoever reads now
    std::string now;
    std::optional<std::string> synced;        // nothing: it was never synced, and may be missing
    std::vector<Operation> unsynced;          // since then, in order
    std::optional<std::string> without_lost;  // `now` without what failed syncs have given up
  };
  std::map<std::string, File> files_;
  std::optional<Operation> last_;
};

void lay_out(const Files& files, const std::string& folder);

}  // namespace belay::disk
