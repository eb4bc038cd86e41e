#include "net/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>

#include "net/http_thread.h"

namespace belay::net {
HttpAnswer::HttpAnswer(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
HttpAnswer::HttpAnswer(HttpAnswer&&) noexcept = default;

HttpAnswer& HttpAnswer::operator=(HttpAnswer&& other) noexcept {
  std::swap(exchange_, other.exchange_);
  return *this;
}

HttpAnswer::~HttpAnswer() {
  if (exchange_) exchange_->abandon();
}

int HttpAnswer::status() const { return exchange_->status(); }

const std::vector<HttpHeader>& HttpAnswer::headers() const { return exchange_->headers(); }

std::string_view HttpAnswer::header(std::string_view name) const {
  std::string wanted(name);
  for (const HttpHeader& header : exchange_->headers()) {
    if (curl_strequal(header.name.c_str(), wanted.c_str())) return header.value;
  }
  return {};
}

Task<Result<std::string>> HttpAnswer::read() {
  std::shared_ptr<Exchange> exchange = exchange_;
  while (true) {
    Completion<Done> news;
    auto piece = exchange->take(news);
    if (piece) co_return *std::move(piece);
    co_await news;
  }
}

void HttpAnswer::leave() && { std::exchange(exchange_, nullptr)->leave(); }

Task<Result<std::string>> HttpAnswer::read_all() {
  std::string all;
  while (true) {
    auto piece = co_await read();
    if (!piece.ok()) co_return std::move(piece).error();
    if (piece->empty()) co_return std::move(all);
    all += *piece;
  }
}

Result<std::unique_ptr<HttpClient>> HttpClient::open(HttpClientOptions options) {
  BELAY_TRY(auto thread, HttpThread::open(std::move(options)));
  return std::make_unique<HttpClient>(std::move(thread));
}

HttpClient::HttpClient(std::shared_ptr<HttpThread> thread) : thread_(std::move(thread)) {}
HttpClient::~HttpClient() { thread_->stop(); }

Task<Result<HttpAnswer>> HttpClient::begin(HttpRequest request) {
  auto started = thread_->start(std::move(request));
  if (!started.ok()) co_return std::move(started).error();
  std::shared_ptr<Exchange> exchange = *std::move(started);
  // Its destructor ends the exchange if this coroutine is destroyed before the head arrives.
  HttpAnswer answer(exchange);
  while (true) {
    Completion<Done> news;
    auto head = exchange->head(news);
    if (head && !head->ok()) co_return std::move(*head).error();
    if (head) co_return std::move(answer);
    co_await news;
  }
}

std::optional<std::chrono::milliseconds> retry_after(std::string_view header, Instant now) {
  using std::chrono::seconds;
  constexpr seconds longest = std::chrono::minutes(10);
  std::int64_t count = 0;
  const char* end = header.data() + header.size();
  auto [read_to, fault] = std::from_chars(header.data(), end, count);
  if (fault == std::errc() && read_to == end && count >= 0) {
    return seconds(std::min<std::int64_t>(count, longest.count()));
  }
  if (fault == std::errc::result_out_of_range && read_to == end && header.front() != '-') {
    return longest;
  }
  std::time_t date = curl_getdate(std::string(header).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  auto wait = Instant(seconds(date)) - now;
  return std::clamp(std::chrono::ceil<std::chrono::milliseconds>(wait),
                    std::chrono::milliseconds(0), std::chrono::milliseconds(longest));
}

}  // namespace belay::net
