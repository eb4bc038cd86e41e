#include "net/exchange.h"

namespace belay::net {

std::optional<Result<Done>> Exchange::head(Completion<Done> wait) {
  std::lock_guard lock(mutex_);
  if (has_head_) return Result<Done>(Done{});
  if (failed_) return Result<Done>(*failed_);
  waiting_ = std::move(wait);
  return std::nullopt;
}

std::optional<Result<std::string>> Exchange::take(Completion<Done> wait) {
  std::unique_lock lock(mutex_);
  if (!held_.empty()) {
    std::string piece = std::exchange(held_, {});
    bool was_full = std::exchange(was_full_, false);
    lock.unlock();
    if (was_full) wake_();
    return Result<std::string>(std::move(piece));
  }
  if (failed_) return Result<std::string>(*failed_);
  if (has_ended_) return Result<std::string>(std::string());
  waiting_ = std::move(wait);
  return std::nullopt;
}

void Exchange::abandon() {
  {
    std::lock_guard lock(mutex_);
    waiting_.reset();
    if (has_ended_ || std::exchange(is_abandoned_, true)) return;
  }
  wake_();
}

void Exchange::leave() {
  {
    std::lock_guard lock(mutex_);
    waiting_.reset();
    if (has_ended_ || is_abandoned_) return;
    is_left_ = true;
    held_.clear();
  }
  wake_();
}

void Exchange::set_head(int status, std::vector<HttpHeader> headers) {
  std::unique_lock lock(mutex_);
  has_head_ = true;
  status_ = status;
  headers_ = std::move(headers);
  tell(std::move(lock));
}

bool Exchange::append(std::string_view piece) {
  std::unique_lock lock(mutex_);
  if (is_left_) {
    left_bytes_ += piece.size();
    is_abandoned_ |= left_bytes_ > left_bytes_max;
    return true;
  }
  if (held_.size() >= held_bytes_max) {
    was_full_ = true;
    return false;
  }
  held_ += piece;
  tell(std::move(lock));
  return true;
}

void Exchange::end(std::optional<Error> failed) {
  std::unique_lock lock(mutex_);
  has_ended_ = true;
  failed_ = std::move(failed);
  tell(std::move(lock));
}

bool Exchange::is_abandoned() const {
  std::lock_guard lock(mutex_);
  return is_abandoned_;
}

bool Exchange::is_left() const {
  std::lock_guard lock(mutex_);
  return is_left_;
}

bool Exchange::has_room() const {
  std::lock_guard lock(mutex_);
  return is_left_ || held_.size() < held_bytes_max;
}

void Exchange::tell(std::unique_lock<std::mutex> lock) {
  std::optional<Completion<Done>> waiting = std::exchange(waiting_, std::nullopt);
  lock.unlock();
  if (waiting) waiting->complete(Done{});
}

}  // namespace belay::net
