// Decoding of Ollama's responses, and of wrong ones.

#include "tests/support/decode_fixture.h"

namespace belay::models {
namespace {

std::string says(const std::string& text) {
  return R"({"model":"llama3.2","created_at":"2026-08-21T10:00:00Z",)"
         R"("message":{"role":"assistant","content":")" +
         text + "\"},\"done\":false}\n";
}

std::string calls(const std::string& list) {
  return R"({"model":"llama3.2","message":{"role":"assistant","content":)"
         R"("","tool_calls":)" +
         list + "},\"done\":false}\n";
}

std::string done(const std::string& more = R"(,"prompt_eval_count":26,"eval_count":5)") {
  return R"({"model":"llama3.2","message":{"role":"assistant","content":)"
         R"(""},"done":true)" +
         more + "}\n";
}

const std::string odd = "\xEF\xBF\xBD";

TEST(Ollama, AnswersWithText) {
  expect_all(
      "ollama",
      {
          {"text", says("Hel") + says("lo \\u00e9\xC3\xA9") + done(),
           "complete \"Hello \xC3\xA9\xC3\xA9\" 26/5"},
          {"no line end behind the last", says("Hi") + R"({"done":true,"done_reason":"stop"})",
           "complete \"Hi\""},
          {"CRLF and empty lines", "\r\n" + says("Hi") + "\r\n" + done(), "complete \"Hi\" 26/5"},
          {"nothing said", done(), "complete \"\" 26/5"},
          {"cut by its length", says("Hi") + done(R"(,"done_reason":"length")"), "length \"Hi\""},
          {"loaded only", done(R"(,"done_reason":"load")"), "complete \"\""},
          {"input that was not counted", says("Hi") + done(R"(,"eval_count":5)"),
           "complete \"Hi\""},
          {"thinking is not the answer",
           R"({"message":{"role":"assistant","content":"","thinking":"hm"},)"
           R"("done":false})"
           "\n" +
               says("Hi") + done(),
           "complete \"Hi\" 26/5"},
          {"content that is null",
           R"({"message":{"role":"assistant","content":null},"done":false})"
           "\n" +
               done(),
           "complete \"\" 26/5"},
      });
}

TEST(Ollama, AnswersWithCalls) {
  expect_all(
      "ollama",
      {
          {"a call with an id",
           calls(R"([{"id":"c9","function":{"index":0,"name":"weather",)"
                 R"("arguments":{"city":"Oslo"}}}])") +
               done(R"(,"done_reason":"stop")"),
           "tool_calls \"\" weather#c9{\"city\":\"Oslo\"}"},
          {"calls without ids, beside one that has been",
           calls(R"([{"function":{"name":"a","arguments":{}}},{"function":{"name":)"
                 R"("b","arguments":{"n":1}}}])") +
               done(),
           "tool_calls \"\" a#call_2{} b#call_3{\"n\":1} 26/5"},
          {"calls with one id",
           calls(R"([{"id":"x","function":{"name":"a","arguments":{}}},{"id":"x",)"
                 R"("function":{"name":"a","arguments":{}}}])") +
               done(),
           "tool_calls \"\" a#x{} a#call_2{} 26/5"},
          {"arguments as a text",
           calls(R"([{"id":"x","function":{"name":"a","arguments":"{\"n\":2}"}}])") + done(),
           "tool_calls \"\" a#x{\"n\":2} 26/5"},
          {"arguments that are no JSON",
           calls(R"([{"id":"x","function":{"name":"a","arguments":"{n"}}])") + done(),
           "tool_calls \"\" a#x\"{n\" 26/5"},
          {"a call without a name", calls(R"([{"id":"x"}])") + done(),
           "tool_calls \"\" unnamed#x{} 26/5"},
          {"calls of an answer that was cut",
           calls(R"([{"id":"x","function":{"name":"a"}}])") + done(R"(,"done_reason":"length")"),
           "length \"\""},
      });
}

TEST(Ollama, AnswersWithWhatNobodyAskedFor) {
  expect_all(
      "ollama",
      {
          {"lone surrogates and NULs", says("a\\ud83d\\u0000b") + done(),
           "complete \"a" + odd + odd + "b\" 26/5"},
          {"bytes that are no UTF-8",
           says("a\xFF"
                "b") +
               done(),
           "complete \"a" + odd + "b\" 26/5"},
          {"counts that can't be", says("a") + done(R"(,"prompt_eval_count":-1,"eval_count":9e18)"),
           "complete \"a\""},
          {"counts that are none", says("a") + done(R"(,"prompt_eval_count":"3","eval_count":{})"),
           "complete \"a\""},
          {"unknown members",
           R"({"x":[1,{}],"message":{"content":"a","y":1},"done":false})"
           "\n" +
               done(),
           "complete \"a\" 26/5"},
          {"what follows the end", says("a") + done() + says("b") + "garbage\n",
           "complete \"a\" 26/5"},
      });
}

TEST(Ollama, FailsWithoutAnEnd) {
  expect_all(
      "ollama",
      {
          {"no end", says("a"), "unavailable"},
          {"nothing", "", "unavailable"},
          {"an error",
           says("a") + "{\"error\":\"an error was encountered while running the model\"}\n",
           "unavailable"},
          {"an error as the last line, without its end", says("a") + "{\"error\":\"gone\"}",
           "unavailable"},
          {"no JSON", says("a") + "<html>\n", "unavailable"},
          {"a number beyond all", "{\"done\":false,\"x\":1e999}\n", "unavailable"},
          {"no object", "[]\n", "unavailable"},
          {"deep nesting", std::string(500, '[') + "\n", "unavailable"},
          {"a line that is too long", std::string(test_answer_bytes_max + 1, 'x'), "exhausted"},
          {"more text than there may be",
           says(std::string(1'500, 'x')) + says(std::string(501, 'x')) + done(), "exhausted"},
      });
}

TEST(Ollama, IsNotTakenAtHalfAWord) {
  std::string body =
      says("Hello") + calls(R"([{"function":{"name":"a","arguments":{}}}])") + done();
  // The reply is complete at the last closing brace; the line end after it is optional.
  expect_cut_off("ollama", body, body.size() - 1);
}

TEST(Ollama, NamesTheModelThatAnswered) {
  EXPECT_EQ(decoded(test_server("ollama"), done(), 1'000)->model, "llama3.2");
  EXPECT_EQ(decoded(test_server("ollama"), "{\"done\":true}\n", 1'000)->model, "m-1");
}

}  // namespace
}  // namespace belay::models
