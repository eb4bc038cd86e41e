#pragma once
// belay/webhook.h - webhook_receiver(), webhook_dead_letters(): deliver outbox messages as HTTP
// requests.
//
//     auto hook = belay::webhook_receiver({.url = "https://hooks.example.com/late-approvals"});
//     module.receivers["late"] = hook.value();
//
// Each message is one POST with its body as application/json and the headers Idempotency-Key (the
// id of the message, the same for every delivery), Belay-Topic and Belay-Attempt. A response with a
// 2xx status, whose body is ignored, is the receipt. After any other response, or none, the message
// is delivered again as its DeliveryOptions state: the server deduplicates by the key. Redirects
// are not followed.
//
// The policy of http.h applies: a webhook in a private network, or on another port than 80 and 443,
// must be permitted explicitly:
//
//     options.egress.allowed_networks = {"10.1.0.7"};
//     options.egress.allowed_ports = {8443};
//
// Threading: as Receiver.

#include <chrono>
#include <string>

#include "belay/http.h"
#include "belay/runtime.h"
#include "belay/tools.h"

namespace belay {

struct WebhookOptions {
  std::string url;                 // http or https, without user and password
  std::string authorization = {};  // the header Authorization, such as "Bearer ..."; empty: none
  std::chrono::milliseconds timeout{10'000};  // of one request
  // A PEM file of certificates to trust instead of the system's; empty: the system's.
  std::string trusted_certificates = {};
  EgressPolicy egress = {};  // its hosts, networks, ports and connect_timeout
};

// Fails with `invalid` if the URL or a header cannot be used, and with `forbidden` if the policy
// does not permit the URL; a delivery fails with `forbidden` if the policy does not permit an
// address of the host. The errors of deliveries name the
// host and the status; they contain neither the path of the URL, which can be secret, nor the
// header.
Result<Receiver> webhook_receiver(WebhookOptions options);

// Delivers the messages of the topic WebhookToolOptions::dead_letters: each webhook again, with its
// id, to its URL. `options` are those of the tool. A message that the outbox discards after its
// attempts remains there; `belay outbox retry` sends it again. Fails as send_webhook_tool().
Result<Receiver> webhook_dead_letters(const WebhookToolOptions& options,
                                      std::shared_ptr<HttpAccess> http, Clock& clock);

}  // namespace belay
