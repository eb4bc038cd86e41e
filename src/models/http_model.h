#pragma once
// models/http_model.h - one model of one server, called over HTTP.

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
  // The clock must outlive it.
  HttpModel(Server server, std::shared_ptr<net::HttpClient> client, HttpModelOptions options,
            Clock& clock);

  Task<Result<ModelReply>> generate(ModelRequest request) override;
  std::optional<ModelPrice> price(const ModelRequest&) const override { return options_.price; }
  std::int64_t input_tokens_max(const ModelRequest& request) const override;

  Task<Result<std::vector<std::string>>> list();

 private:
  // Sends the request and returns the response when its headers report success; otherwise an error.
  Task<Result<net::HttpAnswer>> begin(net::HttpRequest request);
  Task<Result<ModelReply>> read(net::HttpAnswer& answer, ReplyDecoder& decoder);
  // Returns the error of a response whose content type is not a stream.
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
