// Decoding of responses in OpenAI's protocol, and of wrong ones. The formats are those of OpenAI,
// llama.cpp, vLLM and gateways in front of them.

#include "tests/support/decode_fixture.h"

namespace belay::models {
namespace {

std::string event(const std::string& data) { return "data: " + data + "\n\n"; }

std::string delta(const std::string& members, const std::string& reason = "null") {
  return event(R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":)"
               R"(1,"model":"gpt-5-2026","choices":[{"index":0,"delta":{)" +
               members + R"(},"logprobs":null,"finish_reason":)" + reason + R"(}],"usage":null})");
}

std::string says(const std::string& text) { return delta("\"content\":\"" + text + "\""); }

std::string calls(const std::string& list) { return delta("\"tool_calls\":" + list); }

const std::string first = delta(R"("role":"assistant","content":"")");
const std::string stop = delta("", "\"stop\"");
const std::string called = delta("", "\"tool_calls\"");
const std::string usage = event(R"({"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":9,)"
                                R"("completion_tokens":4,"total_tokens":13,)"
                                R"("prompt_tokens_details":{"cached_tokens":2}}})");
const std::string end = event("[DONE]");
const std::string odd = "\xEF\xBF\xBD";

TEST(OpenAi, AnswersWithText) {
  expect_all(
      "openai",
      {
          {"text", first + says("Hel") + says("lo") + stop + usage + end,
           "complete \"Hello\" 9/4 cached 2"},
          {"more cached tokens than input tokens",
           first + stop +
               event(R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,)"
                     R"("prompt_tokens_details":{"cached_tokens":10}}})") +
               end,
           "complete \"\" 9/4 cached 9"},
          {"no usage", first + says("Hello") + stop + end, "complete \"Hello\""},
          {"content that is null first",
           delta(R"("role":"assistant","content":null)") + says("Hi") + stop + end,
           "complete \"Hi\""},
          {"content in parts",
           delta(R"("content":[{"type":"text","text":"a"},{"type":"image"},{)"
                 R"("type":"text","text":"b"}])") +
               stop + end,
           "complete \"ab\""},
          {"CRLF, comments, no space",
           ": hello\r\n\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n" + end,
           "complete \"a\""},
          {"data in two lines",
           "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"a\"}}]}\n\n" + end,
           "complete \"a\""},
          {"reasoning is not the answer",
           delta(R"("reasoning_content":"hm")") + delta(R"("reasoning":"hm")") + says("a") + stop +
               end,
           "complete \"a\""},
          {"cut by its length", says("a") + delta("", "\"length\"") + end, "length \"a\""},
          {"filtered", says("a") + delta("", "\"content_filter\"") + end, "refused \"a\""},
          {"refused",
           delta(R"("refusal":"I can't ")") + delta(R"("refusal":"do that.")") + stop + end,
           "refused \"I can't do that.\""},
      });
}

TEST(OpenAi, AnswersWithCalls) {
  expect_all(
      "openai",
      {
          {"a call in pieces",
           first +
               calls(R"([{"index":0,"id":"c1","type":"function","function":{"name":)"
                     R"("weather","arguments":""}}])") +
               calls(R"([{"index":0,"function":{"arguments":"{\"ci"}}])") +
               calls(R"([{"index":0,"function":{"arguments":"ty\":\"Oslo\"}"}}])") + called +
               usage + end,
           "tool_calls \"\" weather#c1{\"city\":\"Oslo\"} 9/4 cached 2"},
          {"two calls in pieces, in turn",
           calls(R"([{"index":0,"id":"c1","function":{"name":"a","arguments":"{)"
                 R"("}},{"index":1,"id":"c2","function":{"name":"b","arguments":"{)"
                 R"("}}])") +
               calls(R"([{"index":1,"function":{"arguments":"}"}}])") +
               calls(R"([{"index":0,"function":{"arguments":"}"}}])") + called + end,
           "tool_calls \"\" a#c1{} b#c2{}"},
          {"a call that comes whole",
           calls(R"([{"index":0,"id":"c1","function":{"name":"a","arguments":"{)"
                 R"(\"n\":1}"}}])") +
               called + end,
           "tool_calls \"\" a#c1{\"n\":1}"},
          {"the id with every piece",
           calls(R"([{"index":0,"id":"c1","function":{"name":"a","arguments":"{)"
                 R"(\"n\""}}])") +
               calls(R"([{"index":0,"id":"c1","function":{"name":"a","arguments":":)"
                     R"(1}"}}])") +
               called + end,
           "tool_calls \"\" a#c1{\"n\":1}"},
          {"another id with every piece",
           calls(R"([{"index":0,"id":"c1","function":{"name":"a","arguments":"{)"
                 R"(\"n\""}}])") +
               calls(R"([{"index":0,"id":"c2","function":{"arguments":":1}"}}])") + called + end,
           "tool_calls \"\" a#c1{\"n\":1}"},
          {"whole calls that are all number 0",
           calls(R"([{"index":0,"id":"c1","function":{"name":"a","arguments":"{)"
                 R"(}"}}])") +
               calls(R"([{"index":0,"id":"c2","function":{"name":"a","arguments":"{)"
                     R"(}"}}])") +
               called + end,
           "tool_calls \"\" a#c1{} a#c2{}"},
      });
}

