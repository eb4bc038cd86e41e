#pragma once
// server/heartbeat.h - HeartbeatStream: server-sent events, with a comment after some time without
// an event, so that a closed connection is detected.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "http/message.h"

namespace belay::server {

class HeartbeatStream final : public http::BodyStream {
 public:
  HeartbeatStream(Executor& executor, std::unique_ptr<http::BodyStream> events,
                  std::chrono::milliseconds interval)
      : executor_(executor), events_(std::move(events)), interval_(interval) {}
  ~HeartbeatStream() override { executor_.cancel(timer_); }

  Task<Result<std::string>> next() override {
    if (!reading_) begin_read();
    timer_ = executor_.call_after(interval_, [this] { wake_.complete(Done{}); });
    if (!piece_) co_await wake_;
    executor_.cancel(timer_);
    wake_ = Completion<Done>();
    if (!piece_) co_return std::string(": still here\n\n");
    auto piece = *std::exchange(piece_, std::nullopt);
    reading_.reset();
    co_return std::move(piece);
  }

 private:
  using Piece = Result<std::string>;

  void begin_read() {
    std::function<void(Piece)> on_piece = [this](Piece piece) {
      piece_.emplace(std::move(piece));
      wake_.complete(Done{});
    };
    reading_ = spawn<Piece>(executor_, events_->next(), std::move(on_piece));
  }

  Executor& executor_;
  const std::unique_ptr<http::BodyStream> events_;
  const std::chrono::milliseconds interval_;
  Executor::TimerId timer_ = 0;
  Completion<Done> wake_;
  std::optional<Piece> piece_;
  Spawned reading_;  // last member: it uses all members above
};

// The headers of a reply with server-sent events.
inline std::vector<http::Header> event_stream_headers() {
  return {{"Content-Type", "text/event-stream"},
          {"Cache-Control", "no-store"},
          {"X-Accel-Buffering", "no"}};
}

}  // namespace belay::server
