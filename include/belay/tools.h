#pragma once
// belay/tools.h - tools that Belay supplies, for AgentOptions::tools: files, local search, web
// pages, web search, webhooks, mails.
//
//     AgentOptions options;
//     FileToolOptions files{.root = "artifacts"};
//     options.tools = {write_file_tool(files), read_file_tool(files)};
//     auto search = local_search_tool({.folders = {"handbook"}});
//     if (search.ok()) options.tools.push_back(*search);
//
// Their arguments come from a model and are not trusted. Blocking calls run on the executor's
// blocking pool.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "belay/http.h"
#include "belay/tool.h"

namespace belay {

// A path of a model is relative, of at most 1,024 bytes of UTF-8 and 32 components, each of at most
// 255 bytes. Control characters, backslashes and the components "", "." and ".." are not allowed.
// Everything else is a literal name: nothing is decoded. Symbolic links are not followed and mount
// points not crossed, also if another process replaces a folder by a link during the call.
struct FileToolOptions {
  std::string root;  // created if it does not exist; may contain links, because it is not a model's
  // All runs use `root`. Otherwise each run has a subfolder, which is named by the id of the run.
  bool shared = false;
  std::uint64_t bytes_max = 64 * 1024 * 1024;  // of all files of the run, or of `root` if shared
  std::uint64_t files_max = 1'000;             // the same, files and folders
  std::uint64_t file_bytes_max = 1024 * 1024;  // of one file
  ToolApproval write_approval = ToolApproval::untrusted;
  bool untrusted = false;  // the files contain text of others: see ToolOptions::untrusted
};

// "write_file" (path, text): creates or replaces a file, atomically and durably; creates the
// folders of the path. A keyed effect: a repeated call has the same result and the same file.
// Replaces regular files with one link only. A file has mode 0600, a folder 0700.
Tool write_file_tool(FileToolOptions options);

// "read_file" (path, offset, length): returns the text of a file, or a part of it. The offset and
// the length are in bytes; a part begins and ends at a character. Fails for a file that is not
// UTF-8.
Tool read_file_tool(FileToolOptions options);

struct LocalSearchOptions {
  // Their .txt, .md and .html files are searched, including subfolders. Links, and names that begin
  // with a dot, are skipped.
  std::vector<std::string> folders;
  // The file of the index (SQLite), used by this tool only; empty: in memory.
  std::string index = {};
  // Limits of the index. Files beyond them are not searched, which the results state.
  std::uint64_t files_max = 10'000;
  std::uint64_t bytes_max = 256 * 1024 * 1024;
  std::uint64_t file_bytes_max = 8 * 1024 * 1024;
  int results_max = 20;    // of one search
  bool untrusted = false;  // the files contain text of others: see ToolOptions::untrusted
};

// "search" (query, limit): returns the paragraphs that match the words of the query best, with
// their file, line and a snippet, as JSON. Every search first indexes the files whose size or time
// has changed. Fails with `invalid` for a folder that does not exist or an index file of another
// program, with `unavailable` if the index cannot be opened.
Result<Tool> local_search_tool(LocalSearchOptions options);

// Returns "search" in the comma-separated `folders`, "write_file" and "read_file" in `root`, but
// not those whose text is empty. The folders can contain text of others: once a search has
// returned some, a file is written only with an approval.
Result<std::vector<Tool>> offline_tools(std::string_view folders, const std::string& root);

struct FetchPageOptions {
  // Permitted hosts, as in EgressPolicy::allowed_hosts, within the policy of the run; empty: all
  // that it permits.
  std::vector<std::string> hosts = {};
  // The header User-Agent. Begins with the product token that the groups of robots.txt name:
  // letters, "_" and "-".
  std::string user_agent = "Belay";
  bool respects_robots = true;              // RFC 9309
  std::size_t bytes_max = 2 * 1024 * 1024;  // of a page, up to 64 MiB and the limit of the policy
  std::size_t characters_max = 20'000;      // of the text that a call returns
};

// "fetch_page" (url, offset): returns the readable text of a page as Markdown, without scripts,
// hidden elements and navigation; links are absolute. Accepts HTML, XHTML, plain text, Markdown and
// JSON, in the character sets of the Encoding Standard. A longer text continues at `offset`, in
// characters; each call requests the page again. Redirects: as the policy of the run states; the
// model receives the URL of one that is not followed. The results are untrusted.
//
// The robots.txt of a host is kept for an hour in the tool, of at most 64 hosts. Status 4xx permits
// all pages; a failure, another status or a content type that the policy refuses permits none. The
// final URL of a redirect is checked as well.
//
// Fails with `invalid` for options that cannot be used.
Result<Tool> fetch_page_tool(FetchPageOptions options = {});

// A result of a web search. Title and snippet can contain HTML, which the tool removes.
struct SearchResult {
  std::string title{};
  std::string url{};  // others than those of http and https are left out
  std::string snippet{};
};

// A service for web searches. Called from any executor; calls can overlap.
class SearchProvider {
 public:
  virtual ~SearchProvider() = default;

