#include "langgraph/store_items.h"

#include "tests/support/agent_server_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

struct StoreItems : AgentServerFixture {
  Answered put(const std::string& labels, const std::string& key, const std::string& value,
               const std::string& more = {}) {
    return call(
        "PUT", "/store/items",
        R"({"namespace":)" + labels + R"(,"key":")" + key + R"(","value":)" + value + more + "}");
  }
  std::size_t found(const std::string& body) {
    return size_of(post("/store/items/search", body).body["items"]);
  }
};

TEST_F(StoreItems, AnItemIsReadUnderItsNamespaceAndKey) {
  EXPECT_EQ(put(R"(["a","b"])", "k", R"({"n":1})").status, 204);
  auto item = get("/store/items?namespace=a.b&key=k");
  ASSERT_EQ(item.status, 200);
  EXPECT_EQ(to_json(item.body["value"]), R"({"n":1})");
  EXPECT_EQ(to_json(item.body["namespace"]), R"(["a","b"])");
  EXPECT_TRUE(get("/store/items?namespace=a&key=k").body.is_null());
  EXPECT_TRUE(get("/store/items?namespace=a.b&key=b").body.is_null());
  EXPECT_EQ(call("DELETE", "/store/items", R"({"namespace":["a","b"],"key":"k"})").status, 204);
  EXPECT_EQ(call("DELETE", "/store/items", R"({"namespace":["a","b"],"key":"k"})").status, 204);
  EXPECT_TRUE(get("/store/items?namespace=a.b&key=k").body.is_null());
}

TEST_F(StoreItems, ASecondSaveKeepsTheTimeOfCreation) {
  put(R"(["a"])", "k", "{}");
  std::string created = text(get("/store/items?namespace=a&key=k").body["created_at"]);
  clock.move(std::chrono::seconds(5));
  put(R"(["a"])", "k", R"({"n":2})");
  auto item = get("/store/items?namespace=a&key=k");
  EXPECT_EQ(text(item.body["created_at"]), created);
  EXPECT_NE(text(item.body["updated_at"]), created);
}

TEST_F(StoreItems, APrefixIsOneOfWholeLabels) {
  put(R"(["a","b"])", "1", R"({"n":1})");
  put(R"(["a","bc"])", "2", R"({"n":2})");
  put(R"(["ab"])", "3", R"({"n":3})");
  EXPECT_EQ(found(R"({"namespace_prefix":["a"]})"), 2u);
  EXPECT_EQ(found(R"({"namespace_prefix":["a","b"]})"), 1u);
  EXPECT_EQ(found(R"({"namespace_prefix":[]})"), 3u);
  EXPECT_EQ(found(R"({"limit":1,"offset":2})"), 1u);
  EXPECT_EQ(found(R"({"limit":1,"offset":3})"), 0u);
}

TEST_F(StoreItems, FiltersCompareMembers) {
  put(R"(["a"])", "1", R"({"n":1,"s":"x"})");
  put(R"(["a"])", "2", R"({"n":2,"s":"x"})");
  EXPECT_EQ(found(R"({"filter":{"s":"x"}})"), 2u);
  EXPECT_EQ(found(R"({"filter":{"n":1.0,"s":"x"}})"), 1u);
  EXPECT_EQ(found(R"({"filter":{"n":{"$gte":1,"$lt":2}}})"), 1u);
  EXPECT_EQ(found(R"({"filter":{"n":{"$ne":1}}})"), 1u);
  EXPECT_EQ(found(R"({"filter":{"n":{"$gt":"1"}}})"), 0u) << "a text has no order with a number";
  EXPECT_EQ(post("/store/items/search", R"({"filter":{"n":{"$in":[1]}}})").status, 422);
  EXPECT_EQ(post("/store/items/search", R"({"query":"meaning"})").status, 422);
}

