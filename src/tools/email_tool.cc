#include <memory>

#include "belay/ids.h"
#include "belay/tools.h"
#include "net/smtp.h"
#include "tools/file_access.h"
#include "tools/mail_text.h"

namespace belay {
namespace tools {
namespace {

constexpr std::size_t text_characters_max = 100'000;
constexpr std::uint64_t trial_bytes_max = 1ull << 30;
constexpr std::uint64_t trial_files_max = 100'000;

struct EmailArguments {
  std::vector<std::string> to{};
  std::string subject{};
  std::string text{};
  static void describe(Described<EmailArguments>& arguments) {
    arguments.member(&EmailArguments::to)
        .text("The recipients, one address in each element")
        .length(1, recipients_max);
    arguments.member(&EmailArguments::subject).text("One line").length(1, subject_characters_max);
    arguments.member(&EmailArguments::text).text("Plain text").length(1, text_characters_max);
  }
};

// A file name, and the local part of a Message-ID: of the same call always the same.
std::string id_of(const ToolContext& call) { return to_hex(sha256(call.key())).substr(0, 32); }

Result<std::string> deliver(const EmailToolOptions& options, const net::Mail& mail,
                            const std::string& id) {
  if (!options.folder.empty()) {
    FileAccess access(options.folder, "",
                      FileLimits{trial_bytes_max, trial_files_max, trial_bytes_max});
    BELAY_CHECK(access.write(id + ".eml", mail.text));
    return std::string("A trial: the mail was written to a file and not sent.");
  }
  net::MailServer server;
  server.url = options.server;
  server.user = options.user;
  server.password = options.password;
  server.permits_plain_text = options.permits_plain_text;
  server.trusted_certificates = options.trusted_certificates;
  BELAY_CHECK(net::send_mail(server, mail));
  return std::string("The mail server has accepted the mail.");
}

Task<Result<std::string>> send(std::shared_ptr<const EmailToolOptions> options,
                               EmailArguments arguments, ToolContext& call) {
  for (const std::string& address : arguments.to) {
    if (is_permitted_recipient(address, options->recipients)) continue;
    co_return error(ErrorCode::forbidden,
                    "The recipients of this agent do not include one of these. No mail was sent.");
  }
  std::string id = id_of(call);
  MailText text{options->from, std::move(arguments.to), std::move(arguments.subject),
                std::move(arguments.text)};
  BELAY_CO_TRY(std::string composed, mail_text(text, id, call.node().now()));
  net::Mail mail{options->from, std::move(text.to), std::move(composed)};
  std::function<Result<std::string>()> work = [options, mail = std::move(mail), id] {
    return deliver(*options, mail, id);
  };
  co_return co_await call.node().run_blocking(std::move(work));
}

Result<Done> check(const EmailToolOptions& options) {
  if (!is_mail_address(options.from)) {
    return error(ErrorCode::invalid,
                 "EmailToolOptions::from is not an address such as agent@example.com.");
  }
  if (options.recipients.empty()) {
    return error(
        ErrorCode::invalid,
        "The tool for mails has no permitted recipients. Set EmailToolOptions::recipients.");
  }
  bool is_smtp = options.server.starts_with("smtp://") || options.server.starts_with("smtps://");
  if (options.folder.empty() ? !is_smtp : !options.server.empty()) {
    return error(
        ErrorCode::invalid,
        "The tool for mails needs either a server, smtps://HOST:465 or smtp://HOST:587, or "
        "a folder for a trial.");
  }
  return Done{};
}

}  // namespace
}  // namespace tools

Result<Tool> send_email_tool(EmailToolOptions options) {
  BELAY_CHECK(tools::check(options));
  ToolOptions tool;
  tool.name = "send_email";
  tool.description = "Sends a mail as plain text.";
  tool.effect = ToolEffect::unkeyed;
  tool.approval = options.approval;
  tool.uncertain = options.uncertain;
  tool.attempts = 3;
  tool.reaches = options.recipients;
  auto shared = std::make_shared<const EmailToolOptions>(std::move(options));
  return make_tool<tools::EmailArguments>(
      std::move(tool), [shared](const tools::EmailArguments& arguments, ToolContext& call) {
        return tools::send(shared, arguments, call);
      });
}

}  // namespace belay
