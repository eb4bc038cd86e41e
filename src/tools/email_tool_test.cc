// Mails of an agent: their text, and their way to a server that is a script.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "belay/agent.h"
#include "belay/testing.h"
#include "belay/tools.h"
#include "net/smtp.h"
#include "tests/conformance/temporary_folder.h"
#include "tests/support/scripted_server.h"
#include "tools/mail_text.h"

namespace belay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

tools::MailText plain_mail() {
  return {"agent@example.com", {"ana@example.com"}, "Report", "Hello.\n.\nBye."};
}

std::string text_of(const tools::MailText& mail) {
  return tools::mail_text(mail, "id", *instant_from("2026-01-01T09:00:00Z")).value_or("refused");
}

TEST(MailText, HasTheHeadersOfAPlainText) {
  EXPECT_EQ(text_of(plain_mail()),
            "From: <agent@example.com>\r\nTo: <ana@example.com>\r\n"
            "Subject: =?UTF-8?B?UmVwb3J0?=\r\nDate: Thu, 01 Jan 2026 09:00:00 +0000\r\n"
            "Message-ID: <id@example.com>\r\nMIME-Version: 1.0\r\n"
            "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n"
            "SGVsbG8uCi4KQnllLg==\r\n");
}

TEST(MailText, RefusesEachControlCharacterInTheSubject) {
  for (int code = 0; code < 0x20; ++code) {
    for (std::string around : {"", "a", "ñ"}) {
      tools::MailText mail = plain_mail();
      mail.subject = around + std::string(1, static_cast<char>(code)) + "Bcc: eve@example.com";
      EXPECT_EQ(text_of(mail), "refused") << code;
    }
  }
}

TEST(MailText, RefusesWhatIsNotOneAddress) {
  for (std::string address : {"",
                              "ana",
                              "@example.com",
                              "ana@",
                              "ana@localhost",
                              "ana@example.com,eve@example.com",
                              "ana@example.com eve@example.com",
                              "ana@example.com\r\nBcc: eve@example.com",
                              "ana@example.com\n",
                              "<ana@example.com>",
                              "Ana <ana@example.com>",
                              "\"a b\"@example.com",
                              "a..b@example.com",
                              ".a@example.com",
                              "a.@example.com",
                              "ana@exam ple.com",
                              "ana@-example.com",
                              "ana@example-.com",
                              "ana@example..com",
                              "ana@example.com.",
                              "ana@[127.0.0.1]",
                              "a@b@example.com",
                              "an\xC3\xA1@example.com",
                              "ana@ex\xC3\xA1mple.com",
                              "ana(comment)@example.com",
                              "ana;eve@example.com",
                              "ana@example.com>"}) {
    EXPECT_FALSE(tools::is_mail_address(address)) << address;
    tools::MailText mail = plain_mail();
    mail.to = {"ana@example.com", address};
    EXPECT_EQ(text_of(mail), "refused") << address;
    mail = plain_mail();
    mail.from = address;
    EXPECT_EQ(text_of(mail), "refused") << address;
  }
  EXPECT_FALSE(tools::is_mail_address(std::string(65, 'a') + "@example.com"));
  EXPECT_FALSE(tools::is_mail_address("a@" + std::string(64, 'a') + ".com"));
  EXPECT_TRUE(tools::is_mail_address("o'neil+tag@sub.example.com"));
}

TEST(MailText, FoldsALongSubjectAtCharacters) {
  tools::MailText mail = plain_mail();
  mail.subject.clear();
  for (int i = 0; i < 200; ++i) mail.subject += "ñ";
  std::string text = text_of(mail);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 78u) << line;
  mail.subject += std::string(51, 'x');
  EXPECT_EQ(text_of(mail), "refused");
}

TEST(MailText, ComparesRecipientsWithThePermittedOnes) {
  std::vector<std::string> permitted{"ana@example.com", "*@Example.org"};
  EXPECT_TRUE(tools::is_permitted_recipient("Ana@Example.com", permitted));
  EXPECT_TRUE(tools::is_permitted_recipient("eve@example.org", permitted));
  EXPECT_FALSE(tools::is_permitted_recipient("eve@example.com", permitted));
  EXPECT_FALSE(tools::is_permitted_recipient("eve@sub.example.org", permitted));
  EXPECT_FALSE(tools::is_permitted_recipient("eve@example.org.evil.net", permitted));
}

// The conversation of a server that accepts a mail, up to a given point.
class MailSink {
 public:
  enum class Until { end, text, recipient };
  explicit MailSink(Until until) : until_(until) {}

  void serve(net::Peer& peer) {
    peer.send("220 sink\r\n");
    for (std::string line = peer.line(); !line.empty(); line = peer.line()) {
      heard += line;
      if (line.starts_with("QUIT")) return;
      if (line.starts_with("RCPT") && until_ == Until::recipient) {
        peer.send("550 no such user\r\n");
      } else if (!line.starts_with("DATA")) {
        peer.send("250 sink\r\n");
      } else {
        peer.send("354 send it\r\n");
        while (line != ".\r\n" && !line.empty()) heard += line = peer.line();
        if (until_ == Until::text) return;
        peer.send("250 accepted\r\n");
      }
    }
  }

  std::string heard;

 private:
  Until until_;
};

