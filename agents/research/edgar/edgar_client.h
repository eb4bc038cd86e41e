#pragma once
// agents/research/edgar/edgar_client.h - EdgarClient: requests to the SEC, with the declared
// User-Agent, at a limited rate, and with retries.
//
//     EdgarClient client(open_http(*edgar_policy(places)).value(), options, clock, random);
//     EdgarReply reply = (co_await client.get(request, body)).value();
//
// The SEC permits 10 requests per second. A client sends one after the other, and waits at least
// EdgarOptions::interval between the end of a response and the next request: two clients of a
// machine together remain within the limit.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "agents/research/edgar/edgar_faults.h"
#include "belay/clock.h"
#include "belay/http.h"
#include "belay/result.h"
#include "belay/task.h"

namespace belay::research {

// The servers. Others than the SEC's are for tests.
struct EdgarPlaces {
  std::string files = "https://www.sec.gov";
  std::string data = "https://data.sec.gov";
};

// Returns the policy that permits the two servers, and no redirects: https, except for a loopback
// address such as "http://127.0.0.1:8080", whose network is then permitted. Fails with `invalid` if
// a place is not an origin of that form.
Result<EgressPolicy> edgar_policy(const EdgarPlaces& places);

struct EdgarOptions {
  std::string user_agent;                   // see check_user_agent()
  std::chrono::milliseconds interval{200};  // between requests; at least 100 in production
  RetryPlan retry{};
};

// Checks the text that the SEC requires as User-Agent: a name and a mail address, such as
// "Sample Company admin@sample.org". Fails with `invalid` for other texts, and names the setting.
Result<Done> check_user_agent(std::string_view text);

struct EdgarRequest {
  std::string url;
  std::string what;             // for messages: "the company facts of CIK 0000320193"
  std::size_t bytes_max = 0;    // of the body, after decompression
  bool is_data = true;          // a page (HTML) is an error
  std::string etag{};           // of the copy that exists; empty: unknown
  std::string last_modified{};  // likewise
};

// Receives the body of a response.
class EdgarBody {
 public:
  virtual ~EdgarBody() = default;
  // Before the first piece of each attempt: discards all pieces of a former one.
  virtual Result<Done> begin() = 0;
  // An error ends the request, without a further attempt.
  virtual Result<Done> add(std::string_view piece) = 0;
};

struct EdgarReply {
  bool is_unchanged = false;  // the copy is still the current one: there was no body
  std::string etag;
  std::string last_modified;
};

// One request at a time. The clock and the randomness must outlive the client.
class EdgarClient {
 public:
  EdgarClient(std::shared_ptr<HttpAccess> http, EdgarOptions options, Clock& clock, Random& random)
      : http_(std::move(http)), options_(std::move(options)), clock_(clock), random_(random) {}

  // Sends the request, at most EdgarOptions::retry.attempts times. `body` must outlive the Task.
  // Errors:
  //   invalid      the User-Agent is not declared, or the server does not accept the request
  //   not_found    the server does not have the object
  //   forbidden    the server refuses the User-Agent or redirects; or the policy refuses the URL
  //   exhausted    the body has more than bytes_max
  //   unavailable  all attempts failed, or the server's limit is reached; with its retry_after
  // and the errors of the body.
  Task<Result<EdgarReply>> get(EdgarRequest request, EdgarBody& body);

  // The requests that were sent, with retries.
  std::size_t requests() const { return requests_; }

 private:
  Task<Done> wait_for_turn();

  const std::shared_ptr<HttpAccess> http_;
  const EdgarOptions options_;
  Clock& clock_;
  Random& random_;
  std::size_t requests_ = 0;
};

}  // namespace belay::research
