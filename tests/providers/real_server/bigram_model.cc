// real_server/bigram_model.cc - see bigram_model.h.

#include "tests/providers/real_server/bigram_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "belay/result.h"
#include "tests/providers/real_server/gguf_file.h"

namespace belay::providers {
namespace {

constexpr int byte_count = 256;

// The kinds of tokens in llama.cpp's numbering.
constexpr std::int32_t normal_token = 1;
constexpr std::int32_t control_token = 3;
constexpr std::int32_t user_defined_token = 4;

// Special tokens. The last three end a prompt; llama.cpp must not recognise their names, because it
// treats some, such as <|calls|>, as the end of a reply.
constexpr std::string_view turn_begins = "<|im_start|>";
constexpr std::string_view turn_ends = "<|im_end|>";
constexpr std::string_view call_begins = "<tool_call>";
constexpr std::string_view call_ends = "</tool_call>";
constexpr std::string_view says = "<|in_words|>";
constexpr std::string_view by_a_call = "<|by_a_call|>";
constexpr std::string_view goes_on = "<|on_and_on|>";
constexpr std::array specials = {turn_begins, turn_ends, call_begins, call_ends,
                                 says,        by_a_call, goes_on};

// The training text. JSON has other words than the sentences, so that neither continues as the
// other; a quotation mark after a space opens a text, and one without a space ends it.
constexpr std::array sentences = {
    "The ship left the harbour before the wind turned.",
    "A small boat can wait for the tide. The tide comes twice a day.",
    "Somebody in Malm\xC3\xB6 keeps the lamp burning.",
    "The wind turned at noon and the boat came home.",
    "Nobody keeps a lamp burning at noon. A lamp can wait.",
    "The harbour in Malm\xC3\xB6 was quiet before the ship came home.",
    "A day in the harbour is long. The day was quiet and the tide was small.",
};
constexpr std::array documents = {
    R"({ "summary": "slow walk", "riskLevel": 3, "keyInsights": [ "warm soup", "slow tea"],)"
    R"( "assessed": true, "language": "en"})",
    R"({ "summary": "warm soup", "riskLevel": 8, "keyInsights": [ "early sleep"],)"
    R"( "assessed": true, "language": "en"})",
    R"({ "activities": [ { "time": "07:30", "activity": "slow walk", "expectedBenefit":)"
    R"( "early sleep"}, { "time": "12:15", "activity": "warm tea", "expectedBenefit":)"
    R"( "slow walk"}]})",
    R"({ "activities": [ { "time": "21:00", "activity": "early soup", "expectedBenefit":)"
    R"( "warm sleep"}], "unplaced": [ { "activity": "slow tea", "reason": "early walk"}]})",
};
constexpr std::string_view call_text =
    "\n{\"name\": \"weather\", \"arguments\": { \"city\": \"Malm\xC3\xB6\"}}\n";

// The weight of a pair that is not in the training text: far below the threshold of any sampler if
// there is another pair.
constexpr double unread = 1e-7;
// The weight of JSON at the start of a reply, which is therefore selected only if a schema permits
// nothing else.
constexpr double rarely = 1e-3;

constexpr std::uint32_t head_size = 32;
constexpr float norm_epsilon = 1e-6F;

constexpr const char* chat_template = R"({%- if tools %}
{{- '<|im_start|>system\nThe tools:' }}
{%- for tool in tools %}{{- '\n' }}{{- tool | tojson }}{%- endfor %}
{{- '<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
{{- '<|im_start|>' + message.role }}
{%- if message.content %}{{- '\n' + message.content }}{%- endif %}
{%- if message.tool_calls %}
{%- for tool_call in message.tool_calls %}
{{- '\n<tool_call>\n{"name": "' }}{{- tool_call.function.name }}
{{- '", "arguments": ' }}{{- tool_call.function.arguments | tojson }}{{- '}\n</tool_call>' }}
{%- endfor %}
{%- endif %}
{{- '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\n' }}
{%- if tools and messages[-1].role != 'tool' %}{{- '<|by_a_call|>' }}
{%- elif messages[-1].content and 'without end' in messages[-1].content %}{{- '<|on_and_on|>' }}
{%- else %}{{- '<|in_words|>' }}
{%- endif %}
{%- endif %})";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Returns the word at the beginning of `text`, with the space before it; empty if there is none. A
// letter without a space is not a word; the openings of a text and of a call are.
std::string_view word_at(std::string_view text) {
  if (text.starts_with(" \"") || text.starts_with("\n{")) return text.substr(0, 2);
  std::size_t begin = text.starts_with(' ') ? 1 : 0;
  std::size_t end = begin;
  while (end < text.size() && is_letter(text[end])) ++end;
  return end > begin && end >= 2 ? text.substr(0, end) : std::string_view();
}

std::string utf8(int code_point) {
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  return {static_cast<char>(0xC0 | (code_point >> 6)), static_cast<char>(0x80 | (code_point & 63))};
}

// Returns the text for a byte in GPT-2's vocabularies: itself if it is printable, else a code point
// from 256 on.
std::string written(unsigned char byte) {
  auto is_seen = [](int b) {
    return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || (b >= 174 && b <= 255);
  };
  if (is_seen(byte)) return utf8(byte);
  int before = 0;
  for (int other = 0; other < byte; ++other) before += is_seen(other) ? 0 : 1;
  return utf8(byte_count + before);
}

std::string written(std::string_view text) {
  std::string out;
  for (char c : text) out += written(static_cast<unsigned char>(c));
  return out;
}

class Bigrams {
 public:
  Bigrams() {
    for (std::string_view text : sentences) add_words(text);
    for (std::string_view text : documents) add_words(text);
    add_words(call_text);
    add_words(" tick tock");
    for (std::string_view special : specials) add(special);
    for (std::string_view text : sentences) read(says, text, turn_ends);
    for (std::string_view text : documents) read("", text, turn_ends);
    count(id(says), '{', rarely);
    read(by_a_call, "", call_begins);
    read(call_begins, call_text, call_ends);
    read(call_ends, "", turn_ends);
    read(goes_on, " tick tock tick", "");
  }

  int size() const { return byte_count + static_cast<int>(ids_.size()); }
  int id(std::string_view token) const { return ids_.at(std::string(token)); }

  // Returns the logarithms of the probabilities of the tokens after `token`.
  std::vector<double> following(int token) const {
    std::vector<double> counts(static_cast<std::size_t>(size()), 0.0);
    double sum = 0;
    for (auto pair = counts_.lower_bound({token, 0});
         pair != counts_.end() && pair->first.first == token; ++pair) {
      counts[static_cast<std::size_t>(pair->first.second)] = pair->second;
      sum += pair->second;
    }
    for (double& one : counts) one = std::log(std::max(sum > 0 ? one / sum : 0.0, unread));
    return counts;
  }

  // Returns the texts and kinds of the tokens, by id.
  void list(std::vector<std::string>& texts, std::vector<std::int32_t>& kinds) const {
    texts.resize(static_cast<std::size_t>(size()));
    kinds.assign(texts.size(), normal_token);
    for (int byte = 0; byte < byte_count; ++byte) {
      texts[static_cast<std::size_t>(byte)] = written(static_cast<unsigned char>(byte));
    }
    for (const auto& [token, number] : ids_)
      texts[static_cast<std::size_t>(number)] = written(token);
    for (std::string_view special : specials) {
      bool is_said = special == call_begins || special == call_ends;
      kinds[static_cast<std::size_t>(id(special))] = is_said ? user_defined_token : control_token;
    }
  }

 private:
  void add(std::string_view token) { ids_.emplace(token, size()); }
  void add_words(std::string_view text) {
    while (!text.empty()) {
      std::string_view word = word_at(text);
      if (!word.empty()) add(word);
      text.remove_prefix(word.empty() ? 1 : word.size());
    }
  }
  void count(int token, int next, double times) { counts_[{token, next}] += times; }
  void read(std::string_view first, std::string_view text, std::string_view last) {
    int before = first.empty() ? -1 : id(first);
    auto take = [&](int token) {
      if (before >= 0) count(before, token, 1);
      before = token;
    };
    while (!text.empty()) {
      std::string_view word = word_at(text);
      take(word.empty() ? static_cast<unsigned char>(text.front()) : id(word));
      text.remove_prefix(word.empty() ? 1 : word.size());
    }
    if (!last.empty()) take(id(last));
  }

  std::map<std::string, int> ids_;  // of all tokens except the bytes, whose id is their value
  std::map<std::pair<int, int>, double> counts_;
};

void add_vocabulary(const Bigrams& bigrams, GgufFile& file) {
  std::vector<std::string> texts;
  std::vector<std::int32_t> kinds;
  bigrams.list(texts, kinds);
  file.set_text("tokenizer.ggml.model", "gpt2");
  file.set_text("tokenizer.ggml.pre", "gpt-2");
  file.set_texts("tokenizer.ggml.tokens", texts);
  file.set_numbers("tokenizer.ggml.token_type", kinds);
  // A list of merges is required; prompts are tokenized byte by byte except for this pair.
  file.set_texts("tokenizer.ggml.merges", {"t o"});
  auto end = static_cast<std::uint32_t>(bigrams.id(turn_ends));
  file.set_number("tokenizer.ggml.eos_token_id", end);
  file.set_number("tokenizer.ggml.bos_token_id", end);
  file.set_number("tokenizer.ggml.padding_token_id", end);
  file.set_truth("tokenizer.ggml.add_bos_token", false);
  file.set_text("tokenizer.chat_template", chat_template);
}

void add_shape(std::uint32_t width, GgufFile& file) {
  file.set_text("general.architecture", "llama");
  file.set_text("general.name", "bigrams");
  file.set_number("llama.context_length", kContextTokens);
  file.set_number("llama.embedding_length", width);
  file.set_number("llama.block_count", 1);
  file.set_number("llama.feed_forward_length", head_size);
  file.set_number("llama.attention.head_count", 1);
  file.set_number("llama.attention.head_count_kv", 1);
  file.set_number("llama.attention.key_length", head_size);
  file.set_number("llama.attention.value_length", head_size);
  file.set_number("llama.rope.dimension_count", head_size);
  file.set_float("llama.attention.layer_norm_rms_epsilon", norm_epsilon);
}

void add_block(std::uint64_t width, GgufFile& file) {
  auto zeros = [&](const char* name, std::uint64_t from, std::uint64_t to) {
    file.add_tensor(std::string("blk.0.") + name + ".weight", {from, to},
                    std::vector<float>(from * to, 0.0F));
  };
  auto ones = [&](const char* name) {
    file.add_tensor(std::string("blk.0.") + name + ".weight", {width},
                    std::vector<float>(width, 1.0F));
  };
  ones("attn_norm");
  zeros("attn_q", width, head_size);
  zeros("attn_k", width, head_size);
  zeros("attn_v", width, head_size);
  zeros("attn_output", head_size, width);
  ones("ffn_norm");
  zeros("ffn_gate", width, head_size);
  zeros("ffn_up", width, head_size);
  zeros("ffn_down", head_size, width);
}

}  // namespace

std::string bigram_model() {
  Bigrams bigrams;
  auto tokens = static_cast<std::uint64_t>(bigrams.size());
  std::uint64_t width = (tokens + head_size - 1) / head_size * head_size;
  std::vector<float> embeddings(width * tokens, 0.0F);
  std::vector<float> outputs(width * tokens, 0.0F);
  // The norm before the output scales a one-hot row to this length.
  double length = std::sqrt(static_cast<double>(width));
  for (std::uint64_t token = 0; token < tokens; ++token) {
    embeddings[token * width + token] = 1.0F;
    std::vector<double> next = bigrams.following(static_cast<int>(token));
    for (std::uint64_t other = 0; other < tokens; ++other) {
      outputs[other * width + token] = static_cast<float>(next[other] / length);
    }
  }
  GgufFile file;
  add_shape(static_cast<std::uint32_t>(width), file);
  add_vocabulary(bigrams, file);
  file.add_tensor("token_embd.weight", {width, tokens}, std::move(embeddings));
  add_block(width, file);
  file.add_tensor("output_norm.weight", {width}, std::vector<float>(width, 1.0F));
  file.add_tensor("output.weight", {width, tokens}, std::move(outputs));
  return file.bytes();
}

}  // namespace belay::providers
