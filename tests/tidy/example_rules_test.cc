#include <gtest/gtest.h>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

const std::string kHello = "// A first agent.\n//\n//     $ 01_hello run\n\nint main() {}\n";

Tree sound() {
  return {{"examples/01_hello.cc", kHello},
          {"examples/README.md", "| [01_hello.cc](01_hello.cc) | hello |\n"},
          {"examples/expected/01_hello.txt", "$ 01_hello run\n"}};
}

TEST(TidyExamples, AreShortAndListedAndHaveACommandAndItsOutput) {
  EXPECT_TRUE(check_examples(sound()).empty());
  for (std::size_t missing : {1u, 2u}) {
    Tree tree = sound();
    tree.erase(tree.begin() + static_cast<std::ptrdiff_t>(missing));
    EXPECT_EQ(check_examples(tree).size(), 1u);
  }
  Tree silent = sound();
  silent[0].text = "int main() {}\n";
  EXPECT_EQ(check_examples(silent).size(), 1u);
  Tree long_one = sound();
  for (int line = 0; line < 76; ++line) long_one[0].text += "int a;\n";
  EXPECT_EQ(check_examples(long_one).size(), 1u);
  EXPECT_TRUE(check_examples({{"examples/mail/mail.cc", "int main() {}\n"}}).empty());
}

File document(const std::string& mark, const std::string& code) {
  return {"README.md", "Text.\n\n" + mark + "```cpp\n" + code + "```\n"};
}

TEST(TidySnippets, AProgramInADocumentIsTakenFromAnExample) {
  Tree tree = sound();
  tree.push_back(document("", "int main() {}\n"));
  EXPECT_EQ(check_snippets(tree).size(), 1u);
  tree.back() = document("", "co_await first();\n");
  EXPECT_TRUE(check_snippets(tree).empty()) << "no program";
  tree.back() = document("<!-- from examples/01_hello.cc -->\n", "\nint main() {}\n");
  EXPECT_TRUE(check_snippets(tree).empty());
  tree.back() = document("<!-- from examples/01_hello.cc -->\n", "int main() { return 1; }\n");
  EXPECT_EQ(check_snippets(tree).size(), 1u) << "another line";
  tree.back() =
      document("<!-- from examples/01_hello.cc -->\n", "int main() {}\n// A first agent.\n");
  EXPECT_EQ(check_snippets(tree).size(), 1u) << "another order";
  tree.back() = document("<!-- from examples/02_gone.cc -->\n", "int main() {}\n");
  EXPECT_EQ(check_snippets(tree).size(), 1u) << "no such file";
}

}  // namespace
}  // namespace belay::tidy
