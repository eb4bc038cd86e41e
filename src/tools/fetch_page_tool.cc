#include <algorithm>

#include "base/characters.h"
#include "belay/tools.h"
#include "net/ascii.h"
#include "tools/link_url.h"
#include "tools/page_text.h"
#include "tools/robots_cache.h"
#include "tools/text_encoding.h"

namespace belay {
namespace tools {
namespace {

constexpr std::size_t fetched_bytes_max = 64 * 1024 * 1024;
constexpr std::string_view page_types[] = {"text/html", "application/xhtml+xml", "text/plain",
                                           "text/markdown", "application/json"};
constexpr std::string_view accepted_types =
    "text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.9, "
    "application/json;q=0.8";

struct FetchPageArguments {
  std::string url{};
  std::int64_t offset = 0;
  static void describe(Described<FetchPageArguments>& arguments) {
    constexpr std::int64_t greatest = std::int64_t{1} << 52;
    arguments.member(&FetchPageArguments::url)
        .text("An http or https URL")
        .length(1, link_bytes_max);
    arguments.member(&FetchPageArguments::offset)
        .text("The first character of the text to return; 0 if omitted")
        .between(std::int64_t{0}, greatest)
        .optional();
  }
};

struct PageAccess {
  explicit PageAccess(FetchPageOptions of) : options(std::move(of)), robots(options.user_agent) {}

