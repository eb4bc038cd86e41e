#pragma once
// http/web_socket_stream.h - TransportStream: a connection's transport, plain or TLS, as the
// stream that Beast's WebSocket reads and writes.
//
// Operations that wait share the state: Beast can destroy the stream during one of its pings.
//
// Threading: the loop's thread.

#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/role.hpp>
#include <optional>
#include <tuple>

#include "http/upgrade.h"

namespace belay::http {

class TransportStream {
 public:
  using executor_type = Socket::executor_type;
  using ErrorState = boost::system::error_code;

  TransportStream(Socket socket, std::unique_ptr<Transport> transport, std::string received)
      : state_(std::make_shared<State>(std::move(socket), std::move(transport),
                                       std::move(received))) {}

  executor_type get_executor() { return state_->socket.get_executor(); }

  template <typename Buffers, typename Handler>
  auto async_read_some(const Buffers& buffers, Handler&& handler) {
    boost::asio::mutable_buffer first;
    for (auto each = boost::asio::buffer_sequence_begin(buffers);
         each != boost::asio::buffer_sequence_end(buffers) && first.size() == 0; ++each) {
      first = *each;
    }
    return begin(Move{state_, Direction::read, static_cast<char*>(first.data()), first.size()},
                 std::forward<Handler>(handler));
  }

  template <typename Buffers, typename Handler>
  auto async_write_some(const Buffers& buffers, Handler&& handler) {
    boost::asio::const_buffer first;
    for (auto each = boost::asio::buffer_sequence_begin(buffers);
         each != boost::asio::buffer_sequence_end(buffers) && first.size() == 0; ++each) {
      first = *each;
    }
    // Only written from: the two directions share one operation.
    char* bytes = const_cast<char*>(static_cast<const char*>(first.data()));
    return begin(Move{state_, Direction::write, bytes, first.size()},
                 std::forward<Handler>(handler));
  }

  std::uint64_t written() const { return state_->written; }

  void close() { state_->close(); }

  // Ends the output and discards input until the client closes, so that no reset destroys the close
  // frame on its way. Limited in time.
  template <typename Handler>
  friend void async_teardown(boost::beast::role_type, TransportStream& stream, Handler&& handler) {
    stream.end_output();
    boost::asio::async_compose<Handler, void(ErrorState)>(Discard{stream.state_}, handler,
                                                          stream.get_executor());
  }
  friend void teardown(boost::beast::role_type, TransportStream& stream, ErrorState& error) {
    stream.close();
    error = {};
  }
  friend void beast_close_socket(TransportStream& stream) { stream.close(); }

 private:
  static constexpr std::chrono::seconds kDiscardMax{2};
  enum class Direction { read, write };

  struct State {
    State(Socket taken, std::unique_ptr<Transport> by, std::string first)
        : socket(std::move(taken)),
          transport(std::move(by)),
          received(std::move(first)),
          discard_timer(socket.get_executor()) {}

    void close() {
      transport.reset();
      discard_timer.cancel();
      ErrorState ignored;
      std::ignore = socket.close(ignored);
    }

    Moved read(char* to, std::size_t size) {
      if (received.empty()) return transport->read(to, size);
      std::size_t count = received.copy(to, size);
      received.erase(0, count);
      return {Wait::none, count};
    }

    Socket socket;
    std::unique_ptr<Transport> transport;  // null: closed
    std::string received;
    std::uint64_t written = 0;
    boost::asio::steady_timer discard_timer;
  };

  // Waits for the event that the transport asks for, and tries again.
  template <typename Self>
  static void wait(State& state, Wait event, Self&& self) {
    auto what = event == Wait::readable ? Socket::wait_read : Socket::wait_write;
    state.socket.async_wait(what, std::forward<Self>(self));
  }

  struct Move {
    std::shared_ptr<State> state;
    Direction direction;
    char* bytes;
    std::size_t size;
    bool is_first = true;
    std::optional<Moved> moved = std::nullopt;

    template <typename Self>
    void operator()(Self& self, ErrorState failed = {}) {
      if (moved) return complete(self);
      if (failed || !state->transport) moved = Moved{Wait::ended, 0};
      if (!moved) {
        Moved result = move();
        bool waits = result.wait == Wait::readable || result.wait == Wait::writable;
        if (waits) {
          is_first = false;
          auto kept = state;
          return wait(*kept, result.wait, std::move(self));
        }
        moved = result;
      }
      // A handler never runs within the call that starts its operation.
      if (!std::exchange(is_first, false)) return complete(self);
      auto kept = state;
      boost::asio::post(kept->socket.get_executor(), std::move(self));
    }

    Moved move() {
      if (size == 0) return {Wait::none, 0};
      if (direction == Direction::read) return state->read(bytes, size);
      Moved result = state->transport->write({bytes, size}, false);
      if (result.wait == Wait::none) state->written += result.bytes;
      return result;
    }

    template <typename Self>
    void complete(Self& self) {
      bool is_done = moved->wait == Wait::none;
      ErrorState end = direction == Direction::read
                           ? ErrorState(boost::asio::error::eof)
                           : ErrorState(boost::asio::error::connection_reset);
      self.complete(is_done ? ErrorState() : end, is_done ? moved->bytes : 0);
    }
  };

  struct Discard {
    std::shared_ptr<State> state;
    bool is_first = true;

    template <typename Self>
    void operator()(Self& self, ErrorState failed = {}) {
      auto kept = state;
      if (std::exchange(is_first, false)) {
        return boost::asio::post(kept->socket.get_executor(), std::move(self));
      }
      while (!failed && kept->transport) {
        char bytes[4096];
        Moved moved = kept->read(bytes, sizeof(bytes));
        if (moved.wait == Wait::ended) break;
        if (moved.wait != Wait::none) return wait(*kept, moved.wait, std::move(self));
      }
      kept->close();
      self.complete(ErrorState());
    }
  };

  void end_output() {
    if (!state_->transport) return;
    state_->transport->end_writing();
    state_->discard_timer.expires_after(kDiscardMax);
    state_->discard_timer.async_wait([state = state_](ErrorState cancelled) {
      if (!cancelled) state->close();
    });
  }

  template <typename Handler>
  auto begin(Move move, Handler&& handler) {
    return boost::asio::async_compose<Handler, void(ErrorState, std::size_t)>(
        std::move(move), handler, get_executor());
  }

  std::shared_ptr<State> state_;
};

}  // namespace belay::http
