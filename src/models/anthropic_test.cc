// Decoding of Anthropic's responses, and of wrong ones.

#include "tests/support/decode_fixture.h"

namespace belay::models {
namespace {

std::string event(const std::string& name, const std::string& members) {
  return "event: " + name + "\ndata: {\"type\":\"" + name + "\"" + (members.empty() ? "" : ",") +
         members + "}\n\n";
}

const std::string start =
    event("message_start", R"("message":{"id":"msg_1","type":"message","role":"assistant",)"
                           R"("model":"claude-x","content":[],"stop_reason":null,"usage":{)"
                           R"("input_tokens":20,"cache_creation_input_tokens":3,)"
                           R"("cache_read_input_tokens":2,"output_tokens":1}})");
const std::string text_block =
    event("content_block_start", R"("index":0,"content_block":{"type":"text","text":""})");
const std::string block_stop = event("content_block_stop", R"("index":0)");
const std::string end = event("message_stop", "");
const std::string odd = "\xEF\xBF\xBD";

std::string says(const std::string& text) {
  return event("content_block_delta",
               R"("index":0,"delta":{"type":"text_delta","text":")" + text + "\"}");
}

std::string call(int index, const std::string& rest) {
  return event("content_block_start", "\"index\":" + std::to_string(index) +
                                          ",\"content_block\":{\"type\":\"tool_use\"" + rest + "}");
}

std::string arguments(int index, const std::string& piece) {
  return event("content_block_delta",
               "\"index\":" + std::to_string(index) +
                   R"(,"delta":{"type":"input_json_delta","partial_json":")" + piece + "\"}");
}

std::string stops(const std::string& reason) {
  return event("message_delta", R"("delta":{"stop_reason":")" + reason +
                                    R"(","stop_sequence":null},"usage":{"output_tokens":7})");
}

TEST(Anthropic, AnswersWithText) {
  expect_all(
      "anthropic",
      {
          {"text",
           start + text_block + event("ping", "") + says("Hel") + says("lo") + block_stop +
               stops("end_turn") + end,
           "complete \"Hello\" 25/7 cached 2"},
          {"two blocks of text",
           start + text_block + says("a") + block_stop + text_block + says("b") +
               stops("end_turn") + end,
           "complete \"ab\" 25/7 cached 2"},
          {"text that a block begins with",
           start +
               event("content_block_start",
                     R"("index":0,"content_block":{"type":"text","text":"a"})") +
               says("b") + end,
           "complete \"ab\" 25/1 cached 2"},
          {"counts that grow are not added up",
           start + stops("end_turn") +
               event("message_delta",
                     R"("delta":{},"usage":{"input_tokens":30,"output_tokens":9})") +
               end,
           "complete \"\" 30/9"},
          {"a stop sequence", start + says("a") + stops("stop_sequence") + end,
           "complete \"a\" 25/7 cached 2"},
          {"cut by its length", start + says("a") + stops("max_tokens") + end,
           "length \"a\" 25/7 cached 2"},
          {"cut by its window", start + says("a") + stops("model_context_window_exceeded") + end,
           "length \"a\" 25/7 cached 2"},
          {"refused", start + says("a") + stops("refusal") + end, "refused \"a\" 25/7 cached 2"},
          {"a reason of next year", start + says("a") + stops("bored") + end,
           "complete \"a\" 25/7 cached 2"},
          {"thinking is not the answer",
           start +
               event("content_block_start",
                     R"("index":0,"content_block":{"type":"thinking","thinking":"",)"
                     R"("signature":""})") +
               event("content_block_delta",
                     R"("index":0,"delta":{"type":"thinking_delta","thinking":"hm"})") +
               event("content_block_delta",
                     R"("index":0,"delta":{"type":"signature_delta","signature":"x"})") +
               says("a") + end,
           "complete \"a\" 25/1 cached 2"},
      });
}

