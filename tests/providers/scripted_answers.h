#pragma once
// tests/providers/scripted_answers.h - the responses of the scripted server, as bytes and pauses
//
// They follow the three providers' protocols, correctly or with deliberate errors. The name of the
// requested model selects the script:
//   plain                 a text; a tool call if tools are given; JSON if a schema is given
//   busy-seconds, -ms, -date   at first 429 with that form of Retry-After; then as plain
//   overloaded, broken    at first 529 or 500; then as plain
//   no-key, no-credit, gone, bad     401, a permanent 429, 404, 400
//   hang, hang-midway     no further data, immediately or after a chunk
//   cut-midway, error-midway   the connection ends, or an error arrives, after a chunk
//   split, drip           every byte separately; slowly
//   garbage, html, flood  invalid JSON; a page; text without end
// A request for another model gets the response that it does not exist; one whose conversation
// violates a rule of history_rules.h gets 400.

#include <map>
#include <optional>
#include <string>

#include "tests/providers/speech.h"

namespace belay::providers {

struct Asked {
  std::string method;
  std::string path;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string text;                            // of the body
  Value body;                                  // null if there is none
  int times = 1;                               // how often this model has been requested
};

Told answer_to(const Asked& asked);

// Returns the error for a request that violates the provider's protocol; nullopt if the provider
// would accept it.
std::optional<Told> refusal_of(const Asked& asked, Provider provider);

}  // namespace belay::providers