  const FetchPageOptions options;
  RobotsCache robots;
};

// The media type of a response, in lower case and without parameters.
std::string media_type(const HttpReply& reply) {
  std::string_view header = reply.header("content-type");
  std::string type = net::lower_case(header.substr(0, header.find(';')));
  std::erase_if(type, [](char c) { return c == ' ' || c == '\t'; });
  return type;
}

Error error_of_status(const HttpReply& reply, const net::Target& page) {
  std::string status = " (status " + std::to_string(reply.status) + ").";
  if (reply.status >= 300 && reply.status < 400) {
    auto target = link_target(page, reply.header("location"));
    if (target) {
      return error(ErrorCode::not_found, "The page is at another URL" + status +
                                             " Fetch this one instead: " + target->url());
    }
  }
  if (reply.status == 404 || reply.status == 410) {
    return error(ErrorCode::not_found, "The page does not exist" + status);
  }
  if (reply.status == 401 || reply.status == 402 || reply.status == 403 || reply.status == 451) {
    return error(ErrorCode::forbidden, "The server does not permit access to the page" + status);
  }
  if (reply.status == 408 || reply.status == 429 || reply.status >= 500) {
    return error(ErrorCode::unavailable, "The server cannot deliver the page now" + status +
                                             " Try again later, or use another page.");
  }
  return error(ErrorCode::invalid, "The server did not deliver the page" + status);
}

Result<Done> check_type(const HttpReply& reply) {
  std::string type = media_type(reply);
  if (net::has(page_types, type)) return Done{};
  auto is_type_character = [](char c) {
    return net::is_digit(c) || (c >= 'a' && c <= 'z') || c == '/' || c == '+' || c == '-' ||
           c == '.';
  };
  constexpr std::size_t shown_max = 60;
  bool is_shown = !type.empty() && type.size() <= shown_max &&
                  std::all_of(type.begin(), type.end(), is_type_character);
  return error(ErrorCode::invalid,
               "The page has " + (is_shown ? "the type " + type : std::string("no valid type")) +
                   ". Only HTML, plain text, Markdown and JSON can be read.");
}

PageText text_of(HttpReply reply, const net::Target& page) {
  std::string type = media_type(reply);
  bool is_html = type == "text/html" || type == "application/xhtml+xml";
  std::string charset = charset_of(reply.header("content-type"));
  std::string text = utf8_of(std::move(reply.body), charset, is_html ? Markup::html : Markup::none);
  if (is_html) return page_text(text, page);
  PageText plain;
  plain.text = std::move(text);
  std::erase_if(plain.text, [](char c) { return is_control(c) && c != '\n' && c != '\t'; });
  return plain;
}

// The part of the text from `first` on, after lines about the page.
Result<std::string> shown_part(const PageText& page, const std::string& url, std::size_t first,
                               std::size_t characters_max) {
  std::size_t total = characters_in(page.text);
  if (first > total || (first == total && first > 0)) {
    return error(ErrorCode::invalid, "The text of the page has only " + std::to_string(total) +
                                         " characters. Use a lower offset.");
  }
  std::size_t begin = offset_of_character(page.text, first);
  std::string_view rest = std::string_view(page.text).substr(begin);
  std::string_view part = rest.substr(0, offset_of_character(rest, characters_max));
  std::size_t end = first + characters_in(part);
  std::string shown = "URL: " + url + "\n";
  if (!page.title.empty()) shown += "Title: " + page.title + "\n";
  if (first > 0 || end < total) {
    shown += "Part: characters " + std::to_string(first) + " to " + std::to_string(end) + " of " +
             std::to_string(total) + ".";
    if (end < total) shown += " Continue with offset " + std::to_string(end) + ".";
    shown += "\n";
  }
  if (!page.is_whole) shown += "Note: the page is too irregular or too long to be read fully.\n";
  if (total == 0) shown += "Note: the page has no readable text.\n";
  shown += '\n';
  shown += part;
  return shown;
}

Error refused_by_robots(const net::Target& page) {
  return error(ErrorCode::forbidden, "The robots.txt of " + page.host +
                                         " does not permit to fetch this page. Use another one.");
}

HttpCall page_call(const FetchPageOptions& options, const net::Target& page) {
  HttpCall call;
  call.url = page.url();
  call.headers = {{"Accept", std::string(accepted_types)}, {"User-Agent", options.user_agent}};
  call.body_bytes_max = options.bytes_max;
  return call;
}

Task<Result<Done>> check_robots(std::shared_ptr<PageAccess> access, HttpAccess& http,
                                net::Target page, Instant now) {
  if (!access->options.respects_robots) co_return Done{};
  BELAY_CO_TRY(bool is_permitted, co_await access->robots.permits(http, page, now));
  if (!is_permitted) co_return refused_by_robots(page);
  co_return Done{};
}

Task<Result<std::string>> fetch_page(std::shared_ptr<PageAccess> access,
                                     FetchPageArguments arguments, ToolContext& call) {
  const FetchPageOptions& options = access->options;
  std::shared_ptr<HttpAccess> narrowed;
  if (!options.hosts.empty()) {
    BELAY_CO_TRY(narrowed, call.node().http().narrowed(options.hosts));
  }
  HttpAccess& http = narrowed ? *narrowed : call.node().http();
  BELAY_CO_TRY(net::Target page, net::parse_target(encoded_url(arguments.url)));
  Instant now = call.node().now();
  auto permitted = co_await check_robots(access, http, page, now);
  if (!permitted.ok()) co_return std::move(permitted).error();
  HttpCall request = page_call(options, page);
  BELAY_CO_TRY(HttpReply reply, co_await http.send(std::move(request)));
  auto final_page = net::parse_target(reply.url);
  if (final_page.ok() && final_page->url() != page.url()) {
    page = *std::move(final_page);
    auto still_permitted = co_await check_robots(access, http, page, now);
    if (!still_permitted.ok()) co_return std::move(still_permitted).error();
  }
  if (reply.status < 200 || reply.status >= 300) co_return error_of_status(reply, page);
  BELAY_CO_CHECK(check_type(reply));
  std::function<Result<std::string>()> work =
      [reply = std::move(reply), page, first = arguments.offset,
       characters_max = options.characters_max]() mutable -> Result<std::string> {
    PageText text = text_of(std::move(reply), page);
    return shown_part(text, page.url(), static_cast<std::size_t>(first), characters_max);
  };
  co_return co_await call.node().run_blocking(std::move(work));
}

Result<Done> check_options(const FetchPageOptions& options) {
  bool is_header = !has_control(options.user_agent) && options.user_agent.size() <= 200;
  if (product_token(options.user_agent).empty() || !is_header) {
    return error(ErrorCode::invalid,
                 "FetchPageOptions::user_agent must begin with a product token of letters, \"_\" "
                 "and \"-\", such as \"Example-Agent/1.0\". Correct it.");
  }
  if (options.bytes_max < 1 || options.bytes_max > fetched_bytes_max ||
      options.characters_max < 1) {
    return error(ErrorCode::invalid,
                 "FetchPageOptions::bytes_max must be from 1 to 67108864, and characters_max must "
                 "be at least 1. Correct them.");
  }
  BELAY_CHECK(net::HostList::from(options.hosts));
  return Done{};
}

}  // namespace
}  // namespace tools

Result<Tool> fetch_page_tool(FetchPageOptions options) {
  BELAY_CHECK(tools::check_options(options));
  ToolOptions tool;
  tool.name = "fetch_page";
  tool.description =
      "Fetches a web page and returns its readable text as Markdown, with the URLs of its links. "
      "A long text is returned in parts.";
  tool.effect = ToolEffect::reads;
  tool.untrusted = true;
  tool.reaches = options.hosts;
  if (tool.reaches.empty()) tool.reaches = {"*"};
  auto access = std::make_shared<tools::PageAccess>(std::move(options));
  return make_tool<tools::FetchPageArguments>(
      std::move(tool), [access](const tools::FetchPageArguments& arguments, ToolContext& call) {
        return tools::fetch_page(access, arguments, call);
      });
}

}  // namespace belay
