#include "net/transfer.h"

#include <sys/socket.h>

#include <algorithm>

#include "base/trimmed.h"
#include "net/egress.h"

namespace belay::net {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds left_time{1'000};  // for the rest of a response after leave()

bool is_visible(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; }

bool is_name_character(char c) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return is_letter || others.find(c) != others.npos;
}

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::string part_of(CURLU* url, CURLUPart part, unsigned flags) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
  std::string copy = text;
  curl_free(text);
  return copy;
}

// True if a retry would fail as well: the configuration must be changed. If a response is not HTTP,
// libcurl reports an unsupported protocol; the URL has been validated before.
bool is_set_up(CURLcode code) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
      return true;
    default:
      return false;
  }
}

long count_of(milliseconds time) { return static_cast<long>(time.count()); }

}  // namespace

Transfer::Transfer(std::shared_ptr<Exchange> exchange)
    : exchange_(std::move(exchange)), easy_(curl_easy_init()) {}

Result<std::unique_ptr<Transfer>> Transfer::prepare(std::shared_ptr<Exchange> exchange,
                                                    const HttpClientOptions& options) {
  auto transfer = std::make_unique<Transfer>(std::move(exchange));
  CURL* easy = transfer->easy();
  if (!easy) return error(ErrorCode::unavailable, "Not enough memory for an HTTP request.");
  BELAY_CHECK(transfer->set_url());
  BELAY_CHECK(transfer->set_headers());
  transfer->set_method();
  transfer->set_callbacks();
  const HttpTimeouts& timeouts = transfer->exchange_->request().timeouts;
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, count_of(timeouts.connect));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, count_of(timeouts.total));
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  if (!options.trusted_certificates.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, options.trusted_certificates.c_str());
  }
  if (options.proxy) curl_easy_setopt(easy, CURLOPT_PROXY, options.proxy->c_str());
  transfer->set_gate(options);
  return transfer;
}

