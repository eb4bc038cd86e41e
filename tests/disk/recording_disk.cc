#include "tests/disk/recording_disk.h"

#include <algorithm>
#include <utility>

#include "belay/testing.h"

namespace belay::disk {
namespace {

// One opening of a file.
struct Opened {
  std::shared_ptr<MemoryFile> file;
  std::string name;  // empty: a temporary file, deleted when it is closed, which is not recorded
  int process;
  int seen_failures;  // failures of syncs that were reported to this opening
  Hold hold = {};
};

struct File {
  sqlite3_file base;  // first: SQLite accesses a File through it
  RecordingDisk* disk;
  Opened* opened;
};

File& file_of(sqlite3_file* file) { return *static_cast<File*>(static_cast<void*>(file)); }
RecordingDisk& disk_of(sqlite3_file* file) { return *file_of(file).disk; }
Opened& opened_of(sqlite3_file* file) { return *file_of(file).opened; }

sqlite3_vfs* unix_vfs() { return sqlite3_vfs_find("unix"); }

std::string without_folder(std::string path) { return path.substr(path.rfind('/') + 1); }

void note(sqlite3_file* file, Operation::Kind kind, std::int64_t offset, std::string bytes) {
  const Opened& opened = opened_of(file);
  if (opened.name.empty()) return;
  disk_of(file).note({kind, opened.name, offset, std::move(bytes)});
}

bool is_dead(sqlite3_file* file) { return disk_of(file).is_dead(opened_of(file).process); }
bool may_change(sqlite3_file* file) { return disk_of(file).may_change(opened_of(file).process); }

int close_file(sqlite3_file* file) {
  std::unique_ptr<Opened> opened(file_of(file).opened);
  opened->file->unlock(opened->hold, SQLITE_LOCK_NONE);
  disk_of(file).files().close(opened->file);
  return SQLITE_OK;
}

int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  RecordingDisk& disk = disk_of(file);
  if (is_dead(file)) return SQLITE_IOERR_READ;
  if (disk.fails(Fault::read_error)) return SQLITE_IOERR_READ;
  char* begin = static_cast<char*>(to);
  std::size_t there = opened_of(file).file->read(begin, static_cast<std::size_t>(size),
                                                 static_cast<std::size_t>(offset));
  if (there < static_cast<std::size_t>(size)) {
    std::fill(begin + there, begin + size, '\0');
    return SQLITE_IOERR_SHORT_READ;
  }
  if (disk.fails(Fault::short_read)) {
    std::fill(begin + size / 2, begin + size, '\0');
    return SQLITE_IOERR_SHORT_READ;
  }
  if (size > 0 && disk.fails(Fault::flipped_bit)) {
    testing::SeededRandom random(disk.tried());
    flip_bit(begin, random.bits() % (8 * static_cast<std::uint64_t>(size)));
  }
  return SQLITE_OK;
}

int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  RecordingDisk& disk = disk_of(file);
  if (!may_change(file)) return SQLITE_IOERR_WRITE;
  if (disk.fails(Fault::full)) return SQLITE_FULL;
  if (disk.fails(Fault::write_error)) return SQLITE_IOERR_WRITE;
  bool is_short = disk.fails(Fault::short_write);
  auto kept = static_cast<std::size_t>(is_short ? size / 2 : size);
  const char* begin = static_cast<const char*>(from);
  note(file, Operation::Kind::write, offset, std::string(begin, kept));
  bool is_written = opened_of(file).file->write(begin, kept, static_cast<std::size_t>(offset));
  if (is_short) return SQLITE_FULL;
  return is_written ? SQLITE_OK : SQLITE_IOERR_WRITE;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  if (!may_change(file)) return SQLITE_IOERR_TRUNCATE;
  note(file, Operation::Kind::truncate, size, {});
  bool is_done = opened_of(file).file->truncate(static_cast<std::size_t>(size));
  return is_done ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

int sync_file(sqlite3_file* file, int) {
  RecordingDisk& disk = disk_of(file);
  Opened& at = opened_of(file);
  if (!may_change(file)) return SQLITE_IOERR_FSYNC;
  if (disk.fails(Fault::sync_error)) note(file, Operation::Kind::failed_sync, 0, {});
  int failures = at.name.empty() ? 0 : disk.failed_syncs(at.name);
  if (std::exchange(at.seen_failures, failures) != failures) return SQLITE_IOERR_FSYNC;
  if (!disk.lies()) note(file, Operation::Kind::sync, 0, {});
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  *size = static_cast<sqlite3_int64>(opened_of(file).file->size());
  return SQLITE_OK;
}
int lock_file(sqlite3_file* file, int level) {
  if (is_dead(file)) return SQLITE_IOERR_LOCK;
  return opened_of(file).file->lock(opened_of(file).hold, level);
}
int unlock_file(sqlite3_file* file, int level) {
  opened_of(file).file->unlock(opened_of(file).hold, level);
  return SQLITE_OK;
}
int check_lock(sqlite3_file* file, int* locked) {
  *locked = opened_of(file).file->is_reserved() ? 1 : 0;
  return SQLITE_OK;
}
int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
// The values of SQLite's "unix" VFS.
int sector_size(sqlite3_file*) { return 4096; }
int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }
int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
  return opened_of(file).file->map_shared(opened_of(file).hold, region, size, extend != 0, memory);
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  bool locks = (flags & SQLITE_SHM_LOCK) != 0;
  if (locks && is_dead(file)) return SQLITE_IOERR_SHMLOCK;
  return opened_of(file).file->lock_shared(opened_of(file).hold, offset, count, flags);
}
// Takes the file's mutex, as size() does: a process that takes it sees all writes before its last
// release.
void barrier(sqlite3_file* file) { (void)opened_of(file).file->size(); }
int unmap_shared(sqlite3_file* file, int) {
  opened_of(file).file->unmap_shared(opened_of(file).hold);
  return SQLITE_OK;
}

