// bench/bare_server.cc - minimal Beast server with which src/http is compared: one thread, one
// small response, without checks, limits and timeouts.
//
//   bare_server        prints its port, and serves until it is killed

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <cstdio>
#include <memory>

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;
using boost::system::error_code;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  explicit Connection(Socket socket) : socket_(std::move(socket)) {}

  void read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_,
                     [self = shared_from_this()](error_code failed, std::size_t) {
                       if (!failed) self->write();
                     });
  }

 private:
  void write() {
    response_ = {http::status::ok, request_.version()};
    response_.set(http::field::content_type, "application/json");
    response_.body() = R"({"status":"ok"})";
    response_.keep_alive(request_.keep_alive());
    response_.prepare_payload();
    http::async_write(socket_, response_,
                      [self = shared_from_this()](error_code failed, std::size_t) {
                        if (!failed && self->response_.keep_alive()) self->read();
                      });
  }

  Socket socket_;
  boost::beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

void accept(Acceptor& acceptor) {
  acceptor.async_accept(acceptor.get_executor(), [&](error_code failed, Socket socket) {
    if (failed) return;
    error_code ignored;
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    std::make_shared<Connection>(std::move(socket))->read();
    accept(acceptor);
  });
}

}  // namespace

int main() {
  asio::io_context io{1};
  Acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  std::printf("%d\n", acceptor.local_endpoint().port());
  std::fflush(stdout);
  accept(acceptor);
  io.run();
}
