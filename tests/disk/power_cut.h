#pragma once
// tests/disk/power_cut.h - the possible contents of a disk after a power cut
//
// The model: written data is certain to exist once its file has been synced afterwards. Until then,
// any part of it might exist or not, in any order. Data that was unsynced when a sync failed might
// be lost permanently by the kernel even if a later sync succeeds; reads meanwhile still return it
// from the cache (as with ext4 and XFS; see "Can Applications Recover from fsync Failures?", USENIX
// ATC 2020).

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
  std::string file;         // name without the folder
  std::int64_t offset = 0;  // of a write; for a truncate, the new size
  std::string bytes;
};

// The contents of a disk if the power is cut after some operations.
enum class Image {
  all_kept,
  unsynced_dropped,
  unsynced_reordered,  // a part of the unsynced writes, selected by the seed
  torn_512,            // all, but only the first half of the last write's last sector
  torn_4096,
  failed_sync_dropped,  // all, except the data that a failed sync has left unwritten
};
const char* name_of(Image image);

using Files = std::map<std::string, std::string>;  // contents by name

// Applies operations one by one, and computes the disk's contents after a power cut at that point.
class PowerCut {
 public:
  // An empty disk, or one with the contents that an earlier power cut has left.
  PowerCut() = default;
  explicit PowerCut(const Files& left);

  void apply(Operation operation);
  Files files(Image image, std::uint64_t seed = 0) const;

 private:
  // Reads return the synced contents with all later writes.
  struct File {
    bool is_there = false;
    bool was_synced = false;  // if not, the whole file might be missing
    std::string synced;
    std::vector<Operation> unsynced;  // in order
    // If a sync has failed: the contents with the data that it left unwritten, and those without.
    std::optional<std::string> with_lost;
    std::optional<std::string> without_lost;
    bool has_lost = false;  // `unsynced` contains writes before the failed sync

    std::string now() const;
    std::string image(Image image, bool is_last, Random& random) const;
  };

  std::map<std::string, File> files_;
  std::string last_written_;  // the file of the last operation; empty: it was not a write
};

void lay_out(const Files& files, const std::string& folder);

}  // namespace belay::disk
