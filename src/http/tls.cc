// http/tls.cc - TLS on a non-blocking socket, with OpenSSL's own functions.
//
// asio::ssl copies every byte through a pair of BIOs, and keeps some 70 KB of buffers for each open
// connection. OpenSSL directly on the socket releases its buffers while no data arrives
// (SSL_MODE_RELEASE_BUFFERS), which thousands of waiting streams require.

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "http/transport.h"

namespace belay::http {
namespace {

using Session = std::unique_ptr<SSL, decltype(&SSL_free)>;
using Method = std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)>;

// RFC 9325: forward secrecy and authenticated encryption for TLS 1.2; all ciphers of 1.3 have both.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

int socket_of(BIO* bio) { return *static_cast<const int*>(BIO_get_data(bio)); }

bool again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// OpenSSL's own socket BIO raises SIGPIPE if it writes to a client that is gone.
int send_bytes(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  ssize_t sent = ::send(socket_of(bio), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && again()) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int receive_bytes(BIO* bio, char* to, int size) {
  BIO_clear_retry_flags(bio);
  ssize_t got = ::recv(socket_of(bio), to, static_cast<std::size_t>(size), 0);
  if (got < 0 && again()) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

long control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

Method socket_method() {
  Method method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "belay socket"),
                &BIO_meth_free);
  if (!method) return method;
  BIO_meth_set_write(method.get(), send_bytes);
  BIO_meth_set_read(method.get(), receive_bytes);
  BIO_meth_set_ctrl(method.get(), control);
  return method;
}

class Tls final : public Transport {
 public:
  // `owner` owns the BIO's method, which must outlive the session.
  Tls(std::shared_ptr<TlsContext> owner, Session session, int socket)
      : owner_(std::move(owner)), session_(std::move(session)), socket_(socket) {
    BIO_set_data(SSL_get_rbio(session_.get()), &socket_);
  }

  Wait handshake() override {
    ERR_clear_error();
    int outcome = SSL_accept(session_.get());
    return outcome == 1 ? Wait::none : wait_after(outcome);
  }

  Moved read(char* to, std::size_t size) override {
    ERR_clear_error();
    std::size_t got = 0;
    int outcome = SSL_read_ex(session_.get(), to, size, &got);
    if (outcome == 1) return {Wait::none, got};
    return {wait_after(outcome)};
  }

  Moved write(std::string_view bytes, bool /*more*/) override {
    ERR_clear_error();
    std::size_t sent = 0;
    int outcome = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &sent);
    if (outcome == 1) return {Wait::none, sent};
    return {wait_after(outcome)};
  }

  bool holds_input() const override { return SSL_has_pending(session_.get()) == 1; }

  void end_writing() override {
    ERR_clear_error();
    if (!broken_ && SSL_is_init_finished(session_.get())) SSL_shutdown(session_.get());
    ::shutdown(socket_, SHUT_WR);
  }

 private:
  Wait wait_after(int outcome) {
    switch (SSL_get_error(session_.get(), outcome)) {
      case SSL_ERROR_WANT_READ:
        return Wait::readable;
      case SSL_ERROR_WANT_WRITE:
        return Wait::writable;
      case SSL_ERROR_ZERO_RETURN:
        return Wait::ended;
      default:
        broken_ = true;  // only SSL_free may be called on it from now on
        return Wait::ended;
    }
  }

  const std::shared_ptr<TlsContext> owner_;
  const Session session_;
  int socket_;  // the BIO reads it
  bool broken_ = false;
};

// Selects HTTP/1.1 of the protocols that the client offers; none without an overlap.
int choose_protocol(SSL* /*session*/, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned int offered_size, void* /*context*/) {
  static constexpr unsigned char kOurs[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* found = nullptr;
  int outcome = SSL_select_next_proto(&found, size, kOurs, sizeof(kOurs), offered, offered_size);
  if (outcome != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

// Returns the reason of OpenSSL's last failure.
std::string reason() {
  unsigned long number = ERR_peek_last_error();
  const char* text = ERR_reason_error_string(number);
  ERR_clear_error();
  return text ? text : "it could not be read";
}

Error unusable(std::string_view what, const std::string& file, std::string_view why,
               std::string_view next) {
  return error(ErrorCode::invalid, "The TLS " + std::string(what) + " " + file +
                                       " cannot be used (" + std::string(why) +
                                       "): " + std::string(next));
}

class Context final : public TlsContext, public std::enable_shared_from_this<Context> {
 public:
  Context() : context_(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free), method_(socket_method()) {}

  Result<Done> load(const TlsFiles& files) {
    ERR_clear_error();
    if (!context_ || !method_) {
      return error(ErrorCode::unavailable,
                   "OpenSSL could not create a TLS context: " + reason() + ".");
    }
    SSL_CTX* context = context_.get();
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(
        context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_cipher_list(context, kCiphers);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);  // session tickets need no memory
                                                                  // of the server
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
    // Otherwise OpenSSL would prompt on the terminal for the passphrase of an encrypted key.
    SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return 0; });
    if (SSL_CTX_use_certificate_chain_file(context, files.certificate_file.c_str()) != 1) {
      return unusable("certificate", files.certificate_file, reason(),
                      "provide a PEM file with the certificate and its chain.");
    }
    if (SSL_CTX_use_PrivateKey_file(context, files.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1) {
      return unusable("key", files.key_file, reason(),
                      "provide a PEM file with the private key of " + files.certificate_file +
                          ", without a passphrase.");
    }
    return Done{};
  }

  std::unique_ptr<Transport> transport(int socket) override {
    Session session(SSL_new(context_.get()), &SSL_free);
    BIO* bio = session ? BIO_new(method_.get()) : nullptr;
    if (!bio) return nullptr;
    BIO_set_init(bio, 1);
    SSL_set_bio(session.get(), bio, bio);  // the session owns the BIO from here on
    SSL_set_accept_state(session.get());
    return std::make_unique<Tls>(shared_from_this(), std::move(session), socket);
  }

 private:
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  const Method method_;
};

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::load(const TlsFiles& files) {
  auto context = std::make_shared<Context>();
  BELAY_CHECK(context->load(files));
  return std::shared_ptr<TlsContext>(std::move(context));
}

}  // namespace belay::http
