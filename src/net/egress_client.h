#pragma once
// net/egress_client.h - EgressClient: HTTP exchanges under an EgressPolicy, without redirects.
//
// Threading: any thread. Its own thread starts with the first exchange.

#include <memory>
#include <mutex>

#include "net/egress.h"
#include "net/http_client.h"

namespace belay::net {

class EgressClient {
 public:
  // `resolve`: see HttpClientOptions. Fails with `invalid` if the policy is malformed.
  static Result<std::shared_ptr<EgressClient>> open(
      EgressPolicy policy, std::function<std::string(const std::string&)> resolve = nullptr);
  EgressClient(Egress egress, HttpClientOptions options);  // use open()
  EgressClient(const EgressClient&) = delete;
  EgressClient& operator=(const EgressClient&) = delete;
  ~EgressClient() = default;

  const EgressPolicy& policy() const { return egress_->policy(); }
  Result<Done> check(const Target& target) const { return egress_->check(target); }

 private:
  friend Task<Result<HttpAnswer>> begin(std::shared_ptr<EgressClient>, Target, HttpRequest);
  Result<HttpClient*> started();

  const std::shared_ptr<const Egress> egress_;  // shared with the HTTP thread
  const HttpClientOptions options_;
  std::mutex mutex_;
  std::unique_ptr<HttpClient> client_;  // guarded by mutex_; constant once it is set
};

// Checks the target, sends the request to it, and waits for the head of the response. Ignores
// HttpRequest::url. Applies the policy's connect_timeout, but none of its other limits. `forbidden`
// if the policy does not permit the target or one of its addresses.
Task<Result<HttpAnswer>> begin(std::shared_ptr<EgressClient> client, Target target,
                               HttpRequest request);

}  // namespace belay::net