Result<Done> sent_to(MailSink& sink, bool permits_plain_text = true) {
  net::ScriptedServer server([&](net::Peer& peer, int) { sink.serve(peer); });
  net::MailServer options;
  options.url = "smtp://127.0.0.1:" + std::to_string(server.port());
  options.permits_plain_text = permits_plain_text;
  net::Mail mail{
      "agent@example.com", {"ana@example.com", "eve@example.com"}, text_of(plain_mail())};
  return net::send_mail(options, mail);
}

TEST(Smtp, SendsAMailToAllRecipients) {
  MailSink sink(MailSink::Until::end);
  auto sent = sent_to(sink);
  ASSERT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_THAT(sink.heard, HasSubstr("MAIL FROM:<agent@example.com>"));
  EXPECT_THAT(sink.heard, HasSubstr("RCPT TO:<ana@example.com>"));
  EXPECT_THAT(sink.heard, HasSubstr("RCPT TO:<eve@example.com>"));
  EXPECT_THAT(sink.heard, HasSubstr("\r\n\r\nSGVsbG8uCi4KQnllLg==\r\n"));
}

TEST(Smtp, DoesNotKnowWhetherAMailWithoutAReplyWasAccepted) {
  MailSink sink(MailSink::Until::text);
  auto sent = sent_to(sink);
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code, ErrorCode::uncertain) << sent.error().message;
}

TEST(Smtp, DoesNotRetryARecipientThatTheServerRefuses) {
  MailSink sink(MailSink::Until::recipient);
  auto sent = sent_to(sink);
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code, ErrorCode::invalid) << sent.error().message;
  EXPECT_THAT(sink.heard, Not(HasSubstr("DATA")));
}

TEST(Smtp, SendsNothingToAServerWithoutTls) {
  MailSink sink(MailSink::Until::end);
  auto sent = sent_to(sink, false);
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code, ErrorCode::invalid) << sent.error().message;
  EXPECT_THAT(sink.heard, Not(HasSubstr("MAIL")));
}

TEST(Smtp, CanBeRetriedIfNothingListens) {
  net::MailServer options;
  options.url = "smtp://127.0.0.1:1";
  auto sent = net::send_mail(options, net::Mail{"a@example.com", {"b@example.com"}, "x"});
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code, ErrorCode::unavailable) << sent.error().message;
}

// Requests one mail, and answers with the result.
testing::ScriptedModel mails_to(const std::string& address) {
  Value arguments = Value::object(
      {{"subject", "Report"}, {"text", "Hello."}, {"to", Value(Value::Array{Value(address)})}});
  return testing::replies_with([arguments](const ModelRequest& request) -> ModelReply {
    ModelReply reply;
    if (request.messages.back().role == Role::tool) {
      reply.text = request.messages.back().text;
      return reply;
    }
    reply.stop_reason = StopReason::tool_calls;
    reply.tool_calls.push_back({"a", "send_email", arguments});
    return reply;
  });
}

// An agent that sends mails to these recipients, as files of a folder.
class TrialMailer {
 public:
  TrialMailer(std::string recipient, const std::string& address) {
    EmailToolOptions email;
    email.from = "agent@example.com";
    email.recipients = {std::move(recipient)};
    email.folder = folder.path();
    AgentOptions options;
    options.tools = {send_email_tool(std::move(email)).value()};
    graph_ = agent_graph("mailer", std::move(options)).value();
    world_.model(mails_to(address));
  }
  testing::Scenario<AgentState> scenario() const {
    AgentState state;
    state.question = "Send it.";
    return world_.run(*graph_, state);
  }

  conformance::TemporaryFolder folder;

 private:
  std::optional<Graph<AgentState>> graph_;
  testing::World world_;
};

TEST(EmailTool, WritesOneFilePerMailInATrialWhereverTheProcessEnds) {
  TrialMailer mailer("*@example.com", "ana@example.com");
  auto run = mailer.scenario().approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  EXPECT_THAT(run.state().answer, HasSubstr("A trial"));
  for (auto crash : run.crash_points()) {
    auto crashed = mailer.scenario().crash_at(crash).approve_all();
    EXPECT_EQ(crashed.effects("call"), 1);
  }
  int mails = 0;
  for (const auto& entry : std::filesystem::directory_iterator(mailer.folder.path())) {
    mails += entry.path().extension() == ".eml" ? 1 : 0;
  }
  EXPECT_EQ(mails, 1);
}

TEST(EmailTool, SendsNothingToOtherRecipients) {
  TrialMailer mailer("ana@example.com", "eve@example.com");
  auto run = mailer.scenario().approve_all();
  EXPECT_THAT(run.state().answer, HasSubstr("No mail was sent"));
  EXPECT_TRUE(std::filesystem::is_empty(mailer.folder.path()));
}

TEST(EmailTool, NeedsAServerOrAFolder) {
  EmailToolOptions email;
  email.from = "agent@example.com";
  email.recipients = {"*@example.com"};
  EXPECT_FALSE(send_email_tool(email).ok());
  email.server = "http://example.com";
  EXPECT_FALSE(send_email_tool(email).ok());
  email.server = "smtps://mail.example.com:465";
  EXPECT_TRUE(send_email_tool(email).ok());
  email.folder = "trial";
  EXPECT_FALSE(send_email_tool(email).ok());
  email.folder.clear();
  email.recipients.clear();
  EXPECT_FALSE(send_email_tool(email).ok());
}

}  // namespace
}  // namespace belay
