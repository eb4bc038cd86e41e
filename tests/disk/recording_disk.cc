#include "tests/disk/recording_disk.h"

#include <algorithm>
#include <utility>

#include "belay/testing.h"

namespace belay::disk {
namespace {

struct File {
  sqlite3_file base;  // first: SQLite knows a File by it
  RecordingDisk* disk;
  sqlite3_file* real;
  std::string* name;  // null: a file that is deleted when it is closed, of no matter here
  int process;
  int seen_failures;  // of syncs
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

bool is_dead(sqlite3_file* file) { return file_of(file).disk->is_dead(file_of(file).process); }
bool may_change(sqlite3_file* file) {
  return file_of(file).disk->may_change(file_of(file).process);
}

int close_file(sqlite3_file* file) {
  std::unique_ptr<std::string> name(file_of(file).name);
  return methods(file).xClose(real(file));
}

int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  if (is_dead(file)) return SQLITE_IOERR_READ;
  if (file_of(file).disk->fails(Fault::read_error)) return SQLITE_IOERR_READ;
  int code = methods(file).xRead(real(file), to, size, offset);
  if (code == SQLITE_OK && file_of(file).disk->fails(Fault::short_read)) {
    char* half = static_cast<char*>(to) + size / 2;
    std::fill(half, static_cast<char*>(to) + size, '\0');
    return SQLITE_IOERR_SHORT_READ;
  }
  if (code == SQLITE_OK && size > 0 && file_of(file).disk->fails(Fault::flipped_bit)) {
    testing::SeededRandom random(file_of(file).disk->tried());
    flip_bit(static_cast<char*>(to), random.bits() % (8 * static_cast<std::uint64_t>(size)));
  }
  return code;
}

int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  RecordingDisk& disk = *file_of(file).disk;
  if (!may_change(file)) return SQLITE_IOERR_WRITE;
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
  if (!may_change(file)) return SQLITE_IOERR_TRUNCATE;
  note(file, Operation::Kind::truncate, size, {});
  return methods(file).xTruncate(real(file), size);
}

int sync_file(sqlite3_file* file, int) {
  File& at = file_of(file);
  if (!may_change(file)) return SQLITE_IOERR_FSYNC;
  if (at.disk->fails(Fault::sync_error)) note(file, Operation::Kind::failed_sync, 0, {});
  int failures = at.name ? at.disk->failed_syncs(*at.name) : 0;
  if (std::exchange(at.seen_failures, failures) != failures) return SQLITE_IOERR_FSYNC;
  if (!file_of(file).disk->lies()) note(file, Operation::Kind::sync, 0, {});
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return methods(file).xFileSize(real(file), size);
}
int lock_file(sqlite3_file* file, int level) {
  return is_dead(file) ? SQLITE_IOERR_LOCK : methods(file).xLock(real(file), level);
}
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
  bool locks = (flags & SQLITE_SHM_LOCK) != 0;
  if (locks && is_dead(file)) return SQLITE_IOERR_SHMLOCK;
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
  opened.process = opened.disk->owner_of(name, flags);
  file->pMethods = nullptr;
  if (opened.disk->fails(Fault::open_error)) return SQLITE_CANTOPEN;
  int is_there = 0;
  if (name) unix_vfs()->xAccess(unix_vfs(), name, SQLITE_ACCESS_EXISTS, &is_there);
  int code = unix_vfs()->xOpen(unix_vfs(), name, opened.real, flags, out_flags);
  if (!opened.real->pMethods) return code;
  file->pMethods = &recording_methods;
  if (name) opened.name = std::make_unique<std::string>(without_folder(name)).release();
  opened.seen_failures = opened.name ? opened.disk->failed_syncs(*opened.name) : 0;
  if (name && !is_there) note(file, Operation::Kind::create, 0, {});
  return code;
}

int remove_file(sqlite3_vfs* vfs, const char* name, int) {
  auto* disk = static_cast<RecordingDisk*>(vfs->pAppData);
  disk->note({Operation::Kind::remove, without_folder(name), 0, {}});
  return unix_vfs()->xDelete(unix_vfs(), name, 0);
}

}  // namespace

void flip_bit(char* bytes, std::uint64_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
}

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

std::size_t RecordingDisk::syncs() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(
      operations_.begin(), operations_.end(),
      [](const Operation& operation) { return operation.kind == Operation::Kind::sync; }));
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
  if (operation.kind == Operation::Kind::failed_sync) ++failed_syncs_[operation.file];
  if (listener_) {
    listener_(operation);
  } else {
    operations_.push_back(std::move(operation));
  }
}

void RecordingDisk::listen(std::function<void(const Operation&)> listener) {
  std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

void RecordingDisk::opens_for(int process) {
  std::lock_guard lock(mutex_);
  opener_ = process;
}

int RecordingDisk::owner_of(const char* name, int flags) {
  std::lock_guard lock(mutex_);
  if ((flags & SQLITE_OPEN_MAIN_DB) != 0) owners_[name] = opener_;
  if ((flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) == 0) return opener_;
  auto owner = owners_.find(sqlite3_filename_database(name));
  return owner == owners_.end() ? opener_ : owner->second;
}

void RecordingDisk::kill(int process) { kill_after(process, 0); }

void RecordingDisk::kill_after(int process, std::size_t changes) {
  std::lock_guard lock(mutex_);
  changes_left_[process] = changes;
}

bool RecordingDisk::is_dead(int process) const {
  std::lock_guard lock(mutex_);
  auto left = changes_left_.find(process);
  return left != changes_left_.end() && left->second == 0;
}

bool RecordingDisk::may_change(int process) {
  std::lock_guard lock(mutex_);
  auto left = changes_left_.find(process);
  if (left == changes_left_.end()) return true;
  if (left->second == 0) return false;
  --left->second;
  return true;
}

int RecordingDisk::failed_syncs(const std::string& file) const {
  std::lock_guard lock(mutex_);
  auto failures = failed_syncs_.find(file);
  return failures == failed_syncs_.end() ? 0 : failures->second;
}

bool RecordingDisk::fails(Fault fault) {
  std::lock_guard lock(mutex_);
  if (!plan_ || plan_->fault != fault) return false;
  std::size_t number = tried_++;
  bool fails = plan_->for_ever ? number >= plan_->after : number == plan_->after;
  if (fails) ++failed_;
  return fails;
}

}  // namespace belay::disk
