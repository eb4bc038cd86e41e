#include "redis/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace belay::redis {
namespace {

// For TLS 1.2, as RFC 9325 recommends: forward secrecy and authenticated encryption. All cipher
// suites of TLS 1.3 have both.
constexpr const char* tls_ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr std::size_t record_bytes_max = 16u << 10;
// The first byte of every TLS record is its type.
constexpr char record_type_least = 20;
constexpr char record_type_most = 23;

// Returns OpenSSL's reason of its last failure.
std::string last_reason() {
  const char* text = ERR_reason_error_string(ERR_peek_last_error());
  return text ? text : "unknown reason";
}

Error no_tls_of_ours() {
  return error(ErrorCode::unavailable, "OpenSSL could not initialize TLS (" + last_reason() + ")");
}

Error unusable_file(const std::string& file, const std::string& why) {
  return error(ErrorCode::invalid, "\"" + file + "\" of redis_ca_file " + why +
                                       "; set redis_ca_file (BELAY_REDIS_CA_FILE) to a PEM file of "
                                       "certificates that this user can read");
}

// Checks access first: the errors of OpenSSL do not distinguish a missing file from an empty one.
Result<Done> load_file(SSL_CTX* context, const std::string& file) {
  if (::access(file.c_str(), R_OK) != 0) {
    return unusable_file(file, "could not be read: " + std::generic_category().message(errno));
  }
  if (SSL_CTX_load_verify_file(context, file.c_str()) != 1) {
    return unusable_file(file, "contains no PEM certificates (" + last_reason() + ")");
  }
  // Certificates in the file are trusted even if they are not roots, such as that of the server.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  return Done{};
}

bool expect_host(SSL* session, std::string host) {
  X509_VERIFY_PARAM* wanted = SSL_get0_param(session);
  host.resize(std::min(host.find('%'), host.size()));  // the zone of an IPv6 address
  if (X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1) return true;
  if (host.ends_with('.')) host.pop_back();  // names in certificates have no final dot
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size()) == 1 &&
         SSL_set_tlsext_host_name(session, host.data()) == 1;
}

}  // namespace

void TlsTrust::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }
void TlsSession::Free::operator()(ssl_st* session) const { SSL_free(session); }

Result<TlsTrust> TlsTrust::load(const std::string& ca_file) {
  ERR_clear_error();
  TlsTrust trust;
  trust.ca_file_ = ca_file;
  trust.context_.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* context = trust.context_.get();
  if (!context || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(context, tls_ciphers) != 1) {
    return no_tls_of_ours();
  }
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // The bytes to send are in a string, whose memory moves when it grows.
  SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (!ca_file.empty()) {
    BELAY_CHECK(load_file(context, ca_file));
  } else if (SSL_CTX_set_default_verify_paths(context) != 1) {
    return no_tls_of_ours();
  }
  return trust;
}

Result<TlsSession> TlsSession::begin(const TlsTrust& trust, const std::string& host) {
  ERR_clear_error();
  TlsSession begun;
  begun.session_.reset(SSL_new(trust.context_.get()));
  begun.host_ = host;
  begun.ca_file_ = trust.ca_file_;
  SSL* session = begun.session_.get();
  std::unique_ptr<BIO, decltype(&BIO_free)> in(BIO_new(BIO_s_mem()), &BIO_free);
  std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), &BIO_free);
  if (!session || !in || !out || !expect_host(session, host)) return no_tls_of_ours();
  SSL_set_bio(session, in.release(), out.release());  // owns them from here on
  SSL_set_connect_state(session);
  return begun;
}

bool TlsSession::is_established() const { return SSL_is_init_finished(session_.get()) == 1; }

Result<std::string> TlsSession::take_out() {
  ERR_clear_error();
  SSL* session = session_.get();
  if (!failure_ && !is_established()) look_at(SSL_do_handshake(session));
  if (!failure_ && is_established() && !unsaid_.empty()) {
    ERR_clear_error();
    std::size_t said = 0;
    look_at(SSL_write_ex(session, unsaid_.data(), unsaid_.size(), &said));
    unsaid_.erase(0, said);
  }
  if (failure_) return *failure_;
  return drained();
}

