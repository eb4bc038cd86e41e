#pragma once
// tests/support/api_fixture.h - ApiFixture: an API over a mail agent in a simulated world, for
// tests of the routes.

#include "server/api.h"
#include "service/local_service.h"
#include "tests/support/runtime_fixture.h"

namespace belay::server {

// Returns a text unchanged, any other value as JSON.
inline std::string text(const Value& value) {
  const std::string* held = value.as_string();
  return held ? *held : to_json(value);
}

struct Answered {
  int status = 0;
  Value body;
  std::vector<http::Header> headers;
  std::unique_ptr<http::BodyStream> stream;

  std::string header(std::string_view name) const {
    const std::string* found = http::find_header(headers, name);
    return found ? *found : "";
  }
};

struct ApiFixture : RuntimeFixture {
  std::unique_ptr<Service> service = make_service();
  ApiOptions options;
  std::unique_ptr<Metrics> metrics = make_metrics();
  std::unique_ptr<Api> api = make_api();

  std::unique_ptr<Service> make_service() { return service_of(graph); }
  // Returns a service with this graph alone, which the runtime has.
  template <typename State>
  std::unique_ptr<Service> service_of(const Graph<State>& served) {
    return make_local_service(LocalServiceParts{
        *store, *store, *runtime, loop, clock, random, {served.definition()}, {}, {}});
  }
  std::unique_ptr<Api> make_api() {
    ApiParts parts{*service, loop, clock, random};
    parts.telemetry.metrics = metrics.get();
    return std::make_unique<Api>(parts, options, nullptr);
  }

  static http::Request request(std::string method, std::string target, std::string body = {}) {
    http::Request made;
    made.method = std::move(method);
    std::size_t mark = target.find('?');
    made.raw_path = made.path = target.substr(0, mark);
    if (mark != target.npos) made.query = target.substr(mark + 1);
    if (!body.empty()) made.headers.push_back({"Content-Type", "application/json"});
    made.headers.push_back({"Host", "127.0.0.1:8123"});
    made.body = std::move(body);
    return made;
  }

  Answered send(http::Request sent) {
    auto response = block_on(loop, api->answer(std::move(sent)));
    Answered answered;
    answered.status = response.status;
    bool is_text = http::find_header(response.headers, "Content-Type") &&
                   http::find_header(response.headers, "Content-Type")->starts_with("text/");
    if (is_text) {
      answered.body = Value(response.body);
    } else if (!response.body.empty()) {
      answered.body = parse_json(response.body).value();
    }
    answered.headers = std::move(response.headers);
    answered.stream = std::move(response.stream);
    return answered;
  }
  Answered get(std::string target) { return send(request("GET", std::move(target))); }
  Answered post(std::string target, std::string body = {}) {
    return send(request("POST", std::move(target), std::move(body)));
  }

  std::string read_all(http::BodyStream& stream) {
    std::string whole;
    while (true) {
      std::string piece = block_on(loop, stream.next()).value();
      if (piece.empty()) return whole;
      whole += piece;
    }
  }

  // Starts a run that waits for a decision.
  void begin_urgent(const std::string& thread) {
    auto begun = post("/api/agents/mail/runs",
                      R"({"input":{"topic":"urgent"},"threadId":")" + thread + "\"}");
    ASSERT_EQ(begun.status, 202) << to_json(begun.body);
  }
};

}  // namespace belay::server
