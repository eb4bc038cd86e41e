#pragma once
// tests/cli/sent_again.h - the requests that sent_again_test.cc sends twice.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/cli/served.h"

namespace belay::cli::tests {

struct Sent {
  std::string method = "POST";
  std::string path;
  std::string body = "{}";
  std::vector<net::HttpHeader> headers = {};
};

using Prepare = std::function<Sent(Served&)>;

// One request: its preparation and its expected responses.
struct Case {
  std::string operation;
  Prepare prepare;
  std::set<int> statuses = {200};  // of the first request
  std::set<int> again = {200};     // and of the repeated request
  // Members of the response that may differ between a first and a later request.
  std::set<std::string> except = {};
};

inline Prepare as_it_is(Sent sent) {
  return [sent = std::move(sent)](Served&) { return sent; };
}
inline Prepare at(std::string path, std::string body = "{}") {
  return as_it_is({"POST", std::move(path), std::move(body)});
}

// Requests of LangGraph's checkpointer (agents/checkpointer), of its Agent Server, of A2A and
// AG-UI.
std::vector<Case> checkpointer_cases();
std::vector<Case> agent_server_cases();
std::vector<Case> a2a_cases();
std::vector<Case> ag_ui_cases();

}  // namespace belay::cli::tests
