#pragma once
// net/transfer.h - Transfer: one exchange in libcurl: its options, callbacks and deadlines.

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <memory>

#include "net/exchange.h"

namespace belay::net {

class Transfer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Validates and prepares the request. Fails with `invalid` if it cannot be sent.
  static Result<std::unique_ptr<Transfer>> prepare(std::shared_ptr<Exchange> exchange,
                                                   const HttpClientOptions& options);
  explicit Transfer(std::shared_ptr<Exchange> exchange);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() = default;

  CURL* easy() const { return easy_.get(); }
  Exchange& exchange() const { return *exchange_; }

  void begin(Time now);
  // Resumes a paused body if there is room again; detects that the connection is established.
  void look(Time now);
  // Returns its next deadline; Time::max() without one.
  Time late_at() const;
  // Returns the error for a passed deadline.
  Error lateness() const;
  // Converts the result of libcurl to an error; nullopt if the exchange succeeded.
  std::optional<Error> outcome(CURLcode code) const;

 private:
  enum class Phase { connecting, waiting, reading };

  Result<Done> set_url();
  Result<Done> set_headers();
  void set_method();
  void set_callbacks();
  void set_gate(const HttpClientOptions& options);

  std::size_t on_header(std::string_view line);
  std::size_t on_body(std::string_view piece);
  void on_progress(curl_off_t sent);
  curl_socket_t on_socket(const curl_sockaddr& address);
  // Ends the exchange from within a callback; outcome() returns the error.
  std::size_t refuse(ErrorCode code, const std::string& why);
  bool has_connected() const;

  struct Free {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  const std::shared_ptr<Exchange> exchange_;
  std::unique_ptr<curl_slist, Free> lines_;
  std::unique_ptr<curl_slist, Free> resolved_;
  std::function<bool(const IpAddress&)> may_connect_;
  bool is_blocked_ = false;  // may_connect_ has refused an address
  std::array<char, CURL_ERROR_SIZE> said_{};
  std::string host_;  // with its port; for errors

  Phase phase_ = Phase::connecting;
  Time began_{};
  Time last_{};  // time of the last byte received or sent
  curl_off_t sent_ = 0;
  int status_ = 0;
  std::vector<HttpHeader> headers_;
  std::size_t head_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  bool is_held_up_ = false;
  std::optional<Time> left_until_;  // set by leave(): no reader is left
  std::optional<Error> refused_;

  std::unique_ptr<CURL, Free> easy_;  // last: its callbacks use the other members
};

}  // namespace belay::net