// The check is in the callback that opens the socket. libcurl resolves a name once and passes each
// address immediately before it connects to it: the checked address is the one that is used, and no
// second resolution, with another result, can follow the check. A reused connection was checked
// when it was opened. Through a proxy, the proxy's address would be checked: hence none.
void Transfer::set_gate(const HttpClientOptions& options) {
  if (options.resolve) {
    std::string name = host_.substr(0, host_.rfind(':'));
    std::string addresses = options.resolve(name);
    std::string entry = "+" + host_ + ":" + addresses;
    if (!addresses.empty()) resolved_.reset(curl_slist_append(nullptr, entry.c_str()));
    curl_easy_setopt(easy(), CURLOPT_RESOLVE, resolved_.get());
  }
  if (!options.may_connect) return;
  using Open = curl_socket_t (*)(void*, curlsocktype, curl_sockaddr*);
  Open open = [](void* self, curlsocktype, curl_sockaddr* address) {
    return static_cast<Transfer*>(self)->on_socket(*address);
  };
  may_connect_ = options.may_connect;
  curl_easy_setopt(easy(), CURLOPT_OPENSOCKETFUNCTION, open);
  curl_easy_setopt(easy(), CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(easy(), CURLOPT_PROXY, "");
}

Result<Done> Transfer::set_url() {
  const std::string& text = exchange_->request().url;
  std::unique_ptr<CURLU, FreeUrl> url(curl_url());
  // The message must not contain the URL, which might contain a key.
  CURLUcode read = curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0);
  std::string scheme = part_of(url.get(), CURLUPART_SCHEME, 0);
  if (read != CURLUE_OK || (scheme != "http" && scheme != "https")) {
    return error(ErrorCode::invalid,
                 "Invalid address of an HTTP request: expected http://HOST[:PORT]/PATH, or the "
                 "same with https.");
  }
  host_ = part_of(url.get(), CURLUPART_HOST, 0) + ":" +
          part_of(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  curl_easy_setopt(easy(), CURLOPT_URL, text.c_str());
  return Done{};
}

Result<Done> Transfer::set_headers() {
  bool has_type = false;
  curl_slist* lines = curl_slist_append(nullptr, "Expect:");
  lines_.reset(lines);
  for (const HttpHeader& header : exchange_->request().headers) {
    bool is_sound = !header.name.empty() &&
                    std::all_of(header.name.begin(), header.name.end(), is_name_character) &&
                    std::all_of(header.value.begin(), header.value.end(), is_visible);
    if (!is_sound) {
      return error(
          ErrorCode::invalid,
          "A header of the request to " + host_ +
              " contains invalid characters. Check whether its value includes a line break.");
    }
    has_type |= curl_strequal(header.name.c_str(), "content-type") != 0;
    // If a header has no value, libcurl drops it, unless it is written with a semicolon.
    std::string line = header.name + (header.value.empty() ? ";" : ": " + header.value);
    curl_slist_append(lines, line.c_str());
  }
  if (!has_type) curl_slist_append(lines, "Content-Type:");
  curl_easy_setopt(easy(), CURLOPT_HTTPHEADER, lines);
  return Done{};
}

void Transfer::set_method() {
  const HttpRequest& request = exchange_->request();
  if (request.method == "HEAD") {
    curl_easy_setopt(easy(), CURLOPT_NOBODY, 1L);
    return;
  }
  if (request.method == "GET" && request.body.empty()) return;
  // Not copied: the exchange owns the body while it is sent.
  curl_easy_setopt(easy(), CURLOPT_POSTFIELDS, request.body.data());
  curl_easy_setopt(easy(), CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(request.body.size()));
  curl_easy_setopt(easy(), CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void Transfer::set_callbacks() {
  using Bytes = std::size_t (*)(char*, std::size_t, std::size_t, void*);
  using Progress = int (*)(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
  Bytes header = [](char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Transfer*>(self)->on_header({data, size});
  };
  Bytes body = [](char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Transfer*>(self)->on_body({data, size});
  };
  Progress progress = [](void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t sent) {
    static_cast<Transfer*>(self)->on_progress(sent);
    return 0;
  };
  curl_easy_setopt(easy(), CURLOPT_HEADERFUNCTION, header);
  curl_easy_setopt(easy(), CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy(), CURLOPT_WRITEFUNCTION, body);
  curl_easy_setopt(easy(), CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy(), CURLOPT_XFERINFOFUNCTION, progress);
  curl_easy_setopt(easy(), CURLOPT_XFERINFODATA, this);
  curl_easy_setopt(easy(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(easy(), CURLOPT_ERRORBUFFER, said_.data());
  curl_easy_setopt(easy(), CURLOPT_PRIVATE, this);
}

void Transfer::begin(Time now) { began_ = last_ = now; }

std::size_t Transfer::on_header(std::string_view line) {
  // Trailers after the body are ignored.
  if (phase_ == Phase::reading) return line.size();
  last_ = std::chrono::steady_clock::now();
  head_bytes_ += line.size();
  if (head_bytes_ > exchange_->request().limits.head_bytes) {
    return refuse(ErrorCode::exhausted, "the head of its response is longer than " +
                                            std::to_string(exchange_->request().limits.head_bytes) +
                                            " bytes");
  }
  std::size_t colon = line.find(':');
  if (line.starts_with("HTTP/")) {
    long status = 0;
    curl_easy_getinfo(easy(), CURLINFO_RESPONSE_CODE, &status);
    status_ = static_cast<int>(status);
    headers_.clear();
  } else if (trimmed(line).empty()) {
    // An interim response, such as 103, is followed by another one.
    if (status_ < 200) return line.size();
    phase_ = Phase::reading;
    exchange_->set_head(status_, std::move(headers_));
  } else if (colon != line.npos) {
    headers_.push_back({std::string(trimmed(line.substr(0, colon))),
                        std::string(trimmed(line.substr(colon + 1)))});
  }
  return line.size();
}

std::size_t Transfer::on_body(std::string_view piece) {
  last_ = std::chrono::steady_clock::now();
  if (body_bytes_ + piece.size() > exchange_->request().limits.body_bytes) {
    return refuse(ErrorCode::exhausted, "its response is longer than " +
                                            std::to_string(exchange_->request().limits.body_bytes) +
                                            " bytes");
  }
  if (!exchange_->append(piece)) {
    is_held_up_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  body_bytes_ += piece.size();
  return piece.size();
}

void Transfer::on_progress(curl_off_t sent) {
  if (sent == sent_) return;
  sent_ = sent;
  last_ = std::chrono::steady_clock::now();
}

// After one refused address, the others of the same name are refused too: a name that resolves to
// both kinds is not an ordinary public host.
curl_socket_t Transfer::on_socket(const curl_sockaddr& address) {
  auto found = address_of(&address.addr);
  is_blocked_ |= !found || !may_connect_(*found);
  if (is_blocked_) return CURL_SOCKET_BAD;
  return socket(address.family, address.socktype | SOCK_CLOEXEC, address.protocol);
}

std::size_t Transfer::refuse(ErrorCode code, const std::string& why) {
  refused_ = error(code, "The exchange with " + host_ + " was aborted: " + why + ".");
  return 0;
}

void Transfer::look(Time now) {
  if (phase_ == Phase::connecting && has_connected()) {
    phase_ = Phase::waiting;
    last_ = now;
  }
  if (!left_until_ && exchange_->is_left()) left_until_ = now + left_time;
  if (!is_held_up_ || !exchange_->has_room()) return;
  is_held_up_ = false;
  last_ = now;
  curl_easy_pause(easy(), CURLPAUSE_CONT);
}

bool Transfer::has_connected() const {
  curl_off_t took = 0;
  curl_easy_getinfo(easy(), CURLINFO_PRETRANSFER_TIME_T, &took);
  return took > 0;
}

Transfer::Time Transfer::late_at() const {
  if (left_until_) return *left_until_;
  const HttpTimeouts& timeouts = exchange_->request().timeouts;
  // libcurl itself limits the time for connecting and the total time.
  if (is_held_up_ || phase_ == Phase::connecting) return Time::max();
  milliseconds bound = phase_ == Phase::reading ? timeouts.idle : timeouts.first_byte;
  return bound.count() > 0 ? last_ + bound : Time::max();
}

Error Transfer::lateness() const {
  bool reads = phase_ == Phase::reading;
  const HttpTimeouts& timeouts = exchange_->request().timeouts;
  auto waited = std::to_string((reads ? timeouts.idle : timeouts.first_byte).count());
  return error(ErrorCode::unavailable,
               host_ + (reads ? " has sent nothing for " : " did not respond within ") + waited +
                   " ms. Try again, or increase the timeout.");
}

std::optional<Error> Transfer::outcome(CURLcode code) const {
  if (refused_) return refused_;
  if (code == CURLE_OK && phase_ == Phase::reading) return std::nullopt;
  if (is_blocked_) return refusal(host_.substr(0, host_.rfind(':')));
  if (code == CURLE_OK) {
    return error(ErrorCode::unavailable, host_ + " closed the connection before it responded.");
  }
  std::string_view said(said_.data());
  if (said.empty()) said = curl_easy_strerror(code);
  return error(is_set_up(code) ? ErrorCode::invalid : ErrorCode::unavailable,
               "The exchange with " + host_ + " failed: " + std::string(said) + ".");
}

}  // namespace belay::net
