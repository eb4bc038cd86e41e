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
  return error(ErrorCode::unavailable, "The file " + path + " " + std::string(what) + ": " +
                                           std::strerror(errno) +
                                           "; look at its permissions and its file system.");
}

struct flock byte_at(std::int64_t number, short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = number;
  lock.l_len = 1;
  return lock;
}

// Differs after every boot of the machine: locks end with it, and so do the sessions.
Result<Uuid> boot_id() {
  constexpr const char* path = "/proc/sys/kernel/random/boot_id";
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return lock_error(path, "can't be opened");
  std::array<char, 36> text{};
  ssize_t read_bytes = ::read(file, text.data(), text.size());
  close(file);
  std::optional<Uuid> id;
  if (read_bytes == 36) id = uuid_from(std::string_view(text.data(), text.size()));
  if (!id) return error(ErrorCode::unavailable, std::string(path) + " holds no boot id.");
  return *id;
}

}  // namespace

Result<std::unique_ptr<Sessions>> Sessions::open(const std::string& path) {
  BELAY_TRY(Uuid boot, boot_id());
  std::string lock_path = path + "-sessions";
  int held = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (held < 0) return lock_error(lock_path, "can't be opened");
  int probe = ::open(lock_path.c_str(), O_RDWR | O_CLOEXEC);
  if (probe < 0) {
    close(held);
    return lock_error(lock_path, "can't be opened");
  }
  auto sessions = std::make_unique<Sessions>(lock_path, boot, held, probe);
  BELAY_TRY(sessions->reader_, Connection::open(path, Connection::Mode::read_write));
  BELAY_CHECK(sessions->reader_->execute("PRAGMA query_only = ON"));
  return sessions;
}

Sessions::~Sessions() {
  close(probe_);
  close(held_);
}

Result<Done> Sessions::insert(Connection& writer, const SessionId& session, Instant now) {
  BELAY_TRY(Statement row,
            writer.prepare("INSERT INTO sessions (session_id, pid, boot_id, started_at, wrote)"
                           " VALUES (?, ?, ?, ?, 0)"));
  row.bind(session).bind(std::int64_t{getpid()}).bind(boot_).bind(now);
  BELAY_CHECK(writer.run(std::move(row)));
  std::int64_t number = writer.last_inserted();
  struct flock lock = byte_at(number, F_WRLCK);
  if (fcntl(held_, F_OFD_SETLK, &lock) != 0) return lock_error(lock_path_, "can't be locked");
  std::lock_guard guard(mutex_);
  open_.emplace(session, number);
  return Done{};
}

void Sessions::release(const SessionId& session) {
  std::lock_guard guard(mutex_);
  auto found = open_.find(session);
  if (found == open_.end()) return;
  struct flock lock = byte_at(found->second, F_UNLCK);
  fcntl(held_, F_OFD_SETLK, &lock);
  open_.erase(found);
}

Result<bool> Sessions::is_locked(std::int64_t number) const {
  struct flock lock = byte_at(number, F_WRLCK);
  if (fcntl(probe_, F_OFD_GETLK, &lock) != 0) return lock_error(lock_path_, "can't be asked");
  return lock.l_type != F_UNLCK;
}

Result<bool> Sessions::is_alive(const SessionId& session) {
  if (session.is_null()) return false;
  std::lock_guard guard(mutex_);
  if (open_.contains(session)) return true;
  BELAY_TRY(Statement row,
            reader_->prepare("SELECT number, boot_id FROM sessions WHERE session_id = ?"));
  row.bind(session);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return reader_->error();
  if (step == Statement::Step::done) return false;
  if (row.uuid(1) != boot_) return false;
  return is_locked(row.number(0));
}

Result<Done> Sessions::prune(Connection& writer) {
  std::vector<std::int64_t> dead;
  {
    BELAY_TRY(Statement rows,
              writer.prepare("SELECT number, boot_id FROM sessions WHERE wrote = 0"));
    Statement::Step step = rows.step();
    for (; step == Statement::Step::row; step = rows.step()) {
      bool is_same_boot = rows.uuid(1) == boot_;
      BELAY_TRY(bool locked, is_locked(rows.number(0)));
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
