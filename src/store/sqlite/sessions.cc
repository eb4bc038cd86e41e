#include "store/sqlite/sessions.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace belay::sqlite {
namespace {

Error lock_error(const std::string& path, std::string_view what) {
  return error(ErrorCode::unavailable, "The folder \"" + path + "\" of the store " +
                                           std::string(what) + ": " + std::strerror(errno) +
                                           ". Check its permissions and its file system.");
}

// A read lock, because a folder cannot be opened for writing: it conflicts with the write
// lock that is_locked() tests.
struct flock byte_at(off_t place, short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = place;
  lock.l_len = 1;
  return lock;
}

// Differs after every boot of the machine: locks end with it, and so do the sessions.
Result<Uuid> boot_id() {
  constexpr const char* path = "/proc/sys/kernel/random/boot_id";
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return lock_error(path, "could not be opened");
  std::array<char, 36> text{};
  ssize_t read_bytes = ::read(file, text.data(), text.size());
  close(file);
  std::optional<Uuid> id;
  if (read_bytes == 36) id = uuid_from(std::string_view(text.data(), text.size()));
  if (!id) return error(ErrorCode::unavailable, std::string(path) + " contains no boot id.");
  return *id;
}

}  // namespace

Result<std::unique_ptr<Sessions>> Sessions::open(const std::string& path) {
  BELAY_TRY(Uuid boot, boot_id());
  BELAY_TRY(std::optional<FileId> file, file_id(path));
  std::string folder = path.substr(0, path.rfind('/') + 1);
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  int held = ::open(folder.c_str(), flags);
  if (held < 0) return lock_error(folder, "could not be read");
  int probe = ::open(folder.c_str(), flags);
  if (probe < 0) {
    close(held);
    return lock_error(folder, "could not be read");
  }
  auto sessions =
      std::make_unique<Sessions>(folder, boot, file.value_or(FileId()), Descriptors{held, probe});
  BELAY_TRY(sessions->reader_, Connection::open(path, Connection::Mode::read_write));
  BELAY_CHECK(sessions->reader_->execute("PRAGMA query_only = ON"));
  return sessions;
}

Sessions::~Sessions() {
  close(locks_.probe);
  close(locks_.held);
}

// Several stores may share a folder; therefore the file is part of the digest. The shift by two
// bits keeps the number within the offsets that the kernel accepts.
std::int64_t Sessions::place_of(const SessionId& session) const {
  Digest digest = sha256(std::to_string(file_.inode) + ' ' + session.text());
  std::uint64_t place = 0;
  for (std::size_t i = 0; i < sizeof place; ++i) place = place << 8 | digest[i];
  return static_cast<std::int64_t>(place >> 2);
}

Result<Done> Sessions::insert(Connection& writer, const SessionId& session, Instant now) {
  BELAY_TRY(Statement row,
            writer.prepare("INSERT INTO sessions (session_id, pid, boot_id, started_at, wrote)"
                           " VALUES (?, ?, ?, ?, 0)"));
  row.bind(session).bind(std::int64_t{getpid()}).bind(boot_).bind(now);
  BELAY_CHECK(writer.run(std::move(row)));
  struct flock lock = byte_at(place_of(session), F_RDLCK);
  if (fcntl(locks_.held, F_OFD_SETLK, &lock) != 0)
    return lock_error(folder_, "could not be locked");
  std::lock_guard guard(mutex_);
  open_.insert(session);
  return Done{};
}

void Sessions::release(const SessionId& session) {
  std::lock_guard guard(mutex_);
  auto found = open_.find(session);
  if (found == open_.end()) return;
  struct flock lock = byte_at(place_of(session), F_UNLCK);
  fcntl(locks_.held, F_OFD_SETLK, &lock);
  open_.erase(found);
}

Result<bool> Sessions::is_locked(const SessionId& session) const {
  struct flock lock = byte_at(place_of(session), F_WRLCK);
  if (fcntl(locks_.probe, F_OFD_GETLK, &lock) != 0)
    return lock_error(folder_, "could not be queried");
  return lock.l_type != F_UNLCK;
}

Result<bool> Sessions::is_alive(const SessionId& session) {
  if (session.is_null()) return false;
  std::lock_guard guard(mutex_);
  if (open_.contains(session)) return true;
  BELAY_TRY(Statement row, reader_->prepare("SELECT boot_id FROM sessions WHERE session_id = ?"));
  row.bind(session);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return reader_->error();
  if (step == Statement::Step::done) return false;
  if (row.uuid(0) != boot_) return false;
  return is_locked(session);
}

Result<Done> Sessions::prune(Connection& writer) {
  std::vector<std::int64_t> dead;
  {
    BELAY_TRY(Statement rows,
              writer.prepare("SELECT number, boot_id, session_id FROM sessions WHERE wrote = 0"));
    Statement::Step step = rows.step();
    for (; step == Statement::Step::row; step = rows.step()) {
      bool is_same_boot = rows.uuid(1) == boot_;
      BELAY_TRY(bool locked, is_locked(SessionId(rows.uuid(2))));
      if (!is_same_boot || !locked) dead.push_back(rows.number(0));
    }
    if (step == Statement::Step::failed) return writer.error();
  }
  for (std::int64_t number : dead) {
    BELAY_TRY(Statement row, writer.prepare("DELETE FROM sessions WHERE number = ? AND wrote = 0"));
    row.bind(number);
    BELAY_CHECK(writer.run(std::move(row)));
  }
  return Done{};
}

}  // namespace belay::sqlite
