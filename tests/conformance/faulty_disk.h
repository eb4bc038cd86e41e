#pragma once
// tests/conformance/faulty_disk.h - a disk under SQLite that fails when a test says so.

#include <atomic>
#include <memory>

struct sqlite3_vfs;

namespace belay::conformance {

// While it exists, every file that SQLite opens lies on it. Create it before the store, and let it
// outlive the store. One at a time.
class FaultyDisk {
 public:
  enum class Fault { none, full, write_error, sync_error, read_error };

  FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;
  ~FaultyDisk();

  // From now on each write (or sync, or read) fails like this.
  void fail_with(Fault fault) { fault_ = fault; }
  Fault fault() const { return fault_; }
  // How often files were synced: what group commit saves.
  int syncs() const { return syncs_; }
  void count_sync() { ++syncs_; }

 private:
  std::atomic<Fault> fault_ = Fault::none;
  std::atomic<int> syncs_ = 0;
  std::unique_ptr<sqlite3_vfs> vfs_;
};

}  // namespace belay::conformance
