#pragma once
// tests/providers/scripted_provider.h - a server that implements the scripts of scripted_answers.h
//
// It listens on a free loopback port and supports the protocols of Ollama, OpenAI and Anthropic. A
// test can use another function instead of the scripts.
// GET /seen returns {"requests", "closed"}: the number of requests, and the number of responses
// whose client closed the connection before the end.
//
// Threading: one thread per connection; all end with the object.

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "tests/providers/scripted_answers.h"
#include "tests/support/scripted_server.h"

namespace belay::providers {

class ScriptedProvider {
 public:
  // Called on the threads of the connections.
  using Answer = std::function<Told(const Asked&)>;
  explicit ScriptedProvider(Answer answer = answer_to);
  ScriptedProvider(const ScriptedProvider&) = delete;
  ScriptedProvider& operator=(const ScriptedProvider&) = delete;
  ~ScriptedProvider();

  int port() const { return port_; }
  std::string url(const std::string& path = "") const;
  // The number of responses whose client closed the connection before the end.
  int closed() const { return closed_; }

 private:
  void accept_all();
  void serve(int socket);
  // Returns false if the connection must not be used again.
  bool answer(net::Peer& peer, const Asked& asked);
  bool send_pieces(net::Peer& peer, const Told& told);
  int count(const Value& body);

  const Answer answer_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> is_ending_ = false;
  std::atomic<int> requests_ = 0;
  std::atomic<int> closed_ = 0;
  std::mutex mutex_;
  std::map<std::string, int> asked_for_;  // by model
  std::list<int> sockets_;                // of open connections
  std::list<std::thread> threads_;
  std::thread accepts_;  // last: it uses all members above
};

}  // namespace belay::providers
