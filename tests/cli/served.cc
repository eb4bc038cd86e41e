#include "tests/cli/served.h"

namespace belay::cli::tests {

Task<Got> exchange(net::HttpClient& client, net::HttpRequest request) {
  Got got;
  auto begun = co_await client.begin(std::move(request));
  if (!begun.ok()) {
    got.error = begun.error().message;
    co_return got;
  }
  auto body = co_await begun->read_all();
  if (!body.ok()) {
    got.error = body.error().message;
    co_return got;
  }
  got.status = begun->status();
  got.type = begun->header("Content-Type");
  got.retry_after = begun->header("Retry-After");
  got.body = *std::move(body);
  co_return got;
}

Served::Served(const Setting& setting, Words more, int port) {
  net::HttpClientOptions options;
  options.proxy = "";
  client_ = net::HttpClient::open(std::move(options)).value();
  Words words{"serve", "--listen", "127.0.0.1:" + std::to_string(port)};
  words.insert(words.end(), more.begin(), more.end());
  process_ = std::make_unique<Belay>(words, setting);
  if (!process_->waits_to_say("Ctrl-C")) return;
  const std::string& said = process_->said();
  for (std::string listening : {"Listening on", "Escuchando en"}) {
    listening += " http://127.0.0.1:";
    std::size_t at = said.find(listening);
    if (at == said.npos) continue;
    port_ = static_cast<int>(std::strtol(said.c_str() + at + listening.size(), nullptr, 10));
  }
}

std::string Served::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

Got Served::send(const std::string& method, const std::string& path, const std::string& body,
                 std::vector<net::HttpHeader> headers) {
  net::HttpRequest request;
  request.method = method;
  request.url = url(path);
  request.body = body;
  request.headers = std::move(headers);
  if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
  return block_on(*loop_, exchange(*client_, std::move(request)));
}

Stream::Stream(Served& served, const std::string& path, const std::string& last) : served_(served) {
  net::HttpRequest request;
  request.url = served.url(path);
  request.headers = {{"Accept", "text/event-stream"}};
  if (!last.empty()) request.headers.push_back({"Last-Event-ID", last});
  auto begun = block_on(served.loop(), served.client().begin(std::move(request)));
  if (begun.ok() && begun->status() == 200) answer_.emplace(*std::move(begun));
}

bool Stream::reads(const std::string& text) {
  while (answer_ && text_.find(text) == std::string::npos) {
    auto piece = block_on(served_.loop(), answer_->read());
    if (!piece.ok() || piece->empty()) return false;
    text_ += *piece;
  }
  return answer_.has_value();
}

std::string Stream::last_id() const {
  std::size_t end = text_.rfind("\n\n");
  std::size_t begin = text_.rfind("id: ", end);
  if (end == text_.npos || begin == text_.npos) return "";
  return text_.substr(begin + 4, text_.find('\n', begin) - begin - 4);
}

}  // namespace belay::cli::tests