void TlsSession::feed(std::string_view came) {
  if (failure_ || came.empty()) return;
  bool is_first = !std::exchange(has_heard_, true);
  if (is_first && (came.front() < record_type_least || came.front() > record_type_most)) {
    failure_ = error(ErrorCode::invalid,
                     "that port does not use TLS; write redis://, or the port of TLS, in the "
                     "setting redis (--redis, BELAY_REDIS)");
    return;
  }
  int size = static_cast<int>(came.size());
  if (BIO_write(SSL_get_rbio(session_.get()), came.data(), size) != size) {
    failure_ = no_tls_of_ours();
  }
}

Result<std::string> TlsSession::take_in() {
  std::string plain;
  while (!failure_) {
    ERR_clear_error();
    std::size_t before = plain.size();
    std::size_t came = 0;
    plain.resize(before + record_bytes_max);
    int outcome = SSL_read_ex(session_.get(), plain.data() + before, record_bytes_max, &came);
    plain.resize(before + came);
    if (outcome == 1) continue;
    look_at(outcome);
    break;
  }
  // Returns data received before the end of the session first, its Error in the next call.
  if (plain.empty() && failure_) return *failure_;
  return plain;
}

void TlsSession::look_at(int outcome) {
  if (outcome == 1) return;
  switch (SSL_get_error(session_.get(), outcome)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return;
    case SSL_ERROR_ZERO_RETURN:
      failure_ = error(ErrorCode::unavailable, "the other side closed the connection");
      return;
    default:
      failure_ = why_it_failed();
  }
}

Error TlsSession::why_it_failed() const {
  long verdict = SSL_get_verify_result(session_.get());
  if (verdict != X509_V_OK) return why_not_believed(verdict);
  unsigned long number = ERR_peek_last_error();
  switch (ERR_GET_LIB(number) == ERR_LIB_SSL ? ERR_GET_REASON(number) : 0) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return error(ErrorCode::invalid,
                   "it requires client certificates, which Belay does not support; set "
                   "tls-auth-clients to no on the server, and a password");
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return error(
          ErrorCode::invalid,
          "it rejects the TLS handshake; set tls-auth-clients to no on the server, because Belay "
          "has no client certificate, and use the default ciphers of OpenSSL");
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return error(ErrorCode::invalid,
                   "it supports only an old TLS version (" + last_reason() +
                       "); enable TLS 1.2 or 1.3 on the server (tls-protocols)");
    default:
      return error(
          ErrorCode::unavailable,
          "TLS failed (" + last_reason() + "); check the log of the server and its TLS settings");
  }
}

Error TlsSession::why_not_believed(long verdict) const {
  std::string reason = X509_verify_cert_error_string(verdict);
  switch (verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return error(ErrorCode::invalid,
                   "its certificate is not for \"" + host_ +
                       "\"; use a host name of the certificate in the setting redis (--redis, "
                       "BELAY_REDIS), or install a certificate for that name");
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return error(ErrorCode::invalid,
                   "its certificate, or that of its issuer, has expired; renew it on the server, "
                   "or set the clock of this machine");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return error(ErrorCode::invalid,
                   "its certificate, or that of its issuer, is not valid yet; set the clocks of "
                   "this machine and of the server");
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:  // another authority with the same name
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return error(ErrorCode::invalid,
                   "its certificate is not signed by an authority " +
                       (ca_file_.empty() ? std::string("that this system trusts")
                                         : "in \"" + ca_file_ + "\"") +
                       " (" + reason +
                       "); set redis_ca_file (BELAY_REDIS_CA_FILE) to a PEM file with the "
                       "certificate of its authority");
    default:
      return error(ErrorCode::invalid, "its certificate is not trusted (" + reason +
                                           "); install another certificate on the server");
  }
}

std::string TlsSession::last_words() {
  // If the session has failed, OpenSSL has already created the alert.
  if (!failure_ && is_established()) {
    ERR_clear_error();
    SSL_shutdown(session_.get());
  }
  return drained();
}

std::string TlsSession::drained() {
  BIO* out = SSL_get_wbio(session_.get());
  std::string bytes(BIO_ctrl_pending(out), '\0');
  if (bytes.empty()) return bytes;
  std::size_t taken = 0;
  BIO_read_ex(out, bytes.data(), bytes.size(), &taken);
  bytes.resize(taken);
  return bytes;
}

}  // namespace belay::redis
