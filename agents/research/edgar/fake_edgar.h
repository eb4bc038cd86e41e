#pragma once
// agents/research/edgar/fake_edgar.h - FakeEdgar: a server on loopback that has the objects of the
// SEC's servers, or responds as a script states. For tests.

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/scripted_server.h"

namespace belay::research {

struct ServedObject {
  std::string status = "200 OK";
  std::string body{};
  std::string headers{};                   // each with "\r\n" at its end
  std::size_t cut_at = std::string::npos;  // the connection is closed after this part of the body
};

class FakeEdgar {
 public:
  FakeEdgar() : server_([this](net::Peer& peer, int) { serve(peer); }) {}

  std::string url() const { return server_.url(""); }

  // Sets the response to a path after its script. An object with an ETag in its headers is
  // confirmed with 304 if the request has that ETag.
  void has(const std::string& path, ServedObject object) {
    std::lock_guard held(mutex_);
    objects_[path] = std::move(object);
  }
  // Adds a response, before those of the object.
  void responds(const std::string& path, ServedObject object) {
    std::lock_guard held(mutex_);
    scripts_[path].push_back(std::move(object));
  }

  // The requests with their headers.
  std::vector<std::string> requests() {
    std::lock_guard held(mutex_);
    return requests_;
  }
  // Their paths.
  std::vector<std::string> paths() {
    std::vector<std::string> paths;
    for (const std::string& request : requests()) paths.push_back(path_of(request));
    return paths;
  }
  void forget_requests() {
    std::lock_guard held(mutex_);
    requests_.clear();
  }

 private:
  static std::string path_of(const std::string& request) {
    std::size_t begin = request.find(' ') + 1;
    return request.substr(begin, request.find(' ', begin) - begin);
  }

  ServedObject next_for(const std::string& path) {
    auto script = scripts_.find(path);
    if (script != scripts_.end() && !script->second.empty()) {
      ServedObject next = std::move(script->second.front());
      script->second.pop_front();
      return next;
    }
    auto object = objects_.find(path);
    return object == objects_.end() ? ServedObject{"404 Not Found", "<Error>NoSuchKey</Error>"}
                                    : object->second;
  }

  static bool has_copy(const std::string& request, const ServedObject& object) {
    std::size_t begin = object.headers.find("ETag: ");
    if (begin == std::string::npos) return false;
    std::string etag =
        object.headers.substr(begin + 6, object.headers.find('\r', begin) - begin - 6);
    return request.find("If-None-Match: " + etag + "\r\n") != std::string::npos;
  }

  void serve(net::Peer& peer) {
    while (true) {
      std::string request = peer.request();
      if (request.empty()) return;
      ServedObject object;
      {
        std::lock_guard held(mutex_);
        requests_.push_back(request);
        object = next_for(path_of(request));
      }
      if (has_copy(request, object)) object = {"304 Not Modified", "", object.headers};
      std::string head = "HTTP/1.1 " + object.status + "\r\n" + object.headers +
                         "Content-Length: " + std::to_string(object.body.size()) + "\r\n\r\n";
      bool is_cut = object.cut_at < object.body.size();
      if (!peer.send(head + object.body.substr(0, object.cut_at)) || is_cut) return;
    }
  }

  std::map<std::string, ServedObject> objects_;
  std::map<std::string, std::deque<ServedObject>> scripts_;
  std::mutex mutex_;
  std::vector<std::string> requests_;  // guarded by mutex_, as the maps are
  net::ScriptedServer server_;         // last: it uses all members above
};

}  // namespace belay::research
