#include "tests/disk/power_cut.h"

#include <fstream>
#include <utility>

#include "belay/testing.h"

namespace belay::disk {
namespace {

void write_into(std::string& content, const Operation& operation) {
  auto offset = static_cast<std::size_t>(operation.offset);
  if (operation.kind == Operation::Kind::truncate) {
    content.resize(offset);
  } else if (offset == content.size()) {
    content += operation.bytes;
  } else {
    if (content.size() < offset + operation.bytes.size()) {
      content.resize(offset + operation.bytes.size());
    }
    content.replace(offset, operation.bytes.size(), operation.bytes);
  }
}

// Returns the write with only half of its last sector written.
Operation torn(Operation write, std::size_t sector) {
  std::size_t in_last = (write.bytes.size() - 1) % sector + 1;
  write.bytes.resize(write.bytes.size() - in_last + in_last / 2);
  return write;
}

}  // namespace

const char* name_of(Image image) {
  switch (image) {
    case Image::all_kept:
      return "all kept";
    case Image::unsynced_dropped:
      return "unsynced dropped";
    case Image::unsynced_reordered:
      return "unsynced reordered";
    case Image::torn_512:
      return "last sector of 512 torn";
    case Image::torn_4096:
      return "last sector of 4096 torn";
    case Image::failed_sync_dropped:
      break;
  }
  return "lost by a failed sync";
}

PowerCut::PowerCut(const Files& left) {
  for (const auto& [name, content] : left) {
    File& file = files_[name];
    file.is_there = true;
    file.was_synced = true;
    file.synced = content;
  }
}

void PowerCut::apply(Operation operation) {
  using Kind = Operation::Kind;
  File& file = files_[operation.file];
  last_written_.clear();
  if (operation.kind == Kind::write) last_written_ = operation.file;
  switch (operation.kind) {
    case Kind::create:
      file = File();
      file.is_there = true;
      break;
    case Kind::write:
    case Kind::truncate:
      file.is_there = true;
      if (file.with_lost) write_into(*file.with_lost, operation);
      if (file.without_lost) write_into(*file.without_lost, operation);
      file.unsynced.push_back(std::move(operation));
      break;
    case Kind::sync:
      if (std::exchange(file.has_lost, false)) {
        file.synced = *file.without_lost;
      } else {
        for (const Operation& each : file.unsynced) write_into(file.synced, each);
      }
      file.unsynced.clear();
      file.was_synced = true;
      break;
    case Kind::failed_sync:
      file.with_lost = file.now();
      file.without_lost = file.synced;
      file.has_lost = true;
      break;
    case Kind::remove:
      file = File();
      break;
  }
}

std::string PowerCut::File::now() const {
  if (with_lost) return *with_lost;
  std::string content = synced;
  for (const Operation& each : unsynced) write_into(content, each);
  return content;
}

std::string PowerCut::File::image(Image image, bool is_last, Random& random) const {
  switch (image) {
    case Image::unsynced_dropped:
      return synced;
    case Image::unsynced_reordered: {
      std::string content = synced;
      for (const Operation& each : unsynced) {
        if (random.bits() % 2 == 0) write_into(content, each);
      }
      return content;
    }
    case Image::torn_512:
    case Image::torn_4096: {
      if (!is_last || unsynced.empty()) return now();
      std::string content = synced;
      for (std::size_t i = 0; i + 1 < unsynced.size(); ++i) write_into(content, unsynced[i]);
      write_into(content, torn(unsynced.back(), image == Image::torn_512 ? 512 : 4096));
      return content;
    }
    case Image::failed_sync_dropped:
      return without_lost ? *without_lost : now();
    case Image::all_kept:
      break;
  }
  return now();
}

Files PowerCut::files(Image image, std::uint64_t seed) const {
  Files left;
  testing::SeededRandom random(seed);
  for (const auto& [name, file] : files_) {
    if (!file.is_there || (image == Image::unsynced_dropped && !file.was_synced)) continue;
    left[name] = file.image(image, name == last_written_, random);
  }
  return left;
}

void lay_out(const Files& files, const std::string& folder) {
  for (const auto& [name, content] : files) {
    std::ofstream file(folder + "/" + name, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
  }
}

}  // namespace belay::disk
