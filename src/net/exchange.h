#pragma once
// net/exchange.h - what one exchange has come to so far: filled by the thread that carries it out,
// emptied by whoever reads it.
//
// Threading: any; it locks itself.

#include <functional>
#include <mutex>

#include "net/http_client.h"

namespace belay::net {

class Exchange {
 public:
  // Held where nobody reads, before the other side is kept waiting.
  static constexpr std::size_t held_bytes_max = 1024 * 1024;
  // Passed over of an answer that was left, before its connection is given up.
  static constexpr std::size_t left_bytes_max = 64 * 1024;

  // `wake` is called, on any thread, when there is something for the exchange's thread to look at.
  Exchange(HttpRequest request, std::function<void()> wake)
      : request_(std::move(request)), wake_(std::move(wake)) {}

  const HttpRequest& request() const { return request_; }

  // Of the reader. Each gives its answer where it is there, and else completes `wait` once there is
  // something new.
  std::optional<Result<Done>> head(Completion<Done> wait);
  std::optional<Result<std::string>> take(Completion<Done> wait);
  // Nobody reads any more.
  void abandon();
  // The same, but what little may be left is let come, so that the connection can be used again.
  void leave();
  // Constant once there is a head.
  int status() const { return status_; }
  const std::vector<HttpHeader>& headers() const { return headers_; }

  // Of the thread.
  void set_head(int status, std::vector<HttpHeader> headers);
  // False where it holds enough, and has not taken it.
  bool append(std::string_view piece);
  void end(std::optional<Error> failed);
  bool is_abandoned() const;
  bool is_left() const;
  // Whether a piece that was not taken would be now.
  bool has_room() const;

 private:
  // Tells the reader, outside of the lock.
  void tell(std::unique_lock<std::mutex> lock);

  const HttpRequest request_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  bool has_head_ = false;
  int status_ = 0;
  std::vector<HttpHeader> headers_;
  std::string held_;
  bool was_full_ = false;
  bool has_ended_ = false;
  std::optional<Error> failed_;
  bool is_abandoned_ = false;
  bool is_left_ = false;
  std::size_t left_bytes_ = 0;  // that came since
  std::optional<Completion<Done>> waiting_;
};

}  // namespace belay::net
