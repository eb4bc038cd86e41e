#include "tools/local_search.h"

namespace belay {
namespace tools {
namespace {

constexpr std::int64_t results_default = 5;

struct SearchArguments {
  std::string query{};
  std::int64_t limit = results_default;
  static void describe(Described<SearchArguments>& arguments) {
    arguments.member(&SearchArguments::query)
        .text("Words to search for; paragraphs with more and with rarer ones are better matches")
        .length(1, 400);
    arguments.member(&SearchArguments::limit)
        .text("Maximum number of results; 5 if omitted")
        .between(std::int64_t{1}, std::int64_t{100})
        .optional();
  }
};

}  // namespace
}  // namespace tools

Result<Tool> local_search_tool(LocalSearchOptions options) {
  ToolOptions tool;
  tool.name = "search";
  tool.description =
      "Searches local documents. Returns paragraphs with their file and line, best match first.";
  tool.effect = ToolEffect::reads;
  tool.untrusted = options.untrusted;
  BELAY_TRY(auto search, tools::LocalSearch::open(std::move(options)));
  return make_tool<tools::SearchArguments>(
      std::move(tool), [search](const tools::SearchArguments& arguments, ToolContext& call) {
        auto work = [search, arguments]() -> Result<std::string> {
          BELAY_TRY(tools::SearchAnswer answer,
                    search->search(arguments.query, static_cast<int>(arguments.limit)));
          return encode_json(answer);
        };
        return call.node().run_blocking(work);
      });
}

}  // namespace belay
