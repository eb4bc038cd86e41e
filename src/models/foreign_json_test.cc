// Untrusted JSON: each text of the JSON corpus, valid and invalid, decoded by each protocol as a
// response, as one event of a stream and as the arguments of a tool call.

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/decode_fixture.h"

namespace belay::models {
namespace {

std::vector<std::string> foreign_texts() {
  std::vector<std::string> texts;
  for (const auto& each : std::filesystem::directory_iterator(BELAY_JSON_CORPUS)) {
    std::ostringstream text;
    text << std::ifstream(each.path(), std::ios::binary).rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

// Returns the text as one event, as one line, and as a response that is not a stream.
std::vector<std::string> answers_with(const std::string& provider, const std::string& text) {
  if (provider == "ollama") return {text, text + "\n"};
  return {text, "data: " + text + "\n\n", "event: message_start\ndata: " + text + "\n\n",
          "event: error\ndata: " + text + "\n\n"};
}

// Expects a reply whose text can be stored, or an error of one line.
void expect_sound(const Result<ModelReply>& reply, const std::string& body) {
  if (reply.ok()) {
    EXPECT_FALSE(first_invalid_utf8(reply->text)) << body;
    return;
  }
  EXPECT_FALSE(first_invalid_utf8(reply.error().message)) << body;
  EXPECT_EQ(reply.error().message.find('\n'), std::string::npos) << body;
  EXPECT_LT(reply.error().message.size(), 2'000u) << body;
}

TEST(ForeignJson, OfNoModelIsMoreThanAnErrorOrAReply) {
  std::size_t tried = 0;
  for (const std::string& text : foreign_texts()) {
    for (const char* provider : {"ollama", "openai", "anthropic"}) {
      Server server = test_server(provider);
      for (const std::string& body : answers_with(provider, text)) {
        expect_sound(decoded(server, body, body.size() + 1), body);
        expect_sound(decoded(server, body, 7), body);
        tried += 2;
      }
    }
  }
  EXPECT_GT(tried, 10'000u);
}

}  // namespace
}  // namespace belay::models
