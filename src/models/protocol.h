#pragma once
// models/protocol.h - a provider's wire format: encodes a request and decodes the reply. Pure: no
// function waits or reads a clock.
//
// Every request asks for a stream, even if no caller reads the deltas, so that the timeout between
// two tokens can differ from the timeout of the whole reply. Sources: the API descriptions of the
// three providers as of August 2026 (docs/models.md); no other members are sent.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "belay/model.h"
#include "net/http_client.h"

namespace belay::models {

// A model, and the server that is called for it.
struct Server {
  std::string provider;  // "ollama", "openai" or "anthropic"
  std::string model;
  std::string url;  // without a trailing slash
  std::string key;  // can be empty
  std::optional<std::int64_t> max_output_tokens;
  std::optional<std::int64_t> context_tokens;

  // For errors: "The model ollama:llama3.2 at 127.0.0.1:11434", without the rest of the URL, which
  // can contain a password.
  std::string who() const;
};

// Decodes the body of a response while it is received. Must not be used again when a call has
// failed.
class ReplyDecoder {
 public:
  virtual ~ReplyDecoder() = default;
  virtual Result<Done> take(std::string_view bytes) = 0;
  // Returns the reply after the body has ended. Fails with `unavailable` if the protocol's end mark
  // is missing.
  virtual Result<ModelReply> finish() = 0;
  // Returns whether the end mark has been received; the caller ignores the rest of the body.
  virtual bool is_whole() const = 0;
};

struct DecoderOptions {
  std::size_t reply_bytes_max = 0;
  std::function<void(std::string_view)> on_text_delta;  // can be null
};

class Protocol {
 public:
  virtual ~Protocol() = default;
  // Returns the HTTP request with URL, headers and body. Fails with `invalid` if the protocol
  // cannot express the request.
  virtual Result<net::HttpRequest> encode(const ModelRequest& request) const = 0;
  // The request and the protocol must outlive the decoder.
  virtual std::unique_ptr<ReplyDecoder> decoder(const ModelRequest& request,
                                                DecoderOptions options) const = 0;
  // The request for the names of the available models, and the names in its response.
  virtual net::HttpRequest listing() const = 0;
  virtual std::vector<std::string> names_in(const Value& listing) const = 0;
};

std::unique_ptr<Protocol> ollama_protocol(Server server);
std::unique_ptr<Protocol> openai_protocol(Server server);
std::unique_ptr<Protocol> anthropic_protocol(Server server);

// Returns the tools that the model can call: none with ToolChoice::none.
const std::vector<ToolDefinition>& callable_tools(const ModelRequest& request);
// Returns the name of the tool whose result a message of role `tool` contains; empty if the request
// has no such call.
std::string_view called_tool(const ModelRequest& request, const Message& result);
// Returns the tools in the format {"type": "function", "function": {...}}.
Value function_tools(const std::vector<ToolDefinition>& tools);
// Returns the arguments of a call as an object, even if the model wrote something else.
Value arguments_object(const ToolCall& call);
// Returns the schema as an instruction, for a provider that needs it in the prompt as well.
std::string schema_in_words(const Value& schema);

// Returns that member of each item of the list, if it is a string.
std::vector<std::string> texts_in(const Value& list, std::string_view member);

// Returns the JSON text of a request's body, with "messages" as its last member. As long as the
// other members are the same, the body of a longer conversation begins with the bytes of the
// shorter one, except for the two characters that end it: a provider's prompt cache compares
// prefixes.
std::string body_with_messages(Value::Object others, const Value& messages);
net::HttpRequest post_json(std::string url, std::string body);
// Adds the server's key as a bearer token, if the server has a key.
void add_bearer(const Server& server, net::HttpRequest& http);

}  // namespace belay::models
