#include <gtest/gtest.h>

#include "conversation/conversation.h"

namespace belay::conversation {
namespace {

ChatDecision decided(std::string_view text) {
  auto decision = decision_of_reply(parse_json(text).value());
  EXPECT_TRUE(decision.ok()) << text;
  return decision.ok() ? *std::move(decision) : ChatDecision();
}

TEST(ChatDecisions, ApproveInEachForm) {
  for (std::string_view text :
       {"true", R"("approve")", R"(" Approved\n")", R"("accept")", R"("yes")",
        R"({"type":"accept"})", R"({"type":"accept","args":{"action":"mail","args":{}}})",
        R"([{"type":"accept","args":null}])", R"({"decisions":[{"type":"approve"}]})",
        R"({"approved":true})", R"({"approved":true,"comment":null,"edited":null})"}) {
    ChatDecision decision = decided(text);
    EXPECT_TRUE(decision.approved) << text;
    EXPECT_TRUE(decision.edited.is_null()) << text;
  }
}

TEST(ChatDecisions, RejectInEachForm) {
  for (std::string_view text : {"false", R"("reject")", R"("No")", R"({"type":"ignore"})",
                                R"([{"type":"ignore","args":null}])",
                                R"({"decisions":[{"type":"reject"}]})", R"({"approved":false})"}) {
    EXPECT_FALSE(decided(text).approved) << text;
  }
}

TEST(ChatDecisions, HaveTheCommentOfThePerson) {
  for (std::string_view text : {R"({"type":"response","args":"too dear"})",
                                R"({"decisions":[{"type":"reject","message":"too dear"}]})",
                                R"({"decisions":[{"type":"respond","message":"too dear"}]})",
                                R"({"approved":false,"comment":"too dear"})",
                                R"({"approved":false,"reason":"too dear"})"}) {
    ChatDecision decision = decided(text);
    EXPECT_FALSE(decision.approved) << text;
    EXPECT_EQ(decision.comment, "too dear") << text;
  }
}

TEST(ChatDecisions, ApproveWithAnEdit) {
  Value arguments = Value::object({{"to", "b"}});
  for (std::string_view text :
       {R"({"type":"edit","args":{"action":"mail","args":{"to":"b"}}})",
        R"({"type":"edit","args":{"to":"b"}})",
        R"({"decisions":[{"type":"edit","edited_action":{"name":"mail","args":{"to":"b"}}}]})",
        R"({"approved":true,"editedArgs":{"to":"b"}})"}) {
    ChatDecision decision = decided(text);
    EXPECT_TRUE(decision.approved) << text;
    EXPECT_EQ(decision.edited, arguments) << text;
    EXPECT_TRUE(decision.edits_arguments) << text;
  }
  EXPECT_FALSE(decided(R"({"approved":true,"edited":{"to":"b"}})").edits_arguments);
}

TEST(ChatDecisions, AreNeverGuessed) {
  for (std::string_view text :
       {"null",
        "1",
        "0",
        "[]",
        "{}",
        R"("")",
        R"("approve?")",
        R"("not approve")",
        R"("ok then")",
        R"("do not approve, yes")",
        R"("aprobar")",
        R"({"approved":"true"})",
        R"({"approved":1})",
        R"({"approved":null})",
        R"({"approved":true,"edits":{"to":"b"}})",
        R"({"approved":false,"edited":{"to":"b"}})",
        R"({"approved":true,"edited":{},"editedArgs":{}})",
        R"({"approved":true,"type":"reject"})",
        R"({"approved":true,"comment":7})",
        R"({"type":"maybe"})",
        R"({"type":7})",
        R"({"type":"edit"})",
        R"({"type":"edit","args":null})",
        R"({"type":"edit","args":{"a":1},"edited_action":{"name":"m","args":{}}})",
        R"({"type":"approve","edited_action":{"name":"m","args":{}}})",
        R"({"type":"response"})",
        R"({"type":"response","args":" "})",
        R"([true,true])",
        R"([{"type":"accept"},{"type":"accept"}])",
        R"({"decisions":[{"type":"approve"},{"type":"reject"}]})",
        R"({"decisions":[]})",
        R"({"decisions":true})",
        R"({"decisions":[{"type":"approve"}],"approved":false})",
        R"({"decisions":[{"decisions":[{"type":"approve"}]}]})",
        R"([[{"type":"accept"}]])",
        R"({"__proto__":{"approved":true}})"}) {
    auto decision = decision_of_reply(parse_json(text).value());
    ASSERT_FALSE(decision.ok()) << text;
    EXPECT_EQ(decision.error().code, ErrorCode::invalid) << text;
  }
}

TEST(ChatDecisions, OfALongTextAreInvalid) {
  EXPECT_FALSE(decision_of_reply(Value(std::string(10'000'000, 'y'))).ok());
  EXPECT_FALSE(decision_of_reply(Value("yes" + std::string(1'000, ' ') + "no")).ok());
}

TEST(ChatDecisions, OfACallReplaceOnlyItsArguments) {
  Value payload =
      Value::object({{"tool", "mail"}, {"call", "c"}, {"arguments", Value::object({{"to", "a"}})}});
  ChatDecision decision = decided(R"({"type":"edit","args":{"to":"b"}})");
  Value edited = edited_payload(decision, payload);
  EXPECT_EQ(edited["arguments"], Value::object({{"to", "b"}}));
  EXPECT_EQ(edited["call"], Value("c"));
  EXPECT_TRUE(edited_payload(decided("true"), payload).is_null());
}

TEST(ChatDecisions, OfAnApprovalWithoutACallReplaceItsPayload) {
  Value payload = Value::object({{"summary", "a"}});
  ChatDecision decision = decided(R"({"type":"edit","args":{"summary":"b"}})");
  EXPECT_EQ(edited_payload(decision, payload), Value::object({{"summary", "b"}}));
  EXPECT_EQ(edited_payload(decided(R"({"type":"edit","args":"b"})"), Value("a")), Value("b"));
}

TEST(ChatDecisions, NameAChoice) {
  ApprovalTerms terms;
  terms.choices = {{"send", "", true}, {"rewrite", "Write it again", true}, {"reject", "", false}};
  for (const char* text :
       {R"("rewrite")", R"(" rewrite ")", R"({"choice":"rewrite","comment":""})",
        R"([{"type":"rewrite"}])", R"({"decisions":[{"choice":"rewrite","answer":null}]})"}) {
    auto chosen = decision_of_reply(parse_json(text).value(), terms);
    ASSERT_TRUE(chosen.ok()) << text << chosen.error().message;
    EXPECT_EQ(chosen->choice, "rewrite") << text;
  }
  auto answered =
      decision_of_reply(parse_json(R"({"choice":"send","answer":{"a":1}})").value(), terms);
  EXPECT_EQ(answered.value().answer, Value::object({{"a", 1}}));
  for (const char* text :
       {R"("burn")", R"({"choice":"burn"})", R"({"choice":7})",
        R"({"choice":"send","approved":true})", R"({"choice":"reject","edited":1})"}) {
    EXPECT_FALSE(decision_of_reply(parse_json(text).value(), terms).ok()) << text;
  }
}

}  // namespace
}  // namespace belay::conversation
