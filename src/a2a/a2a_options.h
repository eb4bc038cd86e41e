#pragma once
// a2a/a2a_options.h - the settings of the routes of A2A, and the routes.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "belay/http.h"
#include "conversation/conversation.h"
#include "server/routes.h"

namespace belay::a2a {

struct A2aOptions {
  conversation::Conversations conversations = conversation::Conversations();
  // The address of this server in cards, "https://agents.example.com"; empty: that of the request.
  std::string public_url = {};
  bool has_tls = false;            // the scheme of an address that is that of the request
  std::string default_agent = {};  // whose card is that of the server; empty: not chosen
  // Sends push notifications; its policy decides on their addresses. Null: they are not supported.
  std::shared_ptr<HttpAccess> http = nullptr;
  // How long SendMessage waits until the task ends or requires input. Then it returns the task as
  // it is, and the task continues.
  std::chrono::milliseconds answer_within{300'000};
  // The number of runs that ListTasks reads at most: a list over more of them is refused.
  std::size_t listed_max = 10'000;
};

// POST /a2a/{agent}, and the cards. `world` must outlive the routes.
std::vector<server::Route> a2a_routes(server::ApiContext& world, A2aOptions options);
// The collections of the records of this API, for `belay check`.
std::vector<std::string> collections();

}  // namespace belay::a2a
