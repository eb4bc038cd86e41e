#pragma once
// tests/disk/power_cut.h - what a disk may hold after the power went.
//
// The model: what was written is sure to be there once its file has been synced afterwards. Until
// then any part of it may be there or not, whatever the order. What was unsynced when a sync failed
// may be given up for good by the kernel, though a later sync succeeds; what reads meanwhile still
// finds it in the cache (as ext4 and XFS do; see "Can Applications Recover from fsync Failures?",
// USENIX ATC 2020).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "belay/clock.h"

namespace belay::disk {

struct Operation {
  enum class Kind { create, write, truncate, sync, failed_sync, remove };
  Kind kind = Kind::write;
  std::string file;         // its name without the folder
  std::int64_t offset = 0;  // of a write; the new size of a truncate
  std::string bytes;
};

// What a disk may hold when the power goes after some operations.
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
  // A disk with nothing on it, or with what an earlier cut has left.
  PowerCut() = default;
  explicit PowerCut(const Files& left);

  void apply(Operation operation);
  Files files(Image image, std::uint64_t seed = 0) const;

 private:
  // What reads find in it is what was synced with all that was written since.
  struct File {
    bool is_there = false;
    bool was_synced = false;  // if never, it may be missing altogether
    std::string synced;
    std::vector<Operation> unsynced;  // in order
    // Once a sync has failed: the file with what that has left unwritten, and without.
    std::optional<std::string> with_lost;
    std::optional<std::string> without_lost;
    bool has_lost = false;  // `unsynced` has writes of before that sync

    std::string now() const;
    std::string image(Image image, bool is_last, Random& random) const;
  };

  std::map<std::string, File> files_;
  std::string last_written_;  // by the last operation; empty: it was no write
};

void lay_out(const Files& files, const std::string& folder);

}  // namespace belay::disk
