// Runs every check over a tree.

#include "tests/tidy/checks.h"

namespace belay::tidy {

Findings check_tree(const Tree& tree) {
  Findings all;
  auto add = [&all](Findings some) { all.insert(all.end(), some.begin(), some.end()); };
  for (const File& file : tree) {
    for (auto check : {check_includes, check_banned_names, check_co_await, check_text, check_name,
                       check_length, check_functions, check_interfaces, check_pages}) {
      add(check(file));
    }
  }
  for (auto check : {check_public_headers, check_readmes, check_targets, check_error_codes,
                     check_examples, check_snippets, check_mutations, check_prose}) {
    add(check(tree));
  }
  return all;
}

}  // namespace belay::tidy
