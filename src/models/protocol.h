#pragma once
// models/protocol.h - a provider's wire format, without the wire: a request to bytes, bytes to a
// reply. Pure: nothing here waits, or asks for the time.
//
// Every request asks for a stream, whoever listens, so that the time between two tokens can be
// told from the time that an answer takes. Sources: the three APIs' own descriptions as of August
// 2026 (docs/models.md); what is not asked for there is not sent.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "belay/model.h"
#include "net/http_client.h"

namespace belay::models {

// Whom a model is asked of.
struct Server {
  std::string provider;  // "ollama", "openai" or "anthropic"
  std::string model;
  std::string url;  // without a slash at its end
  std::string key;  // may be empty
  std::optional<std::int64_t> max_output_tokens;
  std::optional<std::int64_t> context_tokens;

  // For errors: "The model ollama:llama3.2 at 127.0.0.1:11434"; no more of the address than that.
  std::string who() const;
};

// Reads an answer's body while it comes. An error ends it.
class ReplyDecoder {
 public:
  virtual ~ReplyDecoder() = default;
  virtual Result<Done> take(std::string_view bytes) = 0;
  // The body has ended. `unavailable` where its own end mark has not come.
  virtual Result<ModelReply> finish() = 0;
  // The end mark has come: what follows says nothing.
  virtual bool is_whole() const = 0;
};

struct DecoderOptions {
  std::size_t reply_bytes_max = 0;
  std::function<void(std::string_view)> on_text_delta;  // may be null
};

class Protocol {
 public:
  virtual ~Protocol() = default;
  // What asks for the answer: address, headers and body. `invalid` for what can't be said so.
  virtual Result<net::HttpRequest> encode(const ModelRequest& request) const = 0;
  // Outlived by the request and the protocol.
  virtual std::unique_ptr<ReplyDecoder> decoder(const ModelRequest& request,
                                                DecoderOptions options) const = 0;
  // What asks which models there are, and their names in the answer.
  virtual net::HttpRequest listing() const = 0;
  virtual std::vector<std::string> names_in(const Value& listing) const = 0;
};

std::unique_ptr<Protocol> ollama_protocol(Server server);
std::unique_ptr<Protocol> openai_protocol(Server server);
std::unique_ptr<Protocol> anthropic_protocol(Server server);

// The tools that a request lets the model call: none with ToolChoice::none.
const std::vector<Tool>& callable_tools(const ModelRequest& request);
// The name of the tool that a message of role tool has the result of; empty where nobody called it.
std::string_view called_tool(const ModelRequest& request, const Message& result);
// Tools as the servers want them that call each a function.
Value function_tools(const std::vector<Tool>& tools);
// An object for a call's arguments, whatever the model made of them.
Value arguments_object(const ToolCall& call);
// For a model that is told its schema in words besides.
std::string schema_in_words(const Value& schema);

// That member of each item of a list, where it is a text.
std::vector<std::string> texts_in(const Value& list, std::string_view member);

net::HttpRequest post_json(std::string url, const Value& body);
// The server's key, where it has one.
void add_bearer(const Server& server, net::HttpRequest& http);

}  // namespace belay::models
