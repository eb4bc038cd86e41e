#include "mcp/json_rpc.h"

#include <gtest/gtest.h>

namespace belay::mcp {
namespace {

TEST(JsonRpc, WritesMessagesInOneLine) {
  Value params = Value::object({{"text", "a\nb"}});
  EXPECT_EQ(request_text(Value(1), "tools/call", params),
            R"({"id":1,"jsonrpc":"2.0","method":"tools/call","params":{"text":"a\nb"}})");
  EXPECT_EQ(notification_text("notifications/initialized", Value()),
            R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_EQ(result_text(Value("x"), Value(Value::Object())),
            R"({"id":"x","jsonrpc":"2.0","result":{}})");
  EXPECT_EQ(fault_text(Value(2), method_not_found, "no"),
            R"({"error":{"code":-32601,"message":"no"},"id":2,"jsonrpc":"2.0"})");
}

TEST(JsonRpc, ReadsEachKindOfMessage) {
  auto request = parse_message(R"({"jsonrpc":"2.0","id":"a","method":"ping"})").value();
  EXPECT_EQ(request.kind, MessageKind::request);
  EXPECT_EQ(request.id, Value("a"));
  auto notice = parse_message(R"({"jsonrpc":"2.0","method":"n","params":{"a":1}})").value();
  EXPECT_EQ(notice.kind, MessageKind::notification);
  EXPECT_EQ(notice.params["a"], Value(1));
  auto result = parse_message(R"({"jsonrpc":"2.0","id":7,"result":{"ok":true}})").value();
  EXPECT_EQ(result.kind, MessageKind::result);
  EXPECT_EQ(result.id, Value(7));
  auto fault =
      parse_message(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"a\nb"}})")
          .value();
  EXPECT_EQ(fault.kind, MessageKind::fault);
  EXPECT_EQ(fault.fault.code, -32000);
  EXPECT_EQ(fault.fault.message.find('\n'), std::string::npos);
}

TEST(JsonRpc, ReplacesTextThatCannotBeStored) {
  auto message = parse_message("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"\\u0000\xff\"}}");
  EXPECT_EQ(message.value().result["a"], Value("\xEF\xBF\xBD\xEF\xBF\xBD"));
}

TEST(JsonRpc, RefusesEverythingElse) {
  const char* malformed[] = {
      "",
      "hello",
      "7",
      "[]",
      R"([{"jsonrpc":"2.0","method":"ping","id":1}])",
      R"({"method":"ping","id":1})",
      R"({"jsonrpc":"1.0","method":"ping","id":1})",
      R"({"jsonrpc":"2.0"})",
      R"({"jsonrpc":"2.0","method":7})",
      R"({"jsonrpc":"2.0","method":""})",
      R"({"jsonrpc":"2.0","method":"a","params":7})",
      R"({"jsonrpc":"2.0","method":"a","id":null})",
      R"({"jsonrpc":"2.0","method":"a","id":1.5})",
      R"({"jsonrpc":"2.0","method":"a","id":{}})",
      R"({"jsonrpc":"2.0","id":1,"result":7})",
      R"({"jsonrpc":"2.0","id":null,"result":{}})",
      R"({"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}})",
      R"({"jsonrpc":"2.0","id":1,"error":{"code":"x","message":""}})",
      R"({"jsonrpc":"2.0","id":1,"error":{"code":1}})",
      R"({"jsonrpc":"2.0","id":1,"error":"no"})"};
  for (const char* text : malformed) {
    auto message = parse_message(text);
    ASSERT_FALSE(message.ok()) << text;
    EXPECT_EQ(message.error().code, ErrorCode::invalid) << text;
  }
  EXPECT_FALSE(parse_message(std::string(200, '[') + std::string(200, ']')).ok());
}

}  // namespace
}  // namespace belay::mcp
