#include "tests/conformance/faulty_disk.h"

#include <sqlite3.h>

namespace belay::conformance {
namespace {

using Fault = FaultyDisk::Fault;

struct File {
  sqlite3_file base;  // first: SQLite knows a File by it
  FaultyDisk* disk;
  sqlite3_file* real;
};

File& file_of(sqlite3_file* file) { return *static_cast<File*>(static_cast<void*>(file)); }
sqlite3_file* real(sqlite3_file* file) { return file_of(file).real; }
const sqlite3_io_methods& methods(sqlite3_file* file) { return *real(file)->pMethods; }

int close_file(sqlite3_file* file) { return methods(file).xClose(real(file)); }
int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  if (file_of(file).disk->fault() == Fault::read_error) return SQLITE_IOERR_READ;
  return methods(file).xRead(real(file), to, size, offset);
}
int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  Fault fault = file_of(file).disk->fault();
  if (fault == Fault::full) return SQLITE_FULL;
  if (fault == Fault::write_error) return SQLITE_IOERR_WRITE;
  return methods(file).xWrite(real(file), from, size, offset);
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  return methods(file).xTruncate(real(file), size);
}
int sync_file(sqlite3_file* file, int flags) {
  file_of(file).disk->count_sync();
  if (file_of(file).disk->fault() == Fault::sync_error) return SQLITE_IOERR_FSYNC;
  return methods(file).xSync(real(file), flags);
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

constexpr sqlite3_io_methods faulty_methods{
    2,           close_file,  read_file,    write_file, truncate_file, sync_file,       file_size,
    lock_file,   unlock_file, check_lock,   control,    sector_size,   characteristics, map_shared,
    lock_shared, barrier,     unmap_shared, nullptr,    nullptr};

sqlite3_vfs* unix_vfs() { return sqlite3_vfs_find("unix"); }

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  File& opened = file_of(file);
  opened.disk = static_cast<FaultyDisk*>(vfs->pAppData);
  opened.real = static_cast<sqlite3_file*>(static_cast<void*>(&opened + 1));
  int code = unix_vfs()->xOpen(unix_vfs(), name, opened.real, flags, out_flags);
  file->pMethods = opened.real->pMethods ? &faulty_methods : nullptr;
  return code;
}

}  // namespace

FaultyDisk::FaultyDisk() : vfs_(std::make_unique<sqlite3_vfs>(*unix_vfs())) {
  vfs_->zName = "faulty";
  vfs_->pAppData = this;
  vfs_->szOsFile += static_cast<int>(sizeof(File));
  vfs_->xOpen = open_file;
  sqlite3_vfs_register(vfs_.get(), 1);
}

FaultyDisk::~FaultyDisk() { sqlite3_vfs_unregister(vfs_.get()); }

}  // namespace belay::conformance
