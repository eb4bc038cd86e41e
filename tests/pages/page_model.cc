// The language model of the pages that `follow` executes: a server with the protocols of Ollama and
// OpenAI, whose replies are in a file. Prints its address, and serves until the end of its standard
// input.
//
//     page_model replies.json
//
// The file is a list of conversations: {"question": TEXT, "replies": [REPLY...]}. A request belongs
// to the first one whose question is part of its last message of the user, and gets the reply of
// its number of results after that message: {"text": TEXT}, or {"call": TOOL, "arguments": {...}}.

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "belay/value.h"
#include "tests/providers/scripted_provider.h"

namespace belay::providers {
namespace {

std::string string_in(const Value& value) {
  const std::string* text = value.as_string();
  return text ? *text : std::string();
}

// Returns the reply for a conversation; null if the file has none.
const Value* reply_for(const Value& replies, const Value& body) {
  const Value::Array* messages = body["messages"].as_array();
  const Value::Array* conversations = replies.as_array();
  if (!messages || !conversations) return nullptr;
  std::string question;
  std::size_t results = 0;
  for (const Value& message : *messages) {
    std::string role = string_in(message["role"]);
    if (role == "tool") ++results;
    if (role != "user") continue;
    question = string_in(message["content"]);
    results = 0;
  }
  for (const Value& conversation : *conversations) {
    if (question.find(string_in(conversation["question"])) == question.npos) continue;
    const Value::Array* all = conversation["replies"].as_array();
    return all && results < all->size() ? &(*all)[results] : nullptr;
  }
  return nullptr;
}

Told reply_to(const Value& replies, const Asked& asked) {
  std::string path = asked.path.substr(0, asked.path.find('?'));
  if (path == "/api/tags") {
    Value model = Value::object({{"name", "llama3.2:latest"}, {"model", "llama3.2:latest"}});
    Told told;
    told.pieces = {to_json(Value::object({{"models", Value::Array{std::move(model)}}}))};
    return told;
  }
  auto provider = provider_of(path);
  if (!provider) return refusal(Provider::openai, 404, "not_found_error", "Nothing is there.");
  if (auto fault = refusal_of(asked, *provider)) return *std::move(fault);
  const Value* reply = reply_for(replies, asked.body);
  if (!reply) {
    std::cerr << "page_model: no reply to " << asked.text << "\n";
    return refusal(*provider, 400, "invalid_request_error", "The file has no reply to this.");
  }
  Speech speech;
  if (const std::string* text = (*reply)["text"].as_string()) {
    speech.words = {*text};
  } else {
    speech.calls = {{*provider == Provider::ollama ? "" : "call_1", string_in((*reply)["call"]),
                     to_json((*reply)["arguments"])}};
  }
  return told(*provider, asked.body, speech);
}

}  // namespace
}  // namespace belay::providers

int main(int argc, char** argv) {
  std::ostringstream text;
  if (argc == 2) text << std::ifstream(argv[1]).rdbuf();
  auto replies = belay::parse_json(text.str());
  if (!replies.ok()) {
    std::cerr << "page_model: no list of replies: " << replies.error().message << "\n";
    return 2;
  }
  belay::providers::ScriptedProvider provider([&](const belay::providers::Asked& asked) {
    return belay::providers::reply_to(*replies, asked);
  });
  std::printf("%s\n", provider.url().c_str());
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
}
