#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

Findings in_a_coroutine(const std::string& statement) {
  return check_co_await(
      {"src/driver/driver.cc", "Task<int> f(int a) {\n" + statement + "\n  co_return 1;\n}\n"});
}

TEST(TidyCoAwait, FindsWhatGcc12DestroysTwice) {
  for (const char* bad : {
           "co_await f(Options{.a = s});",
           "co_await f({.a = s});",
           "co_await f({});",
           "co_await f(Options{});",
           "auto r = co_await f(std::optional<Options>(Options{s}));",
           "co_await f({p, q});",
           "co_await f(std::vector<int>{1, 2});",
           "co_await f([s] { return s; });",
           "co_await f([s](int a) mutable -> Task<int> { co_return a; });",
           "co_await f([&] { return s; });",
           "co_await f(c ? s : std::string(x));",
           "x = c ? Agg{1, co_await g()} : Agg{};",
           "if (int r = co_await f(Agg{1}); r > 0) { g(); }",
           "if ((co_await f({1})).ok()) g();",
           "while (co_await f({1})) g();",
           "for (auto& x : co_await f({1})) g(x);",
           "auto r = co_await first(\n    a,\n    Options{\n        .b = 1});",
           "auto [x, y] = use(Agg{1}, co_await f());",
           "BELAY_CO_TRY(auto r, co_await f(Agg{1}));",
           "co_return co_await f(Agg{1});",
           "Rows rows{co_await f()};",
           "auto g = [a]() -> Task<int> { co_return co_await f(Agg{1}); };",
           "co_await f([] { return 1; }, Agg{1});",
           "co_await store.commit(Commit{.guard = guard, .rows = std::move(rows)});",
       }) {
    EXPECT_FALSE(in_a_coroutine(bad).empty()) << bad;
  }
}

TEST(TidyCoAwait, LeavesTheSafeFormsAlone) {
  for (const char* good : {
           "auto options = Options{.a = s};\n  co_await f(std::move(options));",
           "auto task = f(Options{.a = s});\n  co_await std::move(task);",
           "co_await f(a, std::move(b), Options(1), \"text{?\", 'c');",
           "co_await f(make_options(1));",
           "co_await f([] { return 1; });",
           "co_await f(table[i], values[0]);",
           "if (co_await f()) { auto x = c ? 1 : 2; }",
           "if (c ? a : b) co_await f();",
           "if (co_await f()) x = c ? 1 : 2;",
           "for (auto& x : co_await f()) { g(Agg{x}); }",
           "for (Agg x{1}; co_await f(); g({})) {}",
           "while (co_await next()) { g({1}); }",
           "auto g = [a, b](int c) -> Task<int> { co_return co_await f(c); };",
           "auto g = [a]() -> Task<std::vector<int>> { auto v = co_await f(); co_return v; };",
           "auto x = Agg{1};\n  co_await f();\n  auto y = Agg{2};",
           "{ co_await f(); }\n  g(Agg{1});",
           "if (a) { g({1}); } else co_await f();",
           "do co_await f(); while (c ? a : b);",
           "switch (a) { case 1: { co_await f(); break; } default: break; }",
           "// co_await f(Agg{1});",
           "log(\"co_await f({1})\");",
           "[[maybe_unused]] auto r = co_await f();",
           "try { co_await f(); } catch (...) { g({1}); }",
       }) {
    Findings findings = in_a_coroutine(good);
    EXPECT_TRUE(findings.empty()) << good << "\n" << (findings.empty() ? "" : findings[0].message);
  }
}

TEST(TidyCoAwait, KnowsABodyFromAnInitialiser) {
  for (const char* good : {
           "struct A : B { int x; auto operator co_await() const noexcept { return Agg{1}; } };",
           "class A final { Task<int> f() const override { co_return co_await g(); } };",
           "enum class E { a, b };\nnamespace n { Task<int> f() { co_await g(); } }",
           "A::A() : a_{1}, b_(2) { start([this]() -> Task<Done> { co_await run(); }); }",
           "A::A() : a_{1} { spawn(); }\nTask<int> f() { co_await g(); }",
           "Result<int> f() noexcept { return c ? 1 : 2; }\nTask<int> g() { co_await h(); }",
           "auto f() -> Task<int> { co_await h(); }",
       }) {
    EXPECT_TRUE(check_co_await({"src/a.cc", good}).empty()) << good;
  }
}

TEST(TidyCoAwait, PointsAtTheOffendingLine) {
  Findings findings = in_a_coroutine("  co_await f(\n      a,\n      Agg{1});");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].line, 4);
}

TEST(TidyCoAwait, EndsOnAnyText) {
  auto piece = rc::gen::element<std::string>("co_await", "if", "(", ")", "[", "]", "{", "}", "<",
                                             ">", "->", ";", ":", "=", ",", "?", "a", "\"", "\n");
  EXPECT_TRUE(rc::check("no text makes the check crash or loop", [&] {
    std::string text;
    for (const std::string& one : *rc::gen::container<std::vector<std::string>>(piece)) {
      text += one + " ";
    }
    check_co_await({"src/a.cc", text});
  }));
}

}  // namespace
}  // namespace belay::tidy
