#pragma once
// models/http_model.h - one model of one server: a protocol over the HTTP client.

#include "belay/models.h"
#include "models/protocol.h"

namespace belay::models {

struct HttpModelOptions {
  ModelTimeouts timeouts;
  std::size_t reply_bytes_max = 0;
  std::optional<ModelPrice> price;
  std::string error_hint;
};

class HttpModel final : public Model {
 public:
  // The clock outlives it.
  HttpModel(Server server, std::shared_ptr<net::HttpClient> client, HttpModelOptions options,
            Clock& clock);

  Task<Result<ModelReply>> generate(ModelRequest request) override;
  std::optional<ModelPrice> price(const ModelRequest&) const override { return options_.price; }
  std::int64_t input_tokens_max(const ModelRequest& request) const override;

  Task<Result<std::vector<std::string>>> list();

 private:
  // Sends it, and gives the answer once it has begun well.
  Task<Result<net::HttpAnswer>> begin(net::HttpRequest request);
  Task<Result<ModelReply>> read(net::HttpAnswer& answer, ReplyDecoder& decoder);
  // Of an answer that says it is no stream.
  Task<Error> not_a_stream(net::HttpAnswer& answer);
  Error advised(Error failed) const;

  const Server server_;
  const std::unique_ptr<Protocol> protocol_;
  const std::shared_ptr<net::HttpClient> client_;
  const HttpModelOptions options_;
  Clock& clock_;
};

std::unique_ptr<Protocol> protocol_of(const Server& server);

}  // namespace belay::models
