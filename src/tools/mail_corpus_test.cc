// Sends each text of mail_corpus.tsv through the tool for mails to a server that keeps every
// command: no text adds a header, a recipient, a command or a second mail.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "belay/agent.h"
#include "belay/testing.h"
#include "belay/tools.h"
#include "tests/support/corpus_file.h"
#include "tests/support/scripted_server.h"
#include "tools/base64.h"
#include "tools/mail_text.h"

namespace belay::tools {
namespace {

struct MailCase {
  std::string kind;
  std::string member;
  std::string verdict;
  std::string text;
};

std::vector<MailCase> mail_cases() {
  std::vector<MailCase> cases;
  for (auto& row : corpus_rows(std::string(BELAY_SOURCE_DIR) + "/src/tools/mail_corpus.tsv", 4)) {
    cases.push_back({std::move(row[0]), std::move(row[1]), std::move(row[2]), std::move(row[3])});
  }
  return cases;
}

MailText mail_of(const MailCase& each) {
  MailText mail{"agent@example.com", {"ana@example.com"}, "Report", "Hello."};
  if (each.member == "to") mail.to = {each.text};
  if (each.member == "subject") mail.subject = each.text;
  if (each.member == "text") mail.text = each.text;
  return mail;
}

// A server that keeps the commands and the lines of mails.
class KeepingServer {
 public:
  void serve(net::Peer& peer) {
    peer.send("220 sink\r\n");
    for (std::string line = peer.line(); !line.empty(); line = peer.line()) {
      commands.push_back(line.substr(0, line.size() - 2));
      if (line.starts_with("QUIT")) return;
      if (!line.starts_with("DATA")) {
        peer.send("250 sink\r\n");
        continue;
      }
      peer.send("354 send it\r\n");
      for (line = peer.line(); line != ".\r\n" && !line.empty(); line = peer.line()) {
        lines.push_back(line.substr(0, line.size() - 2));
      }
      peer.send("250 accepted\r\n");
    }
  }

  std::vector<std::string> commands;
  std::vector<std::string> lines;
};

using Results = std::vector<std::string>;

// Requests all mails in one reply, and keeps the results.
testing::ScriptedModel calls_for(const std::vector<MailText>& mails, Results& results) {
  ModelReply calls;
  calls.stop_reason = StopReason::tool_calls;
  for (const MailText& mail : mails) {
    Value::Array recipients(mail.to.begin(), mail.to.end());
    calls.tool_calls.push_back({std::to_string(calls.tool_calls.size()), "send_email",
                                Value::object({{"subject", mail.subject},
                                               {"text", mail.text},
                                               {"to", Value(std::move(recipients))}})});
  }
  return testing::replies_with([calls, &results](const ModelRequest& request) -> ModelReply {
    if (request.messages.back().role != Role::tool) return calls;
    results.clear();
    for (const Message& message : request.messages) {
      if (message.role == Role::tool) results.push_back(message.text);
    }
    ModelReply reply;
    reply.text = "done";
    return reply;
  });
}

// Returns the results of an agent that sends the mails; their recipients are permitted ones,
// however they are spelled. No results if the run has failed.
Results sent_by_agent(const std::vector<MailText>& mails, KeepingServer& kept) {
  net::ScriptedServer server([&](net::Peer& peer, int) { kept.serve(peer); });
  EmailToolOptions email;
  email.from = mails.front().from;
  email.recipients = {"*@example.com"};
  for (const MailText& mail : mails) email.recipients.push_back(mail.to.front());
  email.server = "smtp://127.0.0.1:" + std::to_string(server.port());
  email.permits_plain_text = true;
  AgentOptions options;
  options.tools = {send_email_tool(std::move(email)).value()};
  AgentState state;
  state.question = "Send all.";
  Results results;
  testing::World world;
  world.model(calls_for(mails, results));
  auto ended = world.run(agent_graph("mailer", std::move(options)), state).approve_all();
  if (ended.error()) results.clear();
  return results;
}

// Reads the text of encoded words in base64, or of lines of base64.
std::string decoded_base64(const std::string& text) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    std::size_t digit = letters.find(c);
    if (digit == letters.npos) continue;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 0xff);
  }
  return bytes;
}

std::string decoded_words(std::string words) {
  constexpr std::string_view begin = "=?UTF-8?B?";
  std::string text;
  for (std::size_t at = words.find(begin); at != words.npos; at = words.find(begin)) {
    words.erase(0, at + begin.size());
    text += decoded_base64(words.substr(0, words.find("?=")));
  }
  return text;
}

