#pragma once
// server/cors.h - CrossOrigin: the web pages of other origins that can call the API (CORS).
//
// Without origins, a browser denies each page of another origin the responses of this server. The
// headers contain no permission for credentials: the API uses no cookies, and a page that has a key
// sends it as a header.
//
// Threading: immutable after its construction.

#include "http/message.h"

namespace belay::server {

class CrossOrigin {
 public:
  // Origins such as "https://chat.example.com" or "http://localhost:3000"; "*": any.
  explicit CrossOrigin(std::vector<std::string> origins);

  bool allows(std::string_view origin) const;
  // Returns the response if the request is the preflight request of a page that is allowed. It has
  // no key, and reaches no route.
  std::optional<http::Response> preflight(const http::Request& head) const;
  // Adds the headers for a request of this origin; none if it is not allowed.
  void add_headers(std::string_view origin, http::Response& response) const;

 private:
  std::vector<std::string> origins_;
  bool allows_any_ = false;
};

// Fails with `invalid`, naming the text, if one of them is neither an origin nor "*".
Result<Done> check_origins(const std::vector<std::string>& origins);

}  // namespace belay::server
