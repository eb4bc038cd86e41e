// https://www.rfc-editor.org/rfc/rfc5321; libcurl stuffs dots and speaks the protocol.

#include "net/smtp.h"

#include <curl/curl.h>

#include <algorithm>
#include <memory>

#include "belay/clock.h"

namespace belay::net {
namespace {

struct Free {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

// The part of the text that libcurl has not read yet.
struct Source {
  std::string_view rest;
};

std::size_t read_text(char* buffer, std::size_t size, std::size_t count, void* from) {
  auto& source = *static_cast<Source*>(from);
  std::size_t length = std::min(size * count, source.rest.size());
  std::copy_n(source.rest.begin(), length, buffer);
  source.rest.remove_prefix(length);
  return length;
}

std::size_t drop(char*, std::size_t size, std::size_t count, void*) { return size * count; }

// Without a user, a password and a path.
std::string host_of(const std::string& url) {
  std::size_t begin = url.find("://");
  std::string host = begin == url.npos ? url : url.substr(begin + 3);
  host = host.substr(0, host.find('/'));
  return host.substr(host.rfind('@') + 1);
}

Error error_of(CURLcode code, long status, bool is_sent, const std::string& host) {
  std::string text = "The mail server " + host;
  constexpr long temporary = 400, final = 500;
  if (status >= final) {
    return error(ErrorCode::invalid, text + " refused the mail with status " +
                                         std::to_string(status) +
                                         ". Check the addresses and the login.");
  }
  if (status >= temporary) {
    return error(ErrorCode::unavailable,
                 text + " refused the mail for now with status " + std::to_string(status) + ".");
  }
  if (code == CURLE_USE_SSL_FAILED) {
    return error(ErrorCode::invalid, text +
                                         " does not offer TLS. Use another server, or permit "
                                         "connections without TLS.");
  }
  if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_LOGIN_DENIED ||
      code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) {
    return error(ErrorCode::invalid, text + " cannot be used: " + curl_easy_strerror(code) + ".");
  }
  if (is_sent) {
    return error(ErrorCode::uncertain,
                 text + " did not confirm the mail: " + curl_easy_strerror(code) + ".");
  }
  return error(ErrorCode::unavailable,
               text + " did not accept the mail: " + curl_easy_strerror(code) + ".");
}

void set_options(CURL* easy, const MailServer& server, const Mail& mail, curl_slist* to,
                 Source& source) {
  curl_easy_setopt(easy, CURLOPT_URL, server.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(server.timeout.count()));
  curl_easy_setopt(easy, CURLOPT_USE_SSL,
                   static_cast<long>(server.permits_plain_text ? CURLUSESSL_TRY : CURLUSESSL_ALL));
  if (!server.trusted_certificates.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, server.trusted_certificates.c_str());
  }
  if (!server.user.empty()) {
    curl_easy_setopt(easy, CURLOPT_USERNAME, server.user.c_str());
    curl_easy_setopt(easy, CURLOPT_PASSWORD, server.password.c_str());
  }
  curl_easy_setopt(easy, CURLOPT_MAIL_FROM, mail.from.c_str());
  curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, to);
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, &read_text);
  curl_easy_setopt(easy, CURLOPT_READDATA, &source);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &drop);
}

}  // namespace

Result<Done> send_mail(const MailServer& server, const Mail& mail) {
  std::unique_ptr<CURL, Free> easy(curl_easy_init());
  std::unique_ptr<curl_slist, Free> to;
  for (const std::string& address : mail.to) {
    curl_slist* longer = curl_slist_append(to.get(), address.c_str());
    if (!longer) return error(ErrorCode::unavailable, "There is no memory for a mail.");
    [[maybe_unused]] curl_slist* same = to.release();
    to.reset(longer);
  }
  if (!easy) return error(ErrorCode::unavailable, "There is no memory for a mail.");
  Source source{mail.text};
  set_options(easy.get(), server, mail, to.get(), source);
  CURLcode code = curl_easy_perform(easy.get());
  if (code == CURLE_OK) return Done{};
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  return error_of(code, status, source.rest.empty(), host_of(server.url));
}

}  // namespace belay::net
