// A growing conversation of a thousand turns of 500 bytes. Measures its size on the disk, whether
// the last turns take longer than the first, and the time to load all of it.

#include <cstdio>
#include <filesystem>

#include "belay/storage.h"
#include "belay/testing.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"

namespace {

using namespace belay;
using namespace belay::bench;

constexpr int turns = 1'000;
constexpr std::size_t turn_bytes = 500;
constexpr int loads = 50;

struct Talk {
  std::vector<std::string> messages{};
  int said = 0;
};

// Returns a text in which few words are frequent and most are rare, as in natural language.
std::string message(Random& random) {
  static const std::vector<std::string> words = [] {
    testing::SeededRandom seeded(7);
    std::vector<std::string> made;
    for (int i = 0; i < 4'000; ++i) {
      std::string word;
      for (std::size_t length = 2 + seeded.bits() % 8; word.size() < length;) {
        word += "etaoinshrdlucmfwypvbgkeiaeo"[seeded.bits() % 27];
      }
      made.push_back(word);
    }
    return made;
  }();
  std::string text;
  while (text.size() < turn_bytes) {
    std::size_t most = std::size_t{1} << (random.bits() % 12);
    text += words[random.bits() % std::min(most, words.size())] + " ";
  }
  text.resize(turn_bytes);
  return text;
}

struct Speaker {
  testing::SeededRandom random{1};
  std::vector<double> began{};  // start time of each turn's node, in seconds
};

Graph<Talk> talk_of(Speaker& speaker) {
  GraphBuilder<Talk> graph{"talk"};
  auto say = [&speaker](const Talk&, Context&) {
    speaker.began.push_back(wall_seconds());
    return append(&Talk::messages, message(speaker.random)).add(&Talk::said, 1);
  };
  graph.node("say", say);
  auto goes_on = [](const Talk& talk) { return talk.said < turns; };
  graph.edge(start, "say").branch("say", goes_on, {end, "say"});
  return value_or_exit(std::move(graph).build());
}

// Returns the median time from one node to the next, for turns `from` to `to`.
double turn_us(const Speaker& speaker, std::size_t from, std::size_t to) {
  std::vector<double> times;
  for (std::size_t i = from; i < to; ++i) {
    times.push_back((speaker.began[i + 1] - speaker.began[i]) * 1e6);
  }
  return median(std::move(times));
}

struct Way {
  const char* name;
  std::optional<EncryptionOptions> encryption;
};

void measure(World& world, const std::string& path, const Way& way) {
  auto sqlite = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
  std::unique_ptr<Store> sealed;
  if (way.encryption) sealed = make_encrypted_store(*sqlite, *world.random, *way.encryption);
  Store& store = sealed ? *sealed : *sqlite;
  value_or_exit(sqlite->compact());
  auto empty = static_cast<double>(std::filesystem::file_size(path));
  Speaker speaker;
  auto graph = talk_of(speaker);
  auto runtime = world.runtime(store, graph);
  StartOptions options;
  options.thread = ThreadId("talk");
  Span span;
  auto view = value_or_exit(world.wait_for(runtime->start(graph, Talk{}, std::move(options))));
  span.stop();
  value_or_exit(sqlite->compact());
  double bytes = static_cast<double>(std::filesystem::file_size(path)) - empty;

  std::string text = to_json(view.state);
  std::vector<double> loading, parsing;
  for (int i = 0; i < loads; ++i) {
    double began = wall_seconds();
    value_or_exit(world.wait_for(runtime->status(default_tenant(), ThreadId("talk"))));
    loading.push_back((wall_seconds() - began) * 1e6);
    began = wall_seconds();
    value_or_exit(parse_json(text));
    parsing.push_back((wall_seconds() - began) * 1e6);
  }
  double first = turn_us(speaker, 5, 25);
  double last = turn_us(speaker, turns - 21, turns - 1);
  std::printf("| %s | %.2f | %.0f | %.0f | %.2f | %.0f | %.0f | %.2f | %.2f |\n", way.name,
              bytes / (turns * static_cast<double>(turn_bytes)), first, last, last / first,
              median(loading), median(parsing), median(loading) / median(parsing), span.other_load);
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  EncryptionOptions compressed;
  EncryptionOptions both;
  both.keys = value_or_exit(KeyRing::from_text("k1:" + std::string(64, 'a')));
  std::printf("%s\n\n%d turns of %zu bytes, each a durable commit on SQLite.\n\n",
              description().c_str(), turns, turn_bytes);
  std::printf(
      "| | bytes on the disk / unique bytes | a turn around the 15th, us | around the 990th, us | "
      "ratio | load, us | parse its bytes, us | ratio | others' load "
      "|\n|---|---|---|---|---|---|---|---|---|\n");
  measure(world, place.path + "/plain", {"as it is", std::nullopt});
  measure(world, place.path + "/zstd", {"zstd", compressed});
  measure(world, place.path + "/both", {"zstd and AES-256-GCM", both});
}
