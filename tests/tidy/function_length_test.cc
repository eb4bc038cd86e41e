#include <gtest/gtest.h>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

// Returns a body of this many lines, including those of its braces.
std::string body(int lines) {
  std::string text = "{\n";
  for (int i = 2; i < lines; ++i) text += "  call();\n";
  return text + "}\n";
}

std::string found(const std::string& text) {
  std::string all;
  for (const Finding& finding : check_functions({"src/base/a.cc", text})) all += finding.message;
  return all;
}

TEST(TidyFunctions, AreAtMostSeventyLines) {
  EXPECT_EQ(found("int f() " + body(70)), "");
  EXPECT_TRUE(found("int f() " + body(71)).starts_with("f has 71 lines")) << found("f");
}

TEST(TidyFunctions, DoNotCountTheLinesOfTheirComments) {
  std::string comments = "{\n// why\n  // how\n";
  EXPECT_EQ(found("int f() " + comments + body(70).substr(2)), "");
  EXPECT_TRUE(found("int f() " + comments + body(71).substr(2)).starts_with("f has 71 lines"));
}

TEST(TidyFunctions, AreFoundHoweverTheyAreDeclared) {
  for (const char* head : {
           "namespace a { namespace {\nstatic int g(int x) ",
           "struct S {\n int g() const noexcept override ",
           "class C final : public B {\n public:\n  explicit C(int x) : x_(x), y_{x} ",
           "class C {\n  C() : list_({1, 2}), map_{{1, 2}} ",
           "template <typename T, class U = std::map<int, T>>\nauto g(T x) -> std::vector<T> ",
           "template <class T>\n  requires(sizeof(T) > 1)\nvoid g(T x) ",
           "std::string C::g(Options o = {}, int y = f({1})) && ",
           "bool operator==(const A& a, const A& b) ",
           "A& operator=(A&& a) noexcept ",
           "Result<int> A::g(struct stat* s) ",
           "TEST(Suite, Name) ",
           "enum class E { a, b };\nconst int x[] = {1, 2};\nint y{3};\nvoid g() ",
           "const auto g = [](int x) ",
           "int x = 3; struct P { int a = 0; P() ",
           "std::vector<int> all = {1, 2};\nvoid g(const std::function<void(int)>& f) ",
       }) {
    EXPECT_NE(found(head + body(71)), "") << head;
    EXPECT_EQ(found(head + body(70)), "") << head;
  }
}

TEST(TidyFunctions, AreNotTypesSpacesTablesOrLambdasInside) {
  EXPECT_EQ(found("namespace a " + body(200)), "");
  EXPECT_EQ(found("struct A final : B<int> " + body(200)), "");
  EXPECT_EQ(found("enum class E : int " + body(200)), "");
  EXPECT_EQ(found("const std::vector<int> all = " + body(200) + ";"), "");
  EXPECT_EQ(found("const Table table" + body(200) + ";"), "");
  EXPECT_EQ(found("class A {\n" + std::string(3, '\n') + "int f() " + body(60) + "int g() " +
                  body(60) + "};"),
            "");
  std::string nested = "void f() {\n  auto g = [] " + body(71) + ";\n}\n";
  EXPECT_TRUE(found(nested).starts_with("f has 74 lines")) << "told once: " << found(nested);
}

TEST(TidyInterfaces, HaveAtMostFiveVirtualFunctions) {
  std::string five = "class I {\n public:\n  virtual ~I() = default;\n";
  for (int i = 0; i < 5; ++i) five += "  virtual int f" + std::to_string(i) + "() = 0;\n";
  EXPECT_TRUE(check_interfaces({"include/belay/i.h", five + "};\n"}).empty());
  Findings findings = check_interfaces({"include/belay/i.h", five + "  virtual void g() {}\n};\n"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].message.starts_with("I has 6 virtual functions"));
  // Two interfaces in one file are counted separately, and a nested one separately from its owner.
  EXPECT_TRUE(check_interfaces({"a.h", five + "};\n" + five + "};\n"}).empty());
  EXPECT_TRUE(
      check_interfaces({"a.h", "struct Outer {\n" + five + "};\nvirtual int g();\n};"}).empty());
}

}  // namespace
}  // namespace belay::tidy
