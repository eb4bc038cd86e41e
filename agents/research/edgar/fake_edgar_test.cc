// The server of the tests, and its own behaviour.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <mutex>

#include "agents/research/edgar/edgar_fixture.h"
#include "tests/support/scripted_server.h"

namespace belay::research {

class FakeEdgar::Server {
 public:
  Server() : server_([this](net::Peer& peer, int) { serve(peer); }) {}

  std::string url() const { return server_.url(""); }
  void has(const std::string& path, ServedObject object) {
    std::lock_guard held(mutex_);
    objects_[path] = std::move(object);
  }
  void responds(const std::string& path, ServedObject object) {
    std::lock_guard held(mutex_);
    scripts_[path].push_back(std::move(object));
  }
  std::vector<std::string> requests() {
    std::lock_guard held(mutex_);
    return requests_;
  }
  void clear_requests() {
    std::lock_guard held(mutex_);
    requests_.clear();
  }
  static std::string path_of(const std::string& request) {
    std::size_t begin = request.find(' ') + 1;
    return request.substr(begin, request.find(' ', begin) - begin);
  }

 private:
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
      bool is_sent = peer.send(head + object.body.substr(0, object.cut_at));
      if (is_sent && object.holds) peer.sees_the_end();
      if (!is_sent || is_cut) return;
    }
  }

  std::map<std::string, ServedObject> objects_;
  std::map<std::string, std::deque<ServedObject>> scripts_;
  std::mutex mutex_;
  std::vector<std::string> requests_;  // guarded by mutex_, as the maps are
  net::ScriptedServer server_;         // last: it uses all members above
};

FakeEdgar::FakeEdgar() : server_(std::make_unique<Server>()) {}
FakeEdgar::~FakeEdgar() = default;

std::string FakeEdgar::url() const { return server_->url(); }
void FakeEdgar::has(const std::string& path, ServedObject object) {
  server_->has(path, std::move(object));
}
void FakeEdgar::responds(const std::string& path, ServedObject object) {
  server_->responds(path, std::move(object));
}
std::vector<std::string> FakeEdgar::requests() const { return server_->requests(); }
std::vector<std::string> FakeEdgar::paths() const {
  std::vector<std::string> paths;
  for (const std::string& request : requests()) paths.push_back(Server::path_of(request));
  return paths;
}
void FakeEdgar::clear_requests() { server_->clear_requests(); }

namespace {

TEST(FakeEdgar, FollowsItsScriptThenItsObjects) {
  FakeEdgar edgar;
  edgar.responds("/a", {"500 Internal Server Error"});
  edgar.has("/a", {"200 OK", "text", "ETag: \"1\"\r\n"});
  auto loop = make_event_loop();
  auto http = http_for(edgar);
  auto status = [&](const std::string& path, const std::string& etag) {
    HttpCall call{.url = edgar.url() + path};
    if (!etag.empty()) call.headers = {{"If-None-Match", etag}};
    return block_on(*loop, http->send(std::move(call))).value().status;
  };
  EXPECT_EQ(status("/a", ""), 500);
  EXPECT_EQ(status("/a", ""), 200);
  EXPECT_EQ(status("/a", "\"1\""), 304);
  EXPECT_EQ(status("/a", "\"2\""), 200);
  EXPECT_EQ(status("/b", ""), 404);
  EXPECT_EQ(edgar.paths().size(), 5u);
}

}  // namespace
}  // namespace belay::research