TEST(OpenAi, AnswersWithCallsWithoutNumbers) {
  expect_all(
      "openai",
      {
          {"calls without numbers",
           calls(R"([{"id":"c1","function":{"name":"a","arguments":"{"}}])") +
               calls(R"([{"function":{"arguments":"}"}}])") +
               calls(R"([{"id":"c2","function":{"name":"b","arguments":"{}"}}])") + called + end,
           "tool_calls \"\" a#c1{} b#c2{}"},
          {"calls without numbers and ids",
           calls(R"([{"function":{"name":"a","arguments":"{}"}},{"function":{)"
                 R"("name":"b","arguments":"{}"}}])") +
               called + end,
           "tool_calls \"\" a#call_2{} b#call_3{}"},
          {"an id that has been",
           calls(R"([{"index":0,"id":"call_1","function":{"name":"a"}}])") + called + end,
           "tool_calls \"\" a#call_2{}"},
          {"an id that is null",
           calls(R"([{"index":0,"id":null,"function":{"name":"a","arguments":)"
                 R"(null}}])") +
               called + end,
           "tool_calls \"\" a#call_2{}"},
          {"arguments as an object",
           calls(R"([{"index":0,"id":"c1","function":{"name":"a","arguments":{"n":)"
                 R"(1}}}])") +
               called + end,
           "tool_calls \"\" a#c1{\"n\":1}"},
          {"arguments that are no object",
           calls(R"([{"index":0,"id":"c1","function":{"name":"a","arguments":)"
                 R"("[1]"}}])") +
               called + end,
           "tool_calls \"\" a#c1\"[1]\""},
      });
}

TEST(OpenAi, AnswersWithCallsAsOddAsTheyCome) {
  expect_all(
      "openai",
      {
          {"arguments with a lone surrogate",
           calls(R"([{"index":0,"id":"c1","function":{"name":"a","arguments":"{)"
                 R"(\"t\":\"\\ud800\"}"}}])") +
               called + end,
           "tool_calls \"\" a#c1{\"t\":\"" + odd + "\"}"},
          {"arguments with a number beyond all",
           calls(R"([{"index":0,"id":"c1","function":{"name":"a","arguments":"{)"
                 R"(\"n\":1e999}"}}])") +
               called + end,
           "tool_calls \"\" a#c1\"{\\\"n\\\":1e999}\""},
          {"stop though it calls",
           says("a") +
               calls(R"([{"index":0,"id":"c1","function":{"name":"a","arguments":"{)"
                     R"(}"}}])") +
               stop + end,
           "tool_calls \"a\" a#c1{}"},
          {"calls, but none", says("a") + called + end, "complete \"a\""},
          {"function_call", says("a") + delta("", "\"function_call\"") + end, "complete \"a\""},
          {"calls of an answer that was cut",
           calls(R"([{"index":0,"id":"c1","function":{"name":"a","arguments":"{)"
                 R"(}"}}])") +
               delta("", "\"length\"") + end,
           "length \"\""},
      });
}

