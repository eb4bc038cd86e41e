#pragma once
// tests/support/decode_fixture.h - test support: decodes a response body in fragments of several
// sizes and describes the reply in one line.

#include <gtest/gtest.h>

#include "models/http_model.h"

namespace belay::models {

struct DecodeCase {
  const char* about;
  std::string body;
  // The expected line_of(): `complete "text" weather#id{"city":"Oslo"} 3/5`, or an error code.
  std::string comes_to;
};

inline std::string line_of(const Result<ModelReply>& reply) {
  if (!reply.ok()) return std::string(name_of(reply.error().code));
  static constexpr const char* ends[] = {"complete", "length", "tool_calls", "refused"};
  std::string line =
      std::string(ends[static_cast<int>(reply->stop_reason)]) + " \"" + reply->text + "\"";
  for (const ToolCall& call : reply->tool_calls) {
    line += " " + call.name + "#" + call.id + to_json(call.arguments);
  }
  if (reply->usage) {
    line += " " + std::to_string(reply->usage->input_tokens) + "/" +
            std::to_string(reply->usage->output_tokens);
    if (reply->usage->cached_input_tokens > 0) {
      line += " cached " + std::to_string(reply->usage->cached_input_tokens);
    }
  }
  return line;
}

inline Server test_server(std::string provider) {
  Server server;
  server.provider = std::move(provider);
  server.model = "m-1";
  server.url = "http://127.0.0.1:1";
  return server;
}

constexpr std::size_t test_answer_bytes_max = 2'000;

// Decodes the body in fragments of `size` bytes, then ends the body.
inline Result<ModelReply> decoded(const Server& server, const std::string& body, std::size_t size,
                                  std::string* told = nullptr) {
  auto protocol = protocol_of(server);
  ModelRequest request;
  Message before{Role::assistant, ""};
  before.tool_calls = {{"call_1", "earlier", Value()}};
  request.messages = {before};
  DecoderOptions options;
  options.reply_bytes_max = test_answer_bytes_max;
  if (told) options.on_text_delta = [told](std::string_view piece) { told->append(piece); };
  auto decoder = protocol->decoder(request, std::move(options));
  for (std::size_t at = 0; at < body.size() && !decoder->is_whole(); at += size) {
    auto taken = decoder->take(std::string_view(body).substr(at, size));
    if (!taken.ok()) return taken.error();
  }
  return decoder->finish();
}

// Decodes each case as one fragment, in fragments of one byte and in fragments of three bytes.
inline void expect_all(const std::string& provider, const std::vector<DecodeCase>& cases) {
  Server server = test_server(provider);
  for (const DecodeCase& one : cases) {
    for (std::size_t size : {one.body.size() + 1, std::size_t{1}, std::size_t{3}}) {
      std::string told;
      auto reply = decoded(server, one.body, size, &told);
      EXPECT_EQ(line_of(reply), one.comes_to) << one.about << ", in pieces of " << size
                                              << (reply.ok() ? "" : "\n" + reply.error().message);
      if (reply.ok()) {
        EXPECT_EQ(told, reply->text) << one.about;
        EXPECT_EQ(reply->method, "language_model");
        EXPECT_EQ(reply->provider, provider);
      }
    }
  }
}

// Cuts off a body at each byte: `unavailable` before `whole_from` bytes, a reply from there on.
inline void expect_cut_off(const std::string& provider, const std::string& body,
                           std::size_t whole_from) {
  Server server = test_server(provider);
  for (std::size_t length = 0; length < whole_from; ++length) {
    auto reply = decoded(server, body.substr(0, length), length + 1);
    ASSERT_FALSE(reply.ok()) << length;
    EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  }
  for (std::size_t length = whole_from; length <= body.size(); ++length) {
    EXPECT_TRUE(decoded(server, body.substr(0, length), length + 1).ok()) << length;
  }
}

}  // namespace belay::models
