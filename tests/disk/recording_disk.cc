#include "tests/disk/recording_disk.h"

#include <fstream>

#include "belay/testing.h"

namespace belay::disk {
namespace {

struct File {
  sqlite3_file base;  // first: SQLite knows a File by it
  RecordingDisk* disk;
  sqlite3_file* real;
  std::string* name;  // null: a file that is deleted when it is closed, of no matter here
};

File& file_of(sqlite3_file* file) { return *static_cast<File*>(static_cast<void*>(file)); }
sqlite3_file* real(sqlite3_file* file) { return file_of(file).real; }
const sqlite3_io_methods& methods(sqlite3_file* file) { return *real(file)->pMethods; }

sqlite3_vfs* unix_vfs() { return sqlite3_vfs_find("unix"); }

std::string without_folder(std::string path) { return path.substr(path.rfind('/') + 1); }

void note(sqlite3_file* file, Operation::Kind kind, std::int64_t offset, std::string bytes) {
  File& at = file_of(file);
  if (at.name) at.disk->note({kind, *at.name, offset, std::move(bytes)});
}

int close_file(sqlite3_file* file) {
  std::unique_ptr<std::string> name(file_of(file).name);
  return methods(file).xClose(real(file));
}

int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  if (file_of(file).disk->fails(Fault::read_error)) return SQLITE_IOERR_READ;
  int code = methods(file).xRead(real(file), to, size, offset);
  if (code == SQLITE_OK && file_of(file).disk->fails(Fault::short_read)) {
    char* half = static_cast<char*>(to) + size / 2;
    std::fill(half, static_cast<char*>(to) + size, '\0');
    return SQLITE_IOERR_SHORT_READ;
  }
  return code;
}

int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  RecordingDisk& disk = *file_of(file).disk;
  if (disk.fails(Fault::full)) return SQLITE_FULL;
  if (disk.fails(Fault::write_error)) return SQLITE_IOERR_WRITE;
  bool is_short = disk.fails(Fault::short_write);
  int kept = is_short ? size / 2 : size;
  note(file, Operation::Kind::write, offset,
       std::string(static_cast<const char*>(from), static_cast<std::size_t>(kept)));
  int code = methods(file).xWrite(real(file), from, kept, offset);
  return is_short ? SQLITE_FULL : code;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  note(file, Operation::Kind::truncate, size, {});
  return methods(file).xTruncate(real(file), size);
}

int sync_file(sqlite3_file* file, int) {
  if (file_of(file).disk->fails(Fault::sync_error)) {
    note(file, Operation::Kind::failed_sync, 0, {});
    return SQLITE_IOERR_FSYNC;
  }
  if (!file_of(file).disk->lies()) note(file, Operation::Kind::sync, 0, {});
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return methods(file).xFileSize(real(file), size);
}
int lock_file(sqlite3_file* file, int level) { return methods(file).xLock(real(file), level); }
int unlock_file(sqlite3_file* file, int level) { return methods(file).xUnlock(real(file), level); }
int check_lock(sqlite3_file* file, int* locked) {
  return methods(file).xCheckReservedLock(real(file), locked);
}
int control(sqlite3_file* file, int code, void* argument) {
  return methods(file).xFileControl(real(file), code, argument);
}
int sector_size(sqlite3_file* file) { return methods(file).xSectorSize(real(file)); }
int characteristics(sqlite3_file* file) { return methods(file).xDeviceCharacteristics(real(file)); }
int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
  return methods(file).xShmMap(real(file), region, size, extend, memory);
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  return methods(file).xShmLock(real(file), offset, count, flags);
}
void barrier(sqlite3_file* file) { methods(file).xShmBarrier(real(file)); }
int unmap_shared(sqlite3_file* file, int remove) {
  return methods(file).xShmUnmap(real(file), remove);
}

constexpr sqlite3_io_methods recording_methods{
    2,           close_file,  read_file,    write_file, truncate_file, sync_file,       file_size,
    lock_file,   unlock_file, check_lock,   control,    sector_size,   characteristics, map_shared,
    lock_shared, barrier,     unmap_shared, nullptr,    nullptr};

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  File& opened = file_of(file);
  opened.disk = static_cast<RecordingDisk*>(vfs->pAppData);
  opened.real = static_cast<sqlite3_file*>(static_cast<void*>(&opened + 1));
  opened.name = nullptr;
  file->pMethods = nullptr;
  if (opened.disk->fails(Fault::open_error)) return SQLITE_CANTOPEN;
  int is_there = 0;
  if (name) unix_vfs()->xAccess(unix_vfs(), name, SQLITE_ACCESS_EXISTS, &is_there);
  int code = unix_vfs()->xOpen(unix_vfs(), name, opened.real, flags, out_flags);
  if (!opened.real->pMethods) return code;
  file->pMethods = &recording_methods;
  if (name) opened.name = std::make_unique<std::string>(without_folder(name)).release();
  if (name && !is_there) note(file, Operation::Kind::create, 0, {});
  return code;
}

