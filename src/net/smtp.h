#pragma once
// net/smtp.h - sends one mail to an SMTP server, with libcurl. Blocks: call it on the blocking
// pool.
//
// Uses TLS: from the start for smtps://, by STARTTLS for smtp://, which fails if the server does
// not offer it. Only MailServer::permits_plain_text permits a connection without TLS.

#include <chrono>
#include <string>
#include <vector>

#include "belay/result.h"

namespace belay::net {

struct MailServer {
  std::string url;  // "smtps://HOST:465", "smtp://HOST:587"
  std::string user = {};
  std::string password = {};
  bool permits_plain_text = false;
  // A PEM file of certificates to trust instead of the system's; empty: the system's.
  std::string trusted_certificates = {};
  std::chrono::milliseconds timeout{30'000};  // of the whole exchange
};

struct Mail {
  std::string from;  // addresses, without angle brackets
  std::vector<std::string> to;
  std::string text;  // headers, an empty line and the body; lines end with CR LF
};

// Returns Done once the server has accepted the mail for all recipients. Errors:
//   invalid      the server refuses the mail, a recipient or the login permanently (5yz), has no
//                TLS, or the URL is not one of SMTP
//   unavailable  no connection, or the server refuses for now (4yz): nothing was sent
//   uncertain    the connection ended after the text was sent and before the server's reply
// Messages name the host, never a password.
Result<Done> send_mail(const MailServer& server, const Mail& mail);

}  // namespace belay::net
