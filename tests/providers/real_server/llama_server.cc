// real_server/llama_server.cc - see llama_server.h.

#include "tests/providers/real_server/llama_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/providers/real_server/bigram_model.h"

namespace belay::providers {
namespace {

constexpr int looks_max = 6'000;
constexpr std::chrono::milliseconds between_looks{50};

// Returns a free port. If another process takes it first, the server ends.
int free_port() {
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  BELAY_ASSERT(socket >= 0 && ::bind(socket, any, size) == 0 &&
               ::getsockname(socket, any, &size) == 0);
  ::close(socket);
  return ntohs(address.sin_port);
}

Task<Result<std::string>> fetch(net::HttpClient& client, std::string url, int& status) {
  net::HttpRequest request;
  request.url = std::move(url);
  auto answer = co_await client.begin(std::move(request));
  if (!answer.ok()) co_return std::move(answer).error();
  status = answer->status();
  co_return co_await answer->read_all();
}

// Returns whether the process has ended; it can still be waited for.
bool has_ended(pid_t process) {
  siginfo_t info{};
  auto id = static_cast<id_t>(process);
  return ::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == process;
}

}  // namespace

LlamaServer::LlamaServer(const std::string& program, const cli::tests::Words& more)
    : port_(free_port()) {
  net::HttpClientOptions options;
  options.proxy = "";
  client_ = net::HttpClient::open(std::move(options)).value();
  std::string model = folder_.file("bigrams.gguf");
  std::ofstream(model, std::ios::binary) << bigram_model();
  // The output goes into a file, because no thread reads a pipe; `exec` replaces the shell by the
  // server.
  cli::tests::Words words{"-c", "exec \"$@\" >\"$LOG\" 2>&1", "sh", program};
  for (const char* word : {"--host", "127.0.0.1", "--parallel", "1", "--threads", "1", "--slots",
                           "--metrics", "--jinja", "--alias", kModel}) {
    words.push_back(word);
  }
  words.insert(words.end(), {"--port", std::to_string(port_), "--model", model});
  words.insert(words.end(), more.begin(), more.end());
  cli::tests::Setting setting;
  setting.binary = "/bin/sh";
  setting.environment["LOG"] = folder_.file("log");
  setting.environment["HOME"] = folder_.path();
  process_ = std::make_unique<cli::tests::Belay>(words, setting);
  is_up_ = comes_up();
}

bool LlamaServer::comes_up() {
  for (int look = 0; look < looks_max && !has_ended(process_->process()); ++look) {
    std::string body;
    if (status_of("/health", body) == 200) return true;
    std::this_thread::sleep_for(between_looks);
  }
  return false;
}

std::string LlamaServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::string LlamaServer::log() const {
  std::ostringstream text;
  text << std::ifstream(folder_.file("log")).rdbuf();
  return std::move(text).str();
}

int LlamaServer::status_of(const std::string& path, std::string& body) {
  int status = 0;
  auto got = block_on(*loop_, fetch(*client_, url(path), status));
  if (!got.ok()) return 0;
  body = *std::move(got);
  return status;
}

Value LlamaServer::slot() {
  std::string body;
  if (status_of("/slots", body) != 200) return {};
  Value slots = parse_json(body).value_or(Value());
  const Value::Array* all = slots.as_array();
  return all && !all->empty() ? all->front() : Value();
}

std::int64_t LlamaServer::counter(const std::string& name) {
  std::string body;
  if (status_of("/metrics", body) != 200) return -1;
  std::string line = "\nllamacpp:" + name + " ";
  std::size_t at = body.find(line);
  return at == body.npos ? -1 : std::strtoll(body.c_str() + at + line.size(), nullptr, 10);
}

}  // namespace belay::providers