int remove_file(sqlite3_vfs* vfs, const char* name, int) {
  auto* disk = static_cast<RecordingDisk*>(vfs->pAppData);
  disk->note({Operation::Kind::remove, without_folder(name), 0, {}});
  return unix_vfs()->xDelete(unix_vfs(), name, 0);
}

void write_into(std::string& content, const Operation& operation) {
  auto offset = static_cast<std::size_t>(operation.offset);
  if (operation.kind == Operation::Kind::truncate) {
    content.resize(offset);
  } else {
    if (content.size() < offset + operation.bytes.size()) {
      content.resize(offset + operation.bytes.size());
    }
    content.replace(offset, operation.bytes.size(), operation.bytes);
  }
}

}  // namespace

RecordingDisk::RecordingDisk() : vfs_(std::make_unique<sqlite3_vfs>(*unix_vfs())) {
  vfs_->zName = "recording";
  vfs_->pAppData = this;
  vfs_->szOsFile += static_cast<int>(sizeof(File));
  vfs_->xOpen = open_file;
  vfs_->xDelete = remove_file;
  sqlite3_vfs_register(vfs_.get(), 1);
}

RecordingDisk::~RecordingDisk() { sqlite3_vfs_unregister(vfs_.get()); }

std::vector<Operation> RecordingDisk::operations() const {
  std::lock_guard lock(mutex_);
  return operations_;
}

std::size_t RecordingDisk::size() const {
  std::lock_guard lock(mutex_);
  return operations_.size();
}

void RecordingDisk::fail(Fault fault, std::size_t after, bool for_ever) {
  std::lock_guard lock(mutex_);
  plan_ = Plan{fault, after, for_ever};
  tried_ = 0;
  failed_ = 0;
}

void RecordingDisk::heal() {
  std::lock_guard lock(mutex_);
  plan_.reset();
}

std::size_t RecordingDisk::failed() const {
  std::lock_guard lock(mutex_);
  return failed_;
}

std::size_t RecordingDisk::tried() const {
  std::lock_guard lock(mutex_);
  return tried_;
}

void RecordingDisk::note(Operation operation) {
  std::lock_guard lock(mutex_);
  operations_.push_back(std::move(operation));
}

bool RecordingDisk::fails(Fault fault) {
  std::lock_guard lock(mutex_);
  if (!plan_ || plan_->fault != fault) return false;
  std::size_t number = tried_++;
  bool fails = plan_->for_ever ? number >= plan_->after : number == plan_->after;
  if (fails) ++failed_;
  return fails;
}

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

void PowerCut::apply(const Operation& operation) {
  using Kind = Operation::Kind;
  File& file = files_[operation.file];
  last_ = operation;
  switch (operation.kind) {
    case Kind::create:
      file.is_there = true;
      file.now.clear();
      break;
    case Kind::write:
    case Kind::truncate:
      file.is_there = true;
      write_into(file.now, operation);
      if (file.without_lost) write_into(*file.without_lost, operation);
      file.unsynced.push_back(operation);
      break;
    case Kind::sync:
      file.synced = file.without_lost ? *file.without_lost : file.now;
      file.unsynced.clear();
      break;
    case Kind::failed_sync:
      file.without_lost = file.synced.value_or("");
      break;
    case Kind::remove:
      file = File();
      break;
  }
}

Files PowerCut::files(Image image, std::uint64_t seed) const {
  Files left;
  testing::SeededRandom random(seed);
  for (const auto& [name, file] : files_) {
    if (!file.is_there) continue;
    std::string content = file.now;
    if (image == Image::unsynced_dropped) {
      if (!file.synced) continue;
      content = *file.synced;
    } else if (image == Image::unsynced_reordered) {
      content = file.synced.value_or("");
      for (const Operation& each : file.unsynced) {
        if (random.bits() % 2 == 0) write_into(content, each);
      }
    } else if (image == Image::failed_sync_dropped && file.without_lost) {
      content = *file.without_lost;
    } else if (image == Image::torn_512 || image == Image::torn_4096) {
      bool is_last = last_ && last_->kind == Operation::Kind::write && last_->file == name;
      if (is_last && !file.unsynced.empty()) {
        std::size_t sector = image == Image::torn_512 ? 512 : 4096;
        Operation torn = file.unsynced.back();
        std::size_t in_last = (torn.bytes.size() - 1) % sector + 1;
        torn.bytes.resize(torn.bytes.size() - in_last + in_last / 2);
        content = file.synced.value_or("");
        for (std::size_t i = 0; i + 1 < file.unsynced.size(); ++i) {
          write_into(content, file.unsynced[i]);
        }
        write_into(content, torn);
      }
    }
    left[name] = std::move(content);
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
