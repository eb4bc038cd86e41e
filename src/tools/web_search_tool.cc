#include "base/characters.h"
#include "belay/tools.h"
#include "net/egress.h"
#include "tools/link_url.h"
#include "tools/page_text.h"
#include "tools/text_encoding.h"

namespace belay {
namespace tools {
namespace {

constexpr std::int64_t web_results_default = 5;
constexpr int web_results_max = 20;
// Of the HTML of a title or snippet; the rest is not read.
constexpr std::size_t fragment_bytes_max = 64 * 1024;
constexpr std::size_t query_characters_max = 400;
constexpr int search_attempts = 3;

struct WebSearchArguments {
  std::string query{};
  std::int64_t limit = web_results_default;
  static void describe(Described<WebSearchArguments>& arguments) {
    arguments.member(&WebSearchArguments::query)
        .text("The words to search for")
        .length(1, query_characters_max);
    arguments.member(&WebSearchArguments::limit)
        .text("Maximum number of results; 5 if omitted")
        .between(std::int64_t{1}, std::int64_t{web_results_max})
        .optional();
  }
};

struct WebSearchAnswer {
  std::vector<SearchResult> results{};
};

// Returns the text of a fragment, of at most this number of characters.
std::string plain_line(std::string html, std::size_t characters_max) {
  html.resize(std::min(html.size(), fragment_bytes_max));
  std::string line = line_of_html(utf8_of(std::move(html), "utf-8", Markup::none));
  std::size_t end = offset_of_character(line, characters_max);
  if (end == line.size()) return line;
  line.resize(end);
  return line + "\u2026";
}

Result<std::string> search_answer(std::vector<SearchResult> found, std::size_t limit,
                                  const WebSearchOptions& options) {
  WebSearchAnswer answer;
  for (SearchResult& result : found) {
    if (answer.results.size() == limit) break;
    auto url = net::parse_target(encoded_url(result.url));
    if (!url.ok() || url->url().size() > link_bytes_max) continue;
    answer.results.push_back(
        {plain_line(std::move(result.title), options.title_characters_max), url->url(),
         plain_line(std::move(result.snippet), options.snippet_characters_max)});
  }
  return encode_json(answer);
}

Task<Result<std::string>> search_web(std::shared_ptr<SearchProvider> provider,
                                     WebSearchOptions options, WebSearchArguments arguments,
                                     ToolContext& call) {
  int limit = std::min(static_cast<int>(arguments.limit), options.results_max);
  BELAY_CO_TRY(auto found,
               co_await provider->search(std::move(arguments.query), limit, call.node().http()));
  std::function<Result<std::string>()> work = [found = std::move(found), limit, options]() mutable {
    return search_answer(std::move(found), static_cast<std::size_t>(limit), options);
  };
  co_return co_await call.node().run_blocking(std::move(work));
}

}  // namespace
}  // namespace tools

Result<Tool> web_search_tool(std::shared_ptr<SearchProvider> provider, WebSearchOptions options) {
  if (!provider) {
    return error(ErrorCode::invalid, "The tool for web searches has no provider. Pass one.");
  }
  bool has_results = options.results_max >= 1 && options.results_max <= tools::web_results_max;
  if (!has_results || options.title_characters_max < 1 || options.snippet_characters_max < 1) {
    return error(ErrorCode::invalid,
                 "WebSearchOptions::results_max must be from 1 to 20, and the limits of characters "
                 "must be at least 1. Correct them.");
  }
  ToolOptions tool;
  tool.name = "web_search";
  tool.description =
      "Searches the web. Returns the title, URL and a snippet of each result, best match first.";
  tool.effect = ToolEffect::reads;
  tool.untrusted = true;
  tool.attempts = tools::search_attempts;
  return make_tool<tools::WebSearchArguments>(
      std::move(tool),
      [provider, options](const tools::WebSearchArguments& arguments, ToolContext& call) {
        return tools::search_web(provider, options, arguments, call);
      });
}

}  // namespace belay
