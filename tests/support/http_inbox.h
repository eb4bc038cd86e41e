#pragma once
// tests/support/http_inbox.h - HttpInbox: a receiver of webhooks, for tests.

#include <set>

#include "belay/http.h"
#include "belay/value.h"

namespace belay::testing {

// Receives the requests. Each is answered after `delay` with the next status, later ones with 200.
class HttpInbox : public HttpAccess {
 public:
  Task<Result<HttpReply>> send(HttpCall call) override {
    calls.push_back(std::move(call));
    HttpReply reply;
    reply.status = calls.size() <= statuses.size() ? statuses[calls.size() - 1] : 200;
    bool is_slow = calls.back().url.find("slow") != std::string::npos;
    std::chrono::seconds pause = is_slow ? std::chrono::seconds(14) : delay;
    if (pause.count() > 0) co_await sleep_for(pause);
    if (reply.status == 0) co_return error(ErrorCode::forbidden, "Not permitted.");
    co_return reply;
  }
  Result<std::shared_ptr<HttpAccess>> narrowed(std::vector<std::string>) override {
    return error(ErrorCode::invalid, "Not used.");
  }

  Value result(std::size_t place) const { return parse_json(calls.at(place).body).value(); }
  std::string header(std::size_t place, std::string_view name) const {
    for (const HttpHeader& each : calls.at(place).headers) {
      if (each.name == name) return each.value;
    }
    return "";
  }
  std::multiset<std::string> keys() const {
    std::multiset<std::string> all;
    for (std::size_t i = 0; i < calls.size(); ++i) all.insert(header(i, "Idempotency-Key"));
    return all;
  }
  std::vector<HttpCall> calls;
  std::vector<int> statuses;  // 0: the address is not permitted
  std::chrono::seconds delay{0};
};

}  // namespace belay::testing
