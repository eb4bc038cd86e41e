// make_faults TREE SEED COUNT [PREFIX]: draws faults for scripts/check-mutations --random. Prints
// one line per fault with tab-separated fields: id, file, line, kind, the reason why it is
// equivalent or "-", the original line, and the changed line.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/mutation/faults.h"

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

int main(int argc, char** argv) {
  using namespace belay::mutation;
  if (argc < 4) {
    std::fputs("usage: make_faults TREE SEED COUNT [PREFIX]\n", stderr);
    return 2;
  }
  std::filesystem::path tree = argv[1];
  std::string prefix = argc > 4 ? argv[4] : "";
  std::vector<Source> sources;
  for (const char* folder : {"src", "agents"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree / folder)) {
      std::string path = std::filesystem::relative(entry.path(), tree).generic_string();
      if (entry.is_regular_file() && is_judged(path) && path.starts_with(prefix)) {
        sources.push_back({path, text_of(entry.path())});
      }
    }
  }
  std::string trouble;
  auto known = equivalents_in(text_of(tree / "tests/mutation/equivalent_faults.txt"), trouble);
  if (!trouble.empty()) {
    std::fprintf(stderr, "tests/mutation/equivalent_faults.txt: %s", trouble.c_str());
    return 2;
  }
  auto seed = std::strtoull(argv[2], nullptr, 10);
  auto count = static_cast<std::size_t>(std::strtoull(argv[3], nullptr, 10));
  for (const Fault& fault : draw_faults(std::move(sources), seed, count)) {
    const Equivalent* same = equivalent_of(fault, known);
    std::printf("%016" PRIx64 "\t%s\t%zu\t%s\t%s\t%s\t%s\n", fault.id, fault.file.c_str(),
                fault.line, fault.kind.c_str(), same ? same->because.c_str() : "-",
                fault.before.c_str(), fault.after.c_str());
  }
  return 0;
}
