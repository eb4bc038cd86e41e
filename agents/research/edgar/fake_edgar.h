#pragma once
// agents/research/edgar/fake_edgar.h - FakeEdgar: a server on loopback that has the objects of the
// SEC's servers, or responds as a script states. For tests.

#include <memory>
#include <string>
#include <vector>

namespace belay::research {

struct ServedObject {
  std::string status = "200 OK";
  std::string body{};
  std::string headers{};  // each with "\r\n" at its end
  // The connection is closed after this part of the body, if `holds` by the client.
  std::size_t cut_at = std::string::npos;
  bool holds = false;
};

class FakeEdgar {
 public:
  FakeEdgar();
  FakeEdgar(const FakeEdgar&) = delete;
  FakeEdgar& operator=(const FakeEdgar&) = delete;
  ~FakeEdgar();

  std::string url() const;

  // Sets the response to a path after its script. An object with an ETag in its headers is
  // confirmed with 304 if the request has that ETag; others are 404.
  void has(const std::string& path, ServedObject object);
  // Adds a response, before those of the object.
  void responds(const std::string& path, ServedObject object);

  // The requests with their headers.
  std::vector<std::string> requests() const;
  // Their paths.
  std::vector<std::string> paths() const;
  void clear_requests();

 private:
  class Server;
  const std::unique_ptr<Server> server_;
};

}  // namespace belay::research
