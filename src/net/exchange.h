#pragma once
// net/exchange.h - Exchange: the state of one HTTP exchange, filled by the HTTP thread and consumed
// by a reader.
//
// Threading: any thread; it has its own lock.

#include <functional>
#include <mutex>

#include "net/http_client.h"

namespace belay::net {

class Exchange {
 public:
  // Buffered without a reader before the transfer is paused.
  static constexpr std::size_t held_bytes_max = 1024 * 1024;
  // Discarded of a response after leave(), before its connection is closed instead.
  static constexpr std::size_t left_bytes_max = 64 * 1024;

  // `wake` is called, on any thread, when the HTTP thread must check the exchange.
  Exchange(HttpRequest request, std::function<void()> wake)
      : request_(std::move(request)), wake_(std::move(wake)) {}

  const HttpRequest& request() const { return request_; }

  // For the reader. Each returns its result if it is available; otherwise it completes `wait` when
  // there is news.
  std::optional<Result<Done>> head(Completion<Done> wait);
  std::optional<Result<std::string>> take(Completion<Done> wait);
  // No reader is left: ends the exchange.
  void abandon();
  // The same, but first receives a short rest of the response, so that the connection can be
  // reused.
  void leave();
  // Constant once head() has returned a head.
  int status() const { return status_; }
  const std::vector<HttpHeader>& headers() const { return headers_; }

  // For the HTTP thread.
  void set_head(int status, std::vector<HttpHeader> headers);
  // Returns false if its buffer is full; the piece was then not stored.
  bool append(std::string_view piece);
  void end(std::optional<Error> failed);
  bool is_abandoned() const;
  bool is_left() const;
  // True if a piece that append() has refused would now be stored.
  bool has_room() const;

 private:
  // Completes the reader's wait, outside of the lock.
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
  std::size_t left_bytes_ = 0;  // received since leave()
  std::optional<Completion<Done>> waiting_;
};

}  // namespace belay::net
