#include "cli/remote_runs.h"

#include "cli/doctor.h"
#include "cli/key_file.h"

namespace belay::cli {
namespace {

Result<std::string> token_of(const Settings& settings) {
  if (settings.api_key) return *settings.api_key;
  if (!settings.api_key_file) return std::string();
  BELAY_TRY(std::string text,
            read_key_file(*settings.api_key_file, "--api-key-file or BELAY_API_KEY_FILE"));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  if (text.empty() || text.find_first_of("\r\n") != text.npos) {
    return error(ErrorCode::invalid,
                 "The key file \"" + one_line(*settings.api_key_file) +
                     "\" is invalid: expected one line with the key for the server.");
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<RemoteRuns>> RemoteRuns::open(const Settings& settings, Executor& executor,
                                                     Random& random, ProgressObserver observer) {
  BELAY_TRY(client::ServerAddress address, client::server_address_from(*settings.server));
  client::ConnectionOptions options;
  BELAY_TRY(options.token, token_of(settings));
  net::HttpClientOptions http_options;
  if (address.is_local) http_options.proxy = "";
  BELAY_TRY(std::unique_ptr<net::HttpClient> http, net::HttpClient::open(std::move(http_options)));
  auto remote =
      std::make_unique<RemoteRuns>(std::move(http), std::move(address), std::move(options));
  client::RemoteServiceParts parts{remote->connection_, executor, random, std::move(observer)};
  remote->service_ = client::make_remote_service(std::move(parts));
  return remote;
}

RemoteRuns::RemoteRuns(std::unique_ptr<net::HttpClient> http, client::ServerAddress address,
                       client::ConnectionOptions options)
    : http_(std::move(http)), connection_(*http_, std::move(address), std::move(options)) {}

Task<Result<ExitCode>> RemoteRuns::examine(Output& output) {
  std::vector<Diagnostic> findings;
  client::Ask ask;
  ask.target = "/api/health";
  auto reply = co_await connection_.ask(std::move(ask));
  const std::string* status = reply.ok() ? reply->document["status"].as_string() : nullptr;
  const std::string* version = reply.ok() ? reply->document["version"].as_string() : nullptr;
  if (!status || !version) {
    std::string why =
        reply.ok() ? "The address does not belong to a Belay server." : reply.error().message;
    findings.push_back(
        {"server", Diagnostic::Kind::bad, std::move(why), "belay serve, or another --server"});
  } else {
    std::string ours(belay_version());
    bool is_ours = *version == ours;
    findings.push_back({"server", Diagnostic::Kind::good, connection_.base() + " responds.", ""});
    findings.push_back({"version", is_ours ? Diagnostic::Kind::good : Diagnostic::Kind::warning,
                        "Belay " + *version + (is_ours ? "." : "; this is " + ours + "."),
                        is_ours ? "" : "use the same version on both sides"});
    bool is_ready = *status == "ok";
    const std::string* reason = reply->document["reason"].as_string();
    findings.push_back({"work", is_ready ? Diagnostic::Kind::good : Diagnostic::Kind::bad,
                        is_ready ? "It accepts work."
                                 : "It accepts no work: " + (reason ? *reason : *status + "."),
                        is_ready ? "" : "see the log of the server"});
  }
  if (status) {
    Whose everybody;
    const Principal who;  // ignored: see client/remote_service.h
    auto standing = co_await service_->standing(who, std::move(everybody));
    bool may = standing.ok();
    findings.push_back({"key", may ? Diagnostic::Kind::good : Diagnostic::Kind::bad,
                        may ? "It authorizes this program." : standing.error().message,
                        may ? "" : "--api-key-file FILE, or BELAY_API_KEY"});
  }
  co_return show_findings("server", connection_.base(), findings, output);
}

}  // namespace belay::cli