constexpr sqlite3_io_methods recording_methods{
    2,           close_file,  read_file,    write_file, truncate_file, sync_file,       file_size,
    lock_file,   unlock_file, check_lock,   control,    sector_size,   characteristics, map_shared,
    lock_shared, barrier,     unmap_shared, nullptr,    nullptr};

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  File& at = file_of(file);
  at.disk = static_cast<RecordingDisk*>(vfs->pAppData);
  int process = at.disk->owner_of(name, flags);
  file->pMethods = nullptr;
  if (at.disk->fails(Fault::open_error)) return SQLITE_CANTOPEN;
  std::string path = name ? name : "";
  bool is_there = path.empty() || at.disk->files().is_there(path);
  auto opened = at.disk->files().open(path, flags);
  if (!opened) return SQLITE_CANTOPEN;
  std::string plain = without_folder(path);
  int failures = path.empty() ? 0 : at.disk->failed_syncs(plain);
  Opened made{std::move(opened), std::move(plain), process, failures};
  at.opened = std::make_unique<Opened>(std::move(made)).release();
  file->pMethods = &recording_methods;
  if (out_flags) *out_flags = flags;
  if (!is_there) note(file, Operation::Kind::create, 0, {});
  return SQLITE_OK;
}

int remove_file(sqlite3_vfs* vfs, const char* name, int) {
  auto* disk = static_cast<RecordingDisk*>(vfs->pAppData);
  disk->note({Operation::Kind::remove, without_folder(name), 0, {}});
  return disk->files().remove(name) ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
}

int look_for(sqlite3_vfs* vfs, const char* name, int flags, int* answer) {
  if (flags != SQLITE_ACCESS_EXISTS) return unix_vfs()->xAccess(unix_vfs(), name, flags, answer);
  *answer = static_cast<RecordingDisk*>(vfs->pAppData)->files().is_there(name) ? 1 : 0;
  return SQLITE_OK;
}

}  // namespace

void flip_bit(char* bytes, std::uint64_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
}

RecordingDisk::RecordingDisk() : vfs_(std::make_unique<sqlite3_vfs>(*unix_vfs())) {
  vfs_->zName = "recording";
  vfs_->pAppData = this;
  vfs_->szOsFile = static_cast<int>(sizeof(File));
  vfs_->xOpen = open_file;
  vfs_->xDelete = remove_file;
  vfs_->xAccess = look_for;
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
    listener_(std::move(operation));
  } else {
    operations_.push_back(std::move(operation));
  }
}

void RecordingDisk::listen(std::function<void(Operation)> listener) {
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
