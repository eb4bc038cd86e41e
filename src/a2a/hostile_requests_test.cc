// Requests that are not acceptable: each one has an error, and starts nothing.

#include "tests/a2a/a2a_fixture.h"

namespace belay::a2a {
namespace {

struct A2aHostile : A2aFixture {
  Answered raw(const std::string& body) { return send(http_call(body)); }
  void TearDown() override {
    EXPECT_TRUE(all_runs().empty());
    A2aFixture::TearDown();
  }
};

TEST_F(A2aHostile, BodiesThatAreNoRequestsHaveTheErrorsOfJsonRpc) {
  EXPECT_EQ(fault_of(raw("{")), -32700);
  EXPECT_EQ(fault_of(raw("\xff")), -32700);
  EXPECT_EQ(fault_of(raw(std::string(100'000, '['))), -32700);
  for (const char* body :
       {"7", "null", "[]", "{}", R"([{"jsonrpc":"2.0","id":1,"method":"GetTask"}])",
        R"({"jsonrpc":"1.0","id":1,"method":"GetTask"})", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":1,"method":7})", R"({"jsonrpc":"2.0","id":{},"method":"GetTask"})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"GetTask"})",
        R"({"jsonrpc":"2.0","id":1,"result":{}})"}) {
    Answered refused = raw(body);
    EXPECT_EQ(fault_of(refused), -32600) << body;
    EXPECT_EQ(refused.status, 400) << body;
  }
  EXPECT_EQ(fault_of(raw(R"({"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]})")), -32602);
  http::Request plain = http_call("{}");
  for (http::Header& header : plain.headers) {
    if (header.name == "Content-Type") header.value = "text/plain";
  }
  EXPECT_EQ(send(std::move(plain)).status, 415);
}

TEST_F(A2aHostile, ANotificationStartsNothing) {
  Value document = server::McpFixture::message("SendMessage", sent(about("m", "calm")));
  document.as_object()->erase("id");
  EXPECT_EQ(fault_of(raw(to_json(document))), -32600);
}

TEST_F(A2aHostile, OtherVersionsAreRefused) {
  for (const char* other : {"", "0.3", "0.3.0", "1", "1.00", "10", "1.1", "2.0", "x"}) {
    version = other;
    Answered refused = call("SendMessage", sent(about("m", "calm")));
    EXPECT_EQ(fault_of(refused), -32009) << other;
    EXPECT_EQ(reason_of(refused), "VERSION_NOT_SUPPORTED");
  }
  version = "1.0.1";
  EXPECT_EQ(result_of(call("ListTasks", object("{}")))["totalSize"], Value(0));
  version.clear();
  http::Request named = http_call(to_json(server::McpFixture::message("ListTasks", object("{}"))));
  named.query = "A2A-Version=1.0";
  EXPECT_EQ(result_of(send(std::move(named)))["totalSize"], Value(0));
}

TEST_F(A2aHostile, MessagesWithFaultsAreRefused) {
  for (const char* message : {
           "7",
           "{}",
           R"({"messageId":"","role":"ROLE_USER","parts":[{"text":"x"}]})",
           R"({"messageId":7,"role":"ROLE_USER","parts":[{"text":"x"}]})",
           R"({"messageId":"m","parts":[{"text":"x"}]})",
           R"({"messageId":"m","role":"user","parts":[{"text":"x"}]})",
           R"({"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]})",
           R"({"messageId":"m","role":"ROLE_USER"})",
           R"({"messageId":"m","role":"ROLE_USER","parts":[]})",
           R"({"messageId":"m","role":"ROLE_USER","parts":{}})",
           R"({"messageId":"m","role":"ROLE_USER","parts":[7]})",
           R"({"messageId":"m","role":"ROLE_USER","parts":[{}]})",
           R"({"messageId":"m","role":"ROLE_USER","parts":[{"text":7}]})",
           R"({"messageId":"m","role":"ROLE_USER","parts":[{"kind":"text"}]})",
           R"({"messageId":"m","role":"ROLE_USER","parts":[{"text":"x","data":{}}]})",
           R"({"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"},{"data":{}}]})",
           R"({"messageId":"m","role":"ROLE_USER","parts":[{"data":{}},{"data":{}}]})",
           R"({"messageId":"m","role":"ROLE_USER","parts":[{"data":7}]})",
           R"({"messageId":"m","role":"ROLE_USER","parts":[{"data":{"unknown":1}}]})",
           R"({"messageId":"m","role":"ROLE_USER","parts":[{"data":{"topic":1}}]})",
           R"({"messageId":"m","role":"ROLE_USER","contextId":7,"parts":[{"text":"x"}]})",
           R"({"messageId":"m","role":"ROLE_USER","taskId":[],"parts":[{"text":"x"}]})",
       }) {
    EXPECT_EQ(fault_of(call("SendMessage", sent(object(message)))), -32602) << message;
    EXPECT_EQ(fault_of(call("SendStreamingMessage", sent(object(message)))), -32602) << message;
  }
  std::string name(257, 'm');
  EXPECT_EQ(fault_of(call("SendMessage", sent(about(name, "calm")))), -32602);
  for (const char* file : {R"({"raw":"AAAA"})", R"({"url":"https://a.example/b"})"}) {
    Value sent_file = message("m", Value::Array{object(file)});
    EXPECT_EQ(fault_of(call("SendMessage", sent(sent_file))), -32005) << file;
  }
}

TEST_F(A2aHostile, ConfigurationsAndQueriesWithFaultsAreRefused) {
  for (const char* configuration : {"7", R"({"returnImmediately":"yes"})",
                                    R"({"historyLength":-1})", R"({"historyLength":"x"})"}) {
    EXPECT_EQ(fault_of(call("SendMessage", sent(about("m", "calm"), object(configuration)))),
              -32602)
        << configuration;
  }
  for (const char* query :
       {R"({"pageSize":0})", R"({"pageSize":101})", R"({"pageSize":"x"})", R"({"pageToken":"x"})",
        R"({"pageToken":7})", R"({"status":"working"})", R"({"status":2})",
        R"({"contextId":"a\nb"})", R"({"statusTimestampAfter":"soon"})", R"({"historyLength":-1})",
        R"({"includeArtifacts":1})"}) {
    EXPECT_EQ(fault_of(call("ListTasks", object(query))), -32602) << query;
  }
  for (const char* method : {"GetTask", "CancelTask", "SubscribeToTask"}) {
    EXPECT_EQ(fault_of(call(method, object(R"({"id":7})"))), -32602) << method;
    for (const char* params : {"{}", R"({"id":null})", R"({"id":""})"}) {
      Answered refused = call(method, object(params));
      EXPECT_EQ(fault_of(refused), -32602) << method << params;
      EXPECT_EQ(text(refused.body["error"]["message"]), "\"id\" is missing.");
    }
  }
}

TEST_F(A2aHostile, TheHostOfACardIsAName) {
  http::Request asked = request("GET", "/.well-known/agent-card.json");
  for (http::Header& header : asked.headers) {
    if (header.name == "Host") header.value = "localhost:1/\"evil";
  }
  Answered card = send(std::move(asked));
  if (card.status != 200) return;  // refused before
  EXPECT_EQ(text(card.body["supportedInterfaces"].as_array()->at(0)["url"]),
            "http://localhost/a2a/mail");
}

}  // namespace
}  // namespace belay::a2a
