#include "net/http_thread.h"

#include <algorithm>

#include "base/start_thread.h"
#include "net/transfer.h"

namespace belay::net {
namespace {

// libcurl requires one initialization per process, before other threads use it.
bool is_set_up() {
  static const CURLcode set_up = curl_global_init(CURL_GLOBAL_DEFAULT);
  return set_up == CURLE_OK;
}

Error closed() { return error(ErrorCode::cancelled, "The HTTP client was closed."); }

}  // namespace

Result<std::shared_ptr<HttpThread>> HttpThread::open(HttpClientOptions options) {
  CURLM* multi = is_set_up() ? curl_multi_init() : nullptr;
  if (!multi) return error(ErrorCode::unavailable, "Not enough memory for an HTTP client.");
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(options.idle_connections));
  return std::make_shared<HttpThread>(multi, std::move(options));
}

HttpThread::HttpThread(void* multi, HttpClientOptions options)
    : multi_(multi), options_(std::move(options)) {
  thread_ = start_thread([this] { serve(); });
}

HttpThread::~HttpThread() {
  stop();
  curl_multi_cleanup(multi_);
}

Result<std::shared_ptr<Exchange>> HttpThread::start(HttpRequest request) {
  // Weak: an exchange can outlive the client.
  auto wake = [thread = weak_from_this()] {
    if (auto alive = thread.lock()) alive->wake();
  };
  auto exchange = std::make_shared<Exchange>(std::move(request), std::move(wake));
  BELAY_TRY(std::unique_ptr<Transfer> transfer, Transfer::prepare(exchange, options_));
  {
    std::lock_guard lock(mutex_);
    if (is_stopping_) return closed();
    new_.push_back(std::move(transfer));
  }
  this->wake();
  return exchange;
}

void HttpThread::wake() { curl_multi_wakeup(multi_); }

void HttpThread::stop() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake();
  if (thread_.joinable()) thread_.join();
}

void HttpThread::serve() {
  while (!is_stopping_) {
    take_new();
    look_after();
    int running = 0;
    curl_multi_perform(multi_, &running);
    take_ended();
    curl_multi_poll(multi_, nullptr, 0, time_left(), nullptr);
  }
  // start() checks is_stopping_ under the lock: no transfer is added after this call.
  take_new();
  for (auto& transfer : transfers_) {
    curl_multi_remove_handle(multi_, transfer->easy());
    transfer->exchange().end(closed());
  }
  transfers_.clear();
}

void HttpThread::take_new() {
  std::deque<std::unique_ptr<Transfer>> fresh;
  {
    std::lock_guard lock(mutex_);
    fresh.swap(new_);
  }
  for (auto& transfer : fresh) {
    transfer->begin(std::chrono::steady_clock::now());
    curl_multi_add_handle(multi_, transfer->easy());
    transfers_.push_back(std::move(transfer));
  }
}

// Ends abandoned and late exchanges, and resumes paused ones that have room again.
void HttpThread::look_after() {
  auto now = std::chrono::steady_clock::now();
  std::erase_if(transfers_, [&](const std::unique_ptr<Transfer>& transfer) {
    Exchange& exchange = transfer->exchange();
    transfer->look(now);
    bool is_late = transfer->late_at() <= now;
    if (!is_late && !exchange.is_abandoned()) return false;
    curl_multi_remove_handle(multi_, transfer->easy());
    exchange.end(is_late ? transfer->lateness() : closed());
    return true;
  });
}

void HttpThread::take_ended() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURLcode code = message->data.result;
    CURL* easy = message->easy_handle;
    auto ended = std::find_if(transfers_.begin(), transfers_.end(),
                              [easy](const auto& each) { return each->easy() == easy; });
    if (ended == transfers_.end()) continue;
    curl_multi_remove_handle(multi_, easy);
    (*ended)->exchange().end((*ended)->outcome(code));
    transfers_.erase(ended);
  }
}

int HttpThread::time_left() const {
  using std::chrono::milliseconds;
  constexpr milliseconds longest = std::chrono::minutes(1);
  auto now = std::chrono::steady_clock::now();
  auto until = now + longest;
  for (const auto& transfer : transfers_) until = std::min(until, transfer->late_at());
  auto left = std::chrono::ceil<milliseconds>(until - now);
  return static_cast<int>(std::clamp(left, milliseconds(0), longest).count());
}

}  // namespace belay::net