TEST_F(StoreItems, FiltersCompareListsAndObjectsAsAWhole) {
  put(R"(["a"])", "1", R"({"tags":["a","b"],"o":{"x":1,"y":null}})");
  put(R"(["a"])", "2", R"({"tags":["b","a"],"o":{"x":1}})");
  put(R"(["a"])", "3", R"({"tags":["b","a","a"],"o":{"x":[1]}})");
  EXPECT_EQ(found(R"({"filter":{"tags":["a","b"]}})"), 1u);
  EXPECT_EQ(found(R"({"filter":{"tags":{"$eq":["b","a"]}}})"), 1u);
  EXPECT_EQ(found(R"({"filter":{"tags":{"$ne":["a","b"]}}})"), 2u);
  EXPECT_EQ(found(R"({"filter":{"tags":["a"]}})"), 0u);
  EXPECT_EQ(found(R"({"filter":{"o":{"x":1.0}}})"), 1u);
  EXPECT_EQ(found(R"({"filter":{"o":{"y":null,"x":1}}})"), 1u);
  EXPECT_EQ(found(R"({"filter":{"o":{"x":[1.0]}}})"), 1u);
  EXPECT_EQ(found(R"({"filter":{"o":{"x":[1,1]}}})"), 0u);
}

TEST_F(StoreItems, NamespacesAreListedOnce) {
  for (const char* labels : {R"(["a","b"])", R"(["a","c"])", R"(["d","b"])"}) {
    put(labels, "1", "{}");
    put(labels, "2", "{}");
  }
  auto names = [this](const std::string& body) {
    return to_json(post("/store/namespaces", body).body["namespaces"]);
  };
  EXPECT_EQ(names("{}"), R"([["a","b"],["a","c"],["d","b"]])");
  EXPECT_EQ(names(R"({"prefix":["a"]})"), R"([["a","b"],["a","c"]])");
  EXPECT_EQ(names(R"({"suffix":["b"]})"), R"([["a","b"],["d","b"]])");
  EXPECT_EQ(names(R"({"prefix":["*","b"]})"), R"([["a","b"],["d","b"]])");
  EXPECT_EQ(names(R"({"max_depth":1})"), R"([["a"],["d"]])");
  EXPECT_EQ(names(R"({"limit":1,"offset":1})"), R"([["a","c"]])");
}

TEST_F(StoreItems, AnItemExpires) {
  EXPECT_EQ(put(R"(["a"])", "k", "{}", R"(,"ttl":1)").status, 204);
  EXPECT_FALSE(get("/store/items?namespace=a&key=k").body.is_null());
  clock.move(std::chrono::minutes(2));
  EXPECT_TRUE(get("/store/items?namespace=a&key=k").body.is_null());
  EXPECT_EQ(found("{}"), 0u);
  for (const char* ttl : {"0", "-1", "1e300", "\"x\""}) {
    EXPECT_EQ(put(R"(["a"])", "k", "{}", std::string(R"(,"ttl":)") + ttl).status, 422) << ttl;
  }
}

TEST_F(StoreItems, HostileNamesSaveNothing) {
  for (const char* labels : {"[]", R"([""])", R"(["a.b"])", R"([1])", R"("a")", "null"}) {
    EXPECT_EQ(put(labels, "k", "{}").status, 422) << labels;
  }
  EXPECT_EQ(put(R"([")" + std::string(600, 'x') + R"("])", "k", "{}").status, 422);
  EXPECT_EQ(put(R"(["a"])", std::string(1'001, 'x'), "{}").status, 422);
  EXPECT_EQ(put(R"(["a"])", "", "{}").status, 422);
  EXPECT_EQ(put(R"(["a"])", "k", "7").status, 422);
  EXPECT_EQ(get("/store/items?key=k").status, 422);
  EXPECT_EQ(get("/store/items?namespace=a..b&key=k").status, 422);
  EXPECT_EQ(found("{}"), 0u);
}

TEST_F(StoreItems, EachUserHasAStore) {
  add_key("ada", Permission::run);
  add_key("bob", Permission::run);
  add_key("eve", Permission::read);
  std::string item = R"({"namespace":["a"],"key":"k","value":{}})";
  EXPECT_EQ(as("ada", "PUT", "/store/items", item).status, 204);
  EXPECT_FALSE(as("ada", "GET", "/store/items?namespace=a&key=k").body.is_null());
  EXPECT_TRUE(as("bob", "GET", "/store/items?namespace=a&key=k").body.is_null());
  EXPECT_EQ(as("eve", "PUT", "/store/items", item).status, 403);
  EXPECT_EQ(as("eve", "DELETE", "/store/items", item).status, 403);
}

}  // namespace
}  // namespace belay::langgraph