TEST(Anthropic, AnswersWithCalls) {
  expect_all(
      "anthropic",
      {
          {"a call in pieces",
           start + says("Let me see.") + call(1, R"(,"id":"toolu_1","name":"weather","input":{})") +
               arguments(1, "") + arguments(1, "{\\\"city\\\"") + arguments(1, ":\\\"Oslo\\\"}") +
               event("content_block_stop", "\"index\":1") + stops("tool_use") + end,
           "tool_calls \"Let me see.\" weather#toolu_1{\"city\":\"Oslo\"} 25/7 cached 2"},
          {"a call without arguments",
           start + call(0, R"(,"id":"t1","name":"now","input":{})") + block_stop +
               stops("tool_use") + end,
           "tool_calls \"\" now#t1{} 25/7 cached 2"},
          {"a call without input, as llama.cpp begins it",
           start + call(0, R"(,"id":"t1","name":"now")") + arguments(0, "{}") + stops("tool_use") +
               end,
           "tool_calls \"\" now#t1{} 25/7 cached 2"},
          {"a call whose input comes whole",
           start + call(0, R"(,"id":"t1","name":"a","input":{"n":1})") + stops("tool_use") + end,
           "tool_calls \"\" a#t1{\"n\":1} 25/7 cached 2"},
          {"two calls",
           start + call(0, R"(,"id":"t1","name":"a")") + arguments(0, "{}") +
               call(1, R"(,"id":"t1","name":"b")") + arguments(1, "{\\\"n\\\":2}") +
               stops("tool_use") + end,
           "tool_calls \"\" a#t1{} b#call_2{\"n\":2} 25/7 cached 2"},
          {"arguments that are no JSON",
           start + call(0, R"(,"id":"t1","name":"a")") + arguments(0, "{oops") + stops("tool_use") +
               end,
           "tool_calls \"\" a#t1\"{oops\" 25/7 cached 2"},
          {"arguments of no call", start + arguments(4, "{}") + says("a") + end,
           "complete \"a\" 25/1 cached 2"},
          {"calls of an answer that was cut",
           start + call(0, R"(,"id":"t1","name":"a")") + arguments(0, "{}") + stops("max_tokens") +
               end,
           "length \"\" 25/7 cached 2"},
          {"a tool of the server's own",
           start +
               event("content_block_start",
                     R"("index":0,"content_block":{"type":"server_tool_use","id":"s",)"
                     R"("name":"web_search"})") +
               arguments(0, "{}") + says("a") + stops("pause_turn") + end,
           "complete \"a\" 25/7 cached 2"},
      });
}

TEST(Anthropic, AnswersWithWhatNobodyAskedFor) {
  expect_all(
      "anthropic",
      {
          {"unknown events", start + event("message_thought", R"("x":1)") + says("a") + end,
           "complete \"a\" 25/1 cached 2"},
          {"no names of events",
           "data: "
           "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
           "\"text\":\"a\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
           "complete \"a\""},
          {"CRLF", "event: message_stop\r\ndata: {\"type\":\"message_stop\"}\r\n\r\n",
           "complete \"\""},
          {"lone surrogates and NULs", start + says("\\udc00\\u0000a") + end,
           "complete \"" + odd + odd + "a\" 25/1 cached 2"},
          {"counts that can't be",
           event("message_start",
                 R"("message":{"usage":{"input_tokens":-4,"output_tokens":1e99}})") +
               says("a") + end,
           "complete \"a\""},
          {"what follows the end", start + says("a") + end + says("b"),
           "complete \"a\" 25/1 cached 2"},
      });
}

TEST(Anthropic, FailsWithoutAnEnd) {
  expect_all(
      "anthropic",
      {
          {"no end", start + text_block + says("a") + block_stop + stops("end_turn"),
           "unavailable"},
          {"a call, and no end",
           start + call(0, R"(,"id":"t1","name":"a")") + arguments(0, "{}") + stops("tool_use"),
           "unavailable"},
          {"nothing", "", "unavailable"},
          {"overloaded",
           start + says("a") +
               event("error", R"("error":{"type":"overloaded_error","message":"Overloaded"})"),
           "unavailable"},
          {"an error that repeating does not mend",
           event("error", R"("error":{"type":"invalid_request_error","message":"x"})"), "invalid"},
          {"an error that says nothing", event("error", ""), "unavailable"},
          {"an error of llama.cpp's that repeating does not mend",
           start + says("a") +
               "event: error\ndata: {\"code\":400,\"message\":\"the request exceeds the context "
               "size\",\"type\":\"exceed_context_size_error\",\"n_ctx\":256}\n\n",
           "invalid"},
          {"no JSON", "event: ping\ndata: pong\n\n", "unavailable"},
          {"more text than there may be",
           start + says(std::string(1'100, 'x')) + says(std::string(1'100, 'x')) + end,
           "exhausted"},
      });
}

TEST(Anthropic, TellsWhatLlamaCppsErrorSays) {
  std::string body = start + says("a") +
                     "event: error\ndata: {\"code\":500,\"message\":\"the grammar failed\","
                     "\"type\":\"server_error\"}\n\n" +
                     end;
  auto reply = decoded(test_server("anthropic"), body, body.size());
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  EXPECT_NE(reply.error().message.find("(server_error): the grammar failed"), std::string::npos)
      << reply.error().message;
}

TEST(Anthropic, IsNotTakenAtHalfAWord) {
  std::string body = start + says("Hello") + call(1, R"(,"id":"t1","name":"a")") +
                     arguments(1, "{}") + stops("tool_use") + end;
  expect_cut_off("anthropic", body, body.size());
}

}  // namespace
}  // namespace belay::models
