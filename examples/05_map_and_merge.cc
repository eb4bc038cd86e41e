// Map-reduce: counts the words of all pages concurrently, with one Send per page, and reducers that
// combine the results of the tasks.
//
//     $ 05_map_and_merge run --thread first --input 'pages=["the sea, the sea", "the rain", ""]'

#include <belay/belay.hpp>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace belay;

using Counts = std::map<std::string, int>;

struct Book {
  std::vector<std::string> pages{};
  Counts words{};
  int letters = 0;
  std::string most_frequent{};
};

// Schedules one task of `count` for each page, with the page as its input.
std::vector<Send> each_page(const Book& book) {
  std::vector<Send> sends;
  for (const std::string& page : book.pages) sends.push_back(send_to("count", page));
  return sends;
}

Update<Book> count(const Book&, Context& context) {
  auto page = context.input<std::string>();
  Counts words;
  std::istringstream stream(page);
  for (std::string word; stream >> word;) ++words[word];
  return reduce(&Book::words, words).add(&Book::letters, static_cast<int>(page.size()));
}

Counts sum(Counts so_far, const Counts& more) {
  for (const auto& [word, times] : more) so_far[word] += times;
  return so_far;
}

// Executed once, after all pages have been counted.
Update<Book> report(const Book& book, Context&) {
  std::string most;
  for (const auto& [word, times] : book.words) {
    if (most.empty() || times > book.words.at(most)) most = word;
  }
  return set(&Book::most_frequent, most);
}

Result<Graph<Book>> book_graph() {
  GraphBuilder<Book> graph{"book"};
  graph.node("open", [](const Book&, Context&) { return unchanged<Book>(); });
  graph.node("count", count);
  graph.node("report", report);
  // add() sums numbers without a reducer; maps need one.
  graph.reducer(&Book::words, sum);
  graph.edge(start, "open").branch("open", each_page, {"count"});
  graph.edge("count", "report").edge("report", end);
  return std::move(graph).build();
}

int main(int argc, char** argv) { return belay::main(argc, argv, book_graph()); }
