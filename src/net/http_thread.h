#pragma once
// net/http_thread.h - HttpThread: the thread that performs HTTP exchanges, with libcurl.
//
// Threading: start() and wake() from any thread; stop() once, not from the thread itself.

#include <atomic>
#include <deque>
#include <thread>

#include "net/exchange.h"

namespace belay::net {

class Transfer;

class HttpThread : public std::enable_shared_from_this<HttpThread> {
 public:
  static Result<std::shared_ptr<HttpThread>> open(HttpClientOptions options);
  HttpThread(void* multi, HttpClientOptions options);  // use open()
  HttpThread(const HttpThread&) = delete;
  HttpThread& operator=(const HttpThread&) = delete;
  ~HttpThread();

  // Fails if the request is invalid, before anything is sent.
  Result<std::shared_ptr<Exchange>> start(HttpRequest request);
  void wake();
  // Ends exchanges in progress with `cancelled`, and the thread.
  void stop();

 private:
  void serve();
  void take_new();
  void look_after();
  void take_ended();
  // Milliseconds until the first deadline.
  int time_left() const;

  void* const multi_;  // CURLM*
  const HttpClientOptions options_;

  std::mutex mutex_;
  std::deque<std::unique_ptr<Transfer>> new_;
  std::atomic<bool> is_stopping_ = false;

  std::deque<std::unique_ptr<Transfer>> transfers_;  // used only by the thread

  std::thread thread_;  // last: it uses all members above
};

}  // namespace belay::net