  virtual std::string_view name() const = 0;
  // Returns the best results first; the tool ignores more than `limit`. `http` has the policy of
  // the run and lives until the task has ended. An error becomes text for the model.
  virtual Task<Result<std::vector<SearchResult>>> search(std::string query, int limit,
                                                         HttpAccess& http) = 0;
};

// SearXNG at this URL, such as "https://search.example.com"; its settings must permit the format
// "json", and the policy of the run its host. Fails with `invalid` for a URL that cannot be used.
// https://docs.searxng.org/dev/search_api.html
Result<std::shared_ptr<SearchProvider>> searxng_provider(std::string url);

// The API of Brave Search. The key is sent to this URL only, and is in no error and no result.
// Fails with `invalid` for a key or a URL that cannot be used.
// https://api-dashboard.search.brave.com/documentation
Result<std::shared_ptr<SearchProvider>> brave_provider(
    std::string key, std::string url = "https://api.search.brave.com/res/v1/web/search");

struct WebSearchOptions {
  int results_max = 10;                      // of one search, 1 to 20
  std::size_t title_characters_max = 200;    // the rest is cut off
  std::size_t snippet_characters_max = 600;  // the same
};

// "web_search" (query, limit): returns title, URL and snippet of the results as JSON. The results
// are untrusted. Fails with `invalid` for options that cannot be used.
Result<Tool> web_search_tool(std::shared_ptr<SearchProvider> provider,
                             WebSearchOptions options = {});

struct WebhookToolOptions {
  // Permitted hosts, as in EgressPolicy::allowed_hosts, within the policy of the run; at least one.
  std::vector<std::string> hosts;
  // "whsec_" and 24 to 64 bytes in base64; empty: not signed. Never shown to the model.
  std::string secret = {};
  int attempts = 5;  // for a connection that fails, and the statuses 408, 429 and 5xx
  // The outbox topic for a webhook whose attempts have all failed; empty: none. Deliver it with
  // webhook_dead_letters() (webhook.h).
  std::string dead_letters = {};
  ToolApproval approval = ToolApproval::untrusted;
};

// "send_webhook" (url, body): sends the body with a POST and the headers of Standard Webhooks:
// webhook-id, the same for all attempts of a call, webhook-timestamp and webhook-signature. A keyed
// effect. The model receives the status only. Fails with `invalid` for a secret or options that
// cannot be used.
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
Result<Tool> send_webhook_tool(WebhookToolOptions options);

struct EmailToolOptions {
  std::string from;  // the sender's address
  // Permitted recipients: "ana@example.com", or "*@example.com" for all of a domain; at least one.
  std::vector<std::string> recipients;
  // "smtps://HOST:465", or "smtp://HOST:587", for which the server must offer TLS. Either this or
  // `folder` is required.
  std::string server = {};
  std::string user = {};  // of the server; empty: no login
  std::string password = {};
  bool permits_plain_text = false;  // without TLS, for a server on this machine
  // A PEM file of certificates to trust instead of the system's; empty: the system's.
  std::string trusted_certificates = {};
  // A trial: each mail is written to a file of this folder, named by its key, and none is sent.
  std::string folder = {};
  ToolApproval approval = ToolApproval::untrusted;
  EffectOptions uncertain = {};  // if the connection ends before the server confirms the mail
};

// "send_email" (to, subject, text): sends a mail as plain text. An unkeyed effect. The addresses
// and texts cannot add a header or a recipient. Fails with `invalid` for options that cannot be
// used.
Result<Tool> send_email_tool(EmailToolOptions options);

}  // namespace belay
