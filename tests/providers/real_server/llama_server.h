#pragma once
// real_server/llama_server.h - llama.cpp's llama-server as a child process on a free loopback port,
// with the model of bigram_model.h.

#include <memory>
#include <string>

#include "net/http_client.h"
#include "tests/cli/belay_process.h"

namespace belay::providers {

class LlamaServer {
 public:
  // The name that the server gives its model.
  static constexpr const char* kModel = "bigrams";

  // Starts `program`, with more words on its command line, and waits until it has read its model.
  explicit LlamaServer(const std::string& program, const cli::tests::Words& more = {});

  // False where it ended, or did not come up; log() says why.
  bool is_up() const { return is_up_; }
  std::string url(const std::string& path = "") const;
  // What it has told of itself so far.
  std::string log() const;
  // The end of it, by SIGKILL.
  void kill() { process_.reset(); }

  // Whether its only slot is at work.
  bool is_busy() { return slot()["is_processing"] == Value(true); }
  // How many tokens its slot has: what it was asked last, and what it said so far.
  std::int64_t tokens_held() { return slot()["n_prompt_tokens"].as_int().value_or(-1); }
  // A counter of GET /metrics, "tokens_predicted_total" say: of all requests so far. -1: it has
  // none.
  std::int64_t counter(const std::string& name);

 private:
  int status_of(const std::string& path, std::string& body);
  // As GET /slots describes it.
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