TEST(OpenAi, AnswersWithWhatNobodyAskedFor) {
  expect_all("openai",
             {
                 {"unknown members and choices",
                  event(R"({"x":1,"choices":[{"index":0,"delta":{"content":"a","z":{}}},{)"
                        R"("index":1,"delta":{"content":"b"}}]})") +
                      end,
                  "complete \"a\""},
                 {"an event without choices", event(R"({"x-groq":{"id":"1"}})") + says("a") + end,
                  "complete \"a\""},
                 {"lone surrogates and NULs", says("a\\ud83d\\u0000") + end,
                  "complete \"a" + odd + odd + "\""},
                 {"bytes that are no UTF-8", says("\xC3\x28") + end, "complete \"" + odd + "(\""},
                 {"counts that can't be",
                  says("a") +
                      event(R"({"choices":[],"usage":{"prompt_tokens":1e300,)"
                            R"("completion_tokens":4}})") +
                      end,
                  "complete \"a\""},
                 {"what follows the end", says("a") + end + says("b"), "complete \"a\""},
             });
}

TEST(OpenAi, FailsWithoutAnEnd) {
  expect_all("openai",
             {
                 {"no end", first + says("a") + stop + usage, "unavailable"},
                 {"calls, and no end",
                  calls(R"([{"index":0,"id":"c1","function":{"name":"a","arguments":"{)"
                        R"(}"}}])") +
                      called,
                  "unavailable"},
                 {"nothing", "", "unavailable"},
                 {"an end that no empty line has ended", says("a") + "data: [DONE]", "unavailable"},
                 {"an error",
                  says("a") + event(R"({"error":{"message":"The server had an error","type":)"
                                    R"("server_error","code":null}})"),
                  "unavailable"},
                 {"an error that repeating does not mend",
                  event(R"({"error":{"message":"too long","type":)"
                        R"("exceed_context_size_error"}})"),
                  "invalid"},
                 {"no JSON", event("{\"choices\":"), "unavailable"},
                 {"a page", "<html><body>Hello</body></html>\n", "unavailable"},
                 {"a number beyond all", event("{\"x\":-1e400}"), "unavailable"},
                 {"a line that is too long", "data: " + std::string(test_answer_bytes_max, 'x'),
                  "exhausted"},
                 {"more text than there may be",
                  says(std::string(1'200, 'x')) + says(std::string(1'200, 'x')) + end, "exhausted"},
                 {"more arguments than there may be",
                  calls(R"([{"index":0,"function":{"name":"a","arguments":")" +
                        std::string(1'200, 'x') + "\"}}]") +
                      calls(R"([{"index":0,"function":{"arguments":")" + std::string(1'200, 'x') +
                            "\"}}]") +
                      end,
                  "exhausted"},
             });
}

TEST(OpenAi, AsksForSoManyCallsAndNoMore) {
  std::string body;
  for (int i = 0; i < 1'024; ++i) {
    body += calls("[{\"index\":" + std::to_string(i) + ",\"function\":{\"name\":\"a\"}}]");
  }
  EXPECT_EQ(decoded(test_server("openai"), body + end, body.size())->tool_calls.size(), 1'024u);
  body += calls("[{\"index\":1024,\"function\":{\"name\":\"a\"}}]");
  EXPECT_EQ(decoded(test_server("openai"), body + end, body.size()).error().code,
            ErrorCode::exhausted);
}

TEST(OpenAi, IsNotTakenAtHalfAWord) {
  std::string body = first + says("Hello") +
                     calls(R"([{"index":0,"id":"c1","function":{"name":"a","arguments":"{)"
                           R"(}"}}])") +
                     called + usage + end;
  expect_cut_off("openai", body, body.size());
}

TEST(OpenAi, NamesTheModelThatAnswered) {
  EXPECT_EQ(decoded(test_server("openai"), says("a") + end, 1'000)->model, "gpt-5-2026");
  std::string name(300, 'm');
  EXPECT_EQ(decoded(test_server("openai"), event("{\"model\":\"" + name + "\"}") + end, 999)->model,
            "m-1");
}

}  // namespace
}  // namespace belay::models
