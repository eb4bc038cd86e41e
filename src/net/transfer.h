#pragma once
// net/transfer.h - an exchange as libcurl sees it: what is set before, what it calls back, and what
// is late.

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <memory>

#include "net/exchange.h"

namespace belay::net {

class Transfer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Checks the request, and prepares it. `invalid` where it can't be sent.
  static Result<std::unique_ptr<Transfer>> prepare(std::shared_ptr<Exchange> exchange,
                                                   const HttpClientOptions& options);
  explicit Transfer(std::shared_ptr<Exchange> exchange);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() = default;

  CURL* easy() const { return easy_.get(); }
  Exchange& exchange() const { return *exchange_; }

  void begin(Time now);
  // Goes on with a body that had no room, once there is some; sees that a connection stands.
  void look(Time now);
  // When it will have waited too long; never for none.
  Time late_at() const;
  // What is said where it has.
  Error lateness() const;
  // What libcurl's own end comes to; nothing where all went well.
  std::optional<Error> outcome(CURLcode code) const;

 private:
  enum class Phase { connecting, waiting, reading };

  Result<Done> set_url();
  Result<Done> set_headers();
  void set_method();
  void set_callbacks();

  std::size_t on_header(std::string_view line);
  std::size_t on_body(std::string_view piece);
  void on_progress(curl_off_t sent);
  // Ends it from within a callback: what to say comes to outcome().
  std::size_t refuse(ErrorCode code, const std::string& why);
  bool has_connected() const;

  struct Free {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  const std::shared_ptr<Exchange> exchange_;
  std::unique_ptr<curl_slist, Free> lines_;
  std::array<char, CURL_ERROR_SIZE> said_{};
  std::string host_;  // with its port; for errors

  Phase phase_ = Phase::connecting;
  Time began_{};
  Time last_{};  // when something came or went
  curl_off_t sent_ = 0;
  int status_ = 0;
  std::vector<HttpHeader> headers_;
  std::size_t head_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  bool is_held_up_ = false;
  std::optional<Time> left_until_;  // nobody reads any more
  std::optional<Error> refused_;

  std::unique_ptr<CURL, Free> easy_;  // last: it calls the others back
};

}  // namespace belay::net
