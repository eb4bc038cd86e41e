#pragma once
// server/web_socket_host.h - WebSocketHost: an API on a free loopback port and its own thread,
// which hands connections to their Upgrade as the transport does, for tests.

#include <boost/asio/connect.hpp>
#include <future>
#include <list>
#include <thread>

#include "http/request_reader.h"
#include "http/response.h"
#include "server/api.h"
#include "server/upgrade.h"

namespace belay::server {

class WebSocketHost {
 public:
  explicit WebSocketHost(std::function<std::unique_ptr<Api>(Executor& loop)> make_api,
                         std::shared_ptr<http::TlsContext> tls = nullptr)
      : loop_(http::make_asio_loop()),
        tls_(std::move(tls)),
        api_(make_api(*loop_)),
        acceptor_(loop_->context().io, {boost::asio::ip::address_v4::loopback(), 0}),
        port_(acceptor_.local_endpoint().port()) {
    accept();
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~WebSocketHost() {
    on_loop([this] {
      acceptor_.close();
      for (auto& each : connections_) each->upgrade.reset();
      connections_.clear();
    });
    loop_->stop();
    thread_.join();
  }
  WebSocketHost(const WebSocketHost&) = delete;
  WebSocketHost& operator=(const WebSocketHost&) = delete;

  std::uint16_t port() const { return port_; }

  void on_loop(const std::function<void()>& work) {
    std::promise<void> done;
    loop_->post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  void drain() {
    on_loop([this] {
      for (auto& each : connections_) {
        if (each->upgrade) each->upgrade->drain();
      }
    });
  }
  // Connections with a WebSocket that is not closed, and the bytes that they hold.
  std::size_t open() {
    std::size_t count = 0;
    on_loop([&] {
      for (auto& each : connections_) count += each->upgrade ? 1 : 0;
    });
    return count;
  }
  std::size_t buffered_bytes() {
    std::size_t bytes = 0;
    on_loop([&] {
      for (auto& each : connections_) bytes += each->upgrade ? each->upgrade->buffered_bytes() : 0;
    });
    return bytes;
  }

 private:
  struct Accepted {
    explicit Accepted(http::Socket taken) : socket(std::move(taken)) {}
    http::Socket socket;
    std::unique_ptr<http::Transport> transport;
    http::ServerLimits limits;
    std::unique_ptr<http::RequestReader> reader = std::make_unique<http::RequestReader>(limits);
    std::string received;
    bool shook_hands = false;
    Spawned answering;
    std::unique_ptr<Upgrade> upgrade;
  };
  using AcceptedPointer = std::shared_ptr<Accepted>;

  void forget(const AcceptedPointer& taken) { connections_.remove(taken); }

  void accept() {
    acceptor_.async_accept(loop_->context().io.get_executor(),
                           [this](boost::system::error_code failed, http::Socket socket) {
                             if (failed) return;
                             socket.non_blocking(true);
                             auto taken = std::make_shared<Accepted>(std::move(socket));
                             int handle = taken->socket.native_handle();
                             taken->transport =
                                 tls_ ? tls_->transport(handle) : http::plain_transport(handle);
                             connections_.push_back(taken);
                             wait(taken);
                             accept();
                           });
  }

  void wait(const AcceptedPointer& taken) {
    taken->socket.async_wait(http::Socket::wait_read,
                             [this, taken](boost::system::error_code failed) {
                               if (!failed) read(taken);
                             });
  }

  void read(const AcceptedPointer& taken) {
    if (!taken->shook_hands) {
      if (taken->transport->handshake() != http::Wait::none) return wait(taken);
      taken->shook_hands = true;
    }
    char bytes[1024];
    while (!taken->reader->complete()) {
      http::Moved moved = taken->transport->read(bytes, sizeof(bytes));
      if (moved.wait == http::Wait::ended) return forget(taken);
      if (moved.wait != http::Wait::none) return wait(taken);
      taken->received.append(bytes, moved.bytes);
      taken->received.erase(0, taken->reader->take(taken->received));
    }
    std::function<void(http::Response)> answer = [this, taken](http::Response response) {
      // Posted: the coroutine has not ended.
      auto held = std::make_shared<http::Response>(std::move(response));
      loop_->post([this, taken, held] { reply(taken, std::move(*held)); });
    };
    taken->answering =
        spawn<http::Response>(*loop_, api_->answer(taken->reader->request()), std::move(answer));
  }

  void reply(const AcceptedPointer& taken, http::Response response) {
    if (response.status != 101) {
      http::Framing framing{.length = response.body.size(), .keep_alive = false};
      std::string text = http::head_of(response, framing, "now") + response.body;
      taken->transport->write(text, false);
      return forget(taken);
    }
    taken->upgrade.reset(dynamic_cast<Upgrade*>(response.stream.release()));
    taken->upgrade->start({std::move(taken->socket), std::move(taken->transport),
                           std::move(taken->received), [this, taken] {
                             taken->upgrade.reset();
                             forget(taken);
                           }});
  }

  const std::unique_ptr<http::AsioLoop> loop_;
  const std::shared_ptr<http::TlsContext> tls_;
  const std::unique_ptr<Api> api_;
  http::Acceptor acceptor_;
  std::list<AcceptedPointer> connections_;
  const std::uint16_t port_;
  std::thread thread_;  // last: it uses all members above
};

}  // namespace belay::server
