// json_patch: the difference of two values changes the one into the other.

#include "ag_ui/json_patch.h"

#include <gtest/gtest.h>

#include <random>

namespace belay::ag_ui {
namespace {

Value parsed_json(std::string_view text) { return parse_json(text).value(); }

// Makes documents of few different names and values: two of them have much in common.
class RandomDocuments {
 public:
  explicit RandomDocuments(std::uint32_t seed) : engine_(seed) {}

  Value make(int depth = 4) {
    int kind = below(depth > 0 ? 8 : 6);
    if (kind == 0) return Value();
    if (kind == 1) return Value(below(2) == 1);
    if (kind == 2) return Value(static_cast<std::int64_t>(below(3)));
    if (kind == 3) return Value(static_cast<double>(below(3)) / 2);
    if (kind <= 5) return Value(name());
    if (kind == 6) return Value(items(depth));
    return Value(members(depth));
  }
  // Returns a document that differs from this one in some places.
  Value changed(const Value& before, int depth = 4) {
    if (below(6) == 0) return make(depth);
    if (const Value::Object* known = before.as_object()) {
      Value::Object after;
      for (const auto& [key, value] : *known) {
        if (below(8) > 0) after.emplace(key, changed(value, depth - 1));
      }
      if (below(3) == 0) after.insert_or_assign(name(), make(depth - 1));
      return Value(std::move(after));
    }
    if (const Value::Array* known = before.as_array()) {
      Value::Array after;
      for (const Value& value : *known) {
        if (below(8) == 0) after.push_back(make(depth - 1));
        if (below(8) > 0) after.push_back(below(3) == 0 ? changed(value, depth - 1) : value);
      }
      return Value(std::move(after));
    }
    return before;
  }

 private:
  int below(int bound) { return static_cast<int>(engine_() % static_cast<std::uint32_t>(bound)); }
  std::string name() {
    static const char* const names[] = {"", "a", "b", "/", "~", "~1", "a/b", "0", "-", "ö\n"};
    return names[below(10)];
  }
  Value::Array items(int depth) {
    Value::Array made;
    for (int i = below(5); i > 0; --i) made.push_back(make(depth - 1));
    return made;
  }
  Value::Object members(int depth) {
    Value::Object made;
    for (int i = below(5); i > 0; --i) made.insert_or_assign(name(), make(depth - 1));
    return made;
  }

  std::mt19937 engine_;
};

void expect_change(const Value& before, const Value& after) {
  Value::Array patch = json_patch(before, after);
  auto made = patched(before, patch);
  ASSERT_TRUE(made.ok()) << made.error().message << "\n" << to_json(Value(patch));
  ASSERT_EQ(to_json(*made), to_json(after)) << to_json(before) << "\n" << to_json(Value(patch));
  ASSERT_EQ(patch.empty(), before == after);
}

TEST(JsonPatches, ChangeAnyDocumentIntoAnyOtherOne) {
  for (std::uint32_t seed = 0; seed < 3'000; ++seed) {
    SCOPED_TRACE(seed);
    RandomDocuments documents(seed);
    Value before = documents.make();
    ASSERT_NO_FATAL_FAILURE(expect_change(before, documents.make()));
    ASSERT_NO_FATAL_FAILURE(expect_change(before, documents.changed(before)));
    ASSERT_NO_FATAL_FAILURE(expect_change(before, before));
  }
}

TEST(JsonPatches, NameOnlyWhatDiffers) {
  Value before = parsed_json(R"({"a":1,"b":{"c":[1,2,3]},"d":"x"})");
  Value after = parsed_json(R"({"a":1,"b":{"c":[1,2,9,3]},"e/f":"x"})");
  EXPECT_EQ(to_json(Value(json_patch(before, after))),
            R"([{"op":"remove","path":"/d"},{"op":"add","path":"/b/c/2","value":9},)"
            R"({"op":"add","path":"/e~1f","value":"x"}])");
}

TEST(JsonPatches, OfAnUnknownFormAreRefused) {
  Value document = parsed_json(R"({"a":[1],"b":2})");
  for (const char* operation :
       {"7", "{}", R"({"op":"add"})", R"({"op":"move","path":"/a","from":"/b"})",
        R"({"op":"test","path":"/b","value":2})", R"({"op":"remove","path":""})",
        R"({"op":"remove","path":"/c"})", R"({"op":"replace","path":"/c","value":1})",
        R"({"op":"remove","path":"/a/1"})", R"({"op":"add","path":"/a/2","value":1})",
        R"({"op":"add","path":"/a/-1","value":1})", R"({"op":"add","path":"/b/c","value":1})",
        R"({"op":"add","path":"a","value":1})",
        R"({"op":"remove","path":"/a/99999999999999999999"})"}) {
    auto refused = patched(document, Value::Array{parsed_json(operation)});
    ASSERT_FALSE(refused.ok()) << operation;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  }
}

}  // namespace
}  // namespace belay::ag_ui
