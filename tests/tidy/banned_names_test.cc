#include <gtest/gtest.h>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

bool is_clean_source(std::string path, std::string text) {
  return check_banned_names({std::move(path), std::move(text)}).empty();
}

TEST(TidyBannedNames, FindsEachInCodeOfTheEngine) {
  for (const char* bad : {"auto t = std::chrono::system_clock::now();",
                          "auto t = steady_clock::now();",
                          "std::random_device device;",
                          "int r = rand();",
                          "srand(1);",
                          "int r = std::rand ( );",
                          "std::this_thread::sleep_for(delay);",
                          "std::this_thread::sleep_until(then);",
                          "usleep(5);",
                          "std::thread worker(f);",
                          "std::vector<std::thread> all;",
                          "std::jthread worker(f);",
                          "auto f = std::async(g);",
                          "auto* home = std::getenv(\"HOME\");",
                          "throw 1;",
                          "try { f(); } catch (...) {}",
                          "try { f(); } catch (int) {}",
                          "auto f = [=] { return a; };",
                          "auto f = [=, &b] { return a; };",
                          "thread_local int depth;",
                          "std::cout << a;",
                          "auto* p = new int;",
                          "delete p;",
                          "delete[] p;",
                          "std::regex word(\"a\");",
                          "int n = std::stoi(text);",
                          "double d = std::stod(text);",
                          "int n = atoi(text);",
                          "assert(ok);",
                          "auto t = std::chrono::\n    system_clock\n    ::now();"}) {
    EXPECT_FALSE(is_clean_source("src/engine/checkpoint.cc", bad)) << bad;
  }
}

TEST(TidyBannedNames, LeavesOtherCodeAlone) {
  for (const char* good :
       {"// throw, new, std::thread", "log(\"do not throw, catch (or) delete\");",
        "Store(const Store&) = delete;", "void operator delete(void*);",
        "std::thread::id owner = std::this_thread::get_id();", "int operand(int);", "model.rand();",
        "auto f = [&] { return a; };", "auto f = [a = b] { return a; };",
        "std::unique_ptr<Clock> system_clock();", "static_assert(sizeof(int) == 4);",
        "int new_id = 1;", "R\"(throw new std::thread)\";"}) {
    EXPECT_TRUE(is_clean_source("src/engine/checkpoint.cc", good)) << good;
  }
}

TEST(TidyBannedNames, LeaveTheCommitsOfRunsToTheEngine) {
  EXPECT_TRUE(is_clean_source("src/engine/checkpoint.cc", "Commit commit;"));
  EXPECT_TRUE(is_clean_source("src/worker/message.cc", "Commit commit;"));
  EXPECT_FALSE(is_clean_source("src/worker/worker.cc", "Commit commit;"));
  EXPECT_FALSE(is_clean_source("src/runtime/decisions.cc", "Commit commit;"));
  EXPECT_TRUE(is_clean_source("src/worker/worker.cc", "Commit commit = std::move(*write.commit);"));
}

TEST(TidyBannedNames, KnowsTheExceptions) {
  EXPECT_TRUE(is_clean_source("src/base/time.cc", "return std::chrono::system_clock::now();"));
  EXPECT_TRUE(is_clean_source("src/base/blocking_pool.cc", "std::thread worker(f);"));
  EXPECT_TRUE(is_clean_source("src/store/sqlite/writer.cc", "std::thread worker(f);"));
  EXPECT_TRUE(is_clean_source("src/base/result.cc", "throw Failure(error);"));
  EXPECT_TRUE(is_clean_source("src/cli/main.cc", "std::cout << std::getenv(\"HOME\");"));
  EXPECT_TRUE(is_clean_source("src/engine/advance_test.cc", "throw 1;"));
  EXPECT_TRUE(is_clean_source("tests/crash/crash_test.cc", "std::this_thread::sleep_for(delay);"));
  EXPECT_FALSE(is_clean_source("tests/crash/crash_test.cc", "int r = rand();"));
  EXPECT_FALSE(is_clean_source("src/client/main.cc", "std::cout << 1;"));
  EXPECT_TRUE(is_clean_source("docs/errors.md", "throw"));
}

TEST(TidyBannedNames, SaysWhatToUseInstead) {
  Findings findings = check_banned_names({"src/engine/a.cc", "int a;\nint b = rand();\n"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].line, 2);
  EXPECT_EQ(findings[0].message, "not rand(: use the Random that was handed in");
}

}  // namespace
}  // namespace belay::tidy