void expect_sent(const MailText& mail, const KeepingServer& kept) {
  std::vector<std::string> commands = {"MAIL FROM:<" + mail.from + ">",
                                       "RCPT TO:<" + mail.to.front() + ">", "DATA", "QUIT"};
  ASSERT_EQ(kept.commands.size(), commands.size() + 1);
  EXPECT_TRUE(kept.commands.front().starts_with("EHLO "));
  for (std::size_t i = 0; i < commands.size(); ++i) {
    EXPECT_TRUE(kept.commands[i + 1].starts_with(commands[i])) << kept.commands[i + 1];
  }
  auto empty = std::find(kept.lines.begin(), kept.lines.end(), "");
  std::vector<std::string> names;
  std::string subject, body;
  for (auto line = kept.lines.begin(); line != empty; ++line) {
    bool is_folded = line->starts_with(' ');
    if (!is_folded) names.push_back(line->substr(0, line->find(':')));
    if (names.back() == "Subject") subject += *line;
    if (names.back() == "To") {
      EXPECT_EQ(*line, "To: <" + mail.to.front() + ">");
    }
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"From", "To", "Subject", "Date", "Message-ID", "MIME-Version",
                                      "Content-Type", "Content-Transfer-Encoding"}));
  EXPECT_EQ(decoded_words(subject), mail.subject);
  for (auto line = empty; line != kept.lines.end(); ++line) body += *line;
  EXPECT_EQ(decoded_base64(body), mail.text);
}

std::string label_of(const MailCase& each) {
  return each.kind + " in " + each.member + ": " + ::testing::PrintToString(each.text);
}

TEST(MailCorpus, ATextThatIsSentAddsNoHeaderNoRecipientAndNoCommand) {
  int sent = 0;
  for (const MailCase& each : mail_cases()) {
    if (each.verdict != "sent") continue;
    SCOPED_TRACE(label_of(each));
    KeepingServer kept;
    Results results = sent_by_agent({mail_of(each)}, kept);
    EXPECT_EQ(results, Results{"The mail server has accepted the mail."});
    expect_sent(mail_of(each), kept);
    ++sent;
    if (HasFailure()) break;
  }
  EXPECT_GE(sent, 90);
}

// No state can contain other text: it fails its run.
bool is_storable(const std::string& text) {
  return !first_invalid_utf8(text) && text.find('\0') == text.npos;
}

// As many of them at a time as one reply can call; text that fails its run alone.
TEST(MailCorpus, ATextThatIsRefusedReachesNoServer) {
  constexpr std::size_t mails_of_a_reply = 60;
  std::vector<MailCase> cases = mail_cases();
  std::size_t refused = 0;
  while (!cases.empty()) {
    std::vector<MailText> mails;
    std::string labels;
    bool is_alone = false;
    while (!cases.empty() && mails.size() < mails_of_a_reply && !is_alone) {
      is_alone = !is_storable(cases.back().text);
      if (is_alone && !mails.empty()) break;
      if (cases.back().verdict != "sent") {
        ASSERT_EQ(cases.back().verdict, "refused");
        mails.push_back(mail_of(cases.back()));
        labels += label_of(cases.back()) + "\n";
      }
      cases.pop_back();
    }
    if (mails.empty()) continue;
    SCOPED_TRACE(labels);
    KeepingServer kept;
    Results results = sent_by_agent(mails, kept);
    EXPECT_TRUE(kept.commands.empty()) << ::testing::PrintToString(kept.commands);
    if (!is_alone) {
      EXPECT_EQ(results.size(), mails.size());
    }
    for (const std::string& result : results) EXPECT_TRUE(result.starts_with("Error: ")) << result;
    refused += mails.size();
    if (HasFailure()) break;
  }
  EXPECT_GE(refused, 300u);
}

// Without the schema of the tool and its permitted recipients: mail_text() itself refuses them.
TEST(MailCorpus, TheMailItselfRefusesEachAddressAndSubject) {
  for (const MailCase& each : mail_cases()) {
    SCOPED_TRACE(each.kind + " in " + each.member + ": " + ::testing::PrintToString(each.text));
    auto composed = mail_text(mail_of(each), "id", *instant_from("2026-01-01T09:00:00Z"));
    bool is_refused = each.verdict == "refused" && !each.text.empty();
    bool is_decided_here = is_refused || each.verdict == "sent";
    if (is_decided_here) {
      EXPECT_EQ(composed.ok(), !is_refused);
    }
    if (each.member != "to") continue;
    MailText mail = mail_of({"", "", "", ""});
    mail.from = each.text;
    EXPECT_EQ(mail_text(mail, "id", *instant_from("2026-01-01T09:00:00Z")).ok(),
              each.verdict == "sent");
  }
}

}  // namespace
}  // namespace belay::tools
