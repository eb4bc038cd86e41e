#pragma once
// real_server/llama_server.h - llama.cpp's llama-server as a child process on a free loopback port
//
// It serves the model of bigram_model.h.

#include <memory>
#include <string>

#include "net/http_client.h"
#include "tests/cli/belay_process.h"

namespace belay::providers {

class LlamaServer {
 public:
  // The server's name of its model.
  static constexpr const char* kModel = "bigrams";

  // Starts `program` with additional arguments and waits until it has loaded its model.
  explicit LlamaServer(const std::string& program, const cli::tests::Words& more = {});

  // False if it ended or did not start in time; log() contains the reason.
  bool is_up() const { return is_up_; }
  std::string url(const std::string& path = "") const;
  // Returns its output so far.
  std::string log() const;
  // Kills it with SIGKILL.
  void kill() { process_.reset(); }

  // Returns whether its only slot is processing a request.
  bool is_busy() { return slot()["is_processing"] == Value(true); }
  // Returns the number of tokens in its slot: the last prompt, and the reply so far.
  std::int64_t tokens_held() { return slot()["n_prompt_tokens"].as_int().value_or(-1); }
  // Returns a counter of GET /metrics over all requests so far, such as "tokens_predicted_total";
  // -1 if there is none.
  std::int64_t counter(const std::string& name);

 private:
  int status_of(const std::string& path, std::string& body);
  // Returns the slot as GET /slots describes it.
  Value slot();
  bool comes_up();

  cli::tests::TempFolder folder_;
  int port_ = 0;
  bool is_up_ = false;
  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<cli::tests::Belay> process_;
};

}  // namespace belay::providers
