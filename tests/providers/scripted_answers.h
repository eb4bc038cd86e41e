#pragma once
// tests/providers/scripted_answers.h - what the scripted server answers, as bytes and pauses: the
// three providers' protocols, well spoken or broken on purpose.
//
// The script is the name of the model that is asked for:
//   plain                 a text; a call where tools are given; JSON where a schema is
//   busy-seconds, -ms, -date   the first time 429 with that form of Retry-After; then as plain
//   overloaded, broken    the first time 529 or 500; then as plain
//   no-key, no-credit, gone, bad     401, 429 that repeating does not mend, 404, 400
//   hang, hang-midway     nothing more comes, at once or after a piece
//   cut-midway, error-midway   the connection ends, or an error comes, after a piece
//   split, drip           every byte by itself; slowly
//   garbage, html, flood  no JSON; a page; text without an end
// Who asks for another model is told that there is none.

#include <map>
#include <string>
#include <vector>

#include "belay/value.h"

namespace belay::providers {

struct Asked {
  std::string method;
  std::string path;
  std::map<std::string, std::string> headers;  // names in lower case
  Value body;                                  // null where there is none
  int times = 1;                               // how often this model has been asked for
};

enum class Then { end, hang, cut, repeat };  // repeat: the last piece, until nobody reads

struct Told {
  int status = 200;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::vector<std::string> pieces = {};  // a chunk each
  bool is_slow = false;
  Then then = Then::end;
};

Told answer_to(const Asked& asked);

}  // namespace belay::providers
