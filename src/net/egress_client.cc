#include "net/egress_client.h"

#include <algorithm>

namespace belay::net {

Result<std::shared_ptr<EgressClient>> EgressClient::open(
    EgressPolicy policy, std::function<std::string(const std::string&)> resolve) {
  HttpClientOptions options;
  options.trusted_certificates = policy.trusted_certificates;
  options.resolve = std::move(resolve);
  BELAY_TRY(Egress egress, Egress::from(std::move(policy)));
  return std::make_shared<EgressClient>(std::move(egress), std::move(options));
}

EgressClient::EgressClient(Egress egress, HttpClientOptions options)
    : egress_(std::make_shared<const Egress>(std::move(egress))), options_(std::move(options)) {}

Result<HttpClient*> EgressClient::started() {
  std::lock_guard held(mutex_);
  if (!client_) {
    HttpClientOptions options = options_;
    // The interfaces can change while the process runs: they are read for each connection.
    options.may_connect = [egress = egress_](const IpAddress& address) {
      return egress->permits(address, own_addresses());
    };
    BELAY_TRY(client_, HttpClient::open(std::move(options)));
  }
  return client_.get();
}

Task<Result<HttpAnswer>> begin(std::shared_ptr<EgressClient> client, Target target,
                               HttpRequest request) {
  BELAY_CO_CHECK(client->check(target));
  BELAY_CO_TRY(HttpClient * http, client->started());
  request.url = target.url();
  request.timeouts.connect = client->policy().connect_timeout;
  Result<HttpAnswer> answer = co_await http->begin(std::move(request));
  // The same text as that of check().
  if (!answer.ok() && answer.error().code == ErrorCode::forbidden) co_return refusal(target.host);
  co_return std::move(answer);
}

}  // namespace belay::net
