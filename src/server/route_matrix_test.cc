// Properties of every route, generated from the table of routes, so that a new route is tested
// automatically.

#include <map>
#include <string>

#include "base/percent_encoding.h"
#include "server/openapi.h"
#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

using RouteMatrix = ApiFixture;

// Returns the address of a route with replaced parameters.
std::string address(const Route& route, std::string_view with) {
  std::string path = route.path;
  for (std::size_t open = path.find('{'); open != path.npos; open = path.find('{')) {
    path.replace(open, path.find('}') - open + 1, percent_encoded(with));
  }
  return path;
}

bool has_parameter(const Route& route) { return route.path.find('{') != route.path.npos; }

bool is_problem(const Answered& answered) {
  return answered.header("Content-Type") == "application/problem+json" &&
         answered.body["status"] == Value(answered.status) &&
         answered.body["detail"].as_string() != nullptr &&
         answered.body["code"].as_string() != nullptr;
}

TEST_F(RouteMatrix, EachHasANameOfItsOwnAndSaysWhatItAnswers) {
  std::set<std::string> ids, addresses;
  for (const Route& route : api->routes()) {
    EXPECT_TRUE(ids.insert(route.id).second) << route.id;
    EXPECT_TRUE(addresses.insert(route.method + " " + route.path).second) << route.path;
    EXPECT_FALSE(route.summary.empty()) << route.id;
    EXPECT_FALSE(route.answers.empty()) << route.id;
  }
}

TEST_F(RouteMatrix, WhatIsNotThereIs404OrFoundEmpty) {
  for (const Route& route : api->routes()) {
    if (!has_parameter(route) || !route.body.is_null()) continue;
    auto answered = send(request(route.method, address(route, "nothing")));
    bool is_a_list = answered.status == 200;
    EXPECT_TRUE(is_a_list || (answered.status == 404 && is_problem(answered)))
        << route.id << " " << answered.status << to_json(answered.body);
  }
}

TEST_F(RouteMatrix, ANameThatIsTooLongIsRefused) {
  for (const Route& route : api->routes()) {
    if (!has_parameter(route)) continue;
    auto answered = send(request(route.method, address(route, std::string(1'000, 'x'))));
    EXPECT_TRUE(answered.status == 422 && is_problem(answered))
        << route.id << " " << answered.status;
  }
}

TEST_F(RouteMatrix, BodiesThatAreNoJsonOrDoNotFitAreRefused) {
  const std::pair<std::string, int> bodies[] = {
      {"{", 400},
      {"[]", 422},
      {"\"text\"", 422},
      {"null", 422},
      {R"({"a":1,"a":2})", 400},
      {R"({"a":NaN})", 400},
      {"{\"a\":\"\xff\"}", 400},
      {R"({"a":"\u0000"})", 400},
      {R"({"a":"\ud800"})", 400},
      {R"({"a":1e999})", 400},
      {std::string(10'000, '[') + std::string(10'000, ']'), 400},
      {R"({"noSuchMember":1})", 422},
  };
  for (const Route& route : api->routes()) {
    // A route that reads its body itself has its own tests.
    if (route.body.is_null() || route.read) continue;
    for (const auto& [body, status] : bodies) {
      auto answered = send(request(route.method, address(route, "nothing"), body));
      EXPECT_TRUE(answered.status == status && is_problem(answered))
          << route.id << " " << body.substr(0, 30) << " " << answered.status;
    }
    auto plain = request(route.method, address(route, "nothing"), "{}");
    plain.headers.front().value = "text/plain";
    EXPECT_EQ(send(std::move(plain)).status, 415) << route.id;
  }
  EXPECT_TRUE(all_runs().empty());
}

TEST_F(RouteMatrix, ABodyWhereNoneIsTakenAndAnUnknownParameterAreRefused) {
  for (const Route& route : api->routes()) {
    if (route.body.is_null()) {
      auto answered = send(request(route.method, address(route, "nothing"), "{}"));
      EXPECT_EQ(answered.status, 422) << route.id;
    }
    auto unknown = send(request(route.method, address(route, "nothing") + "?no_such=1"));
    EXPECT_EQ(unknown.status, 422) << route.id;
    auto twice = send(request(route.method, address(route, "nothing") + "?a=1&a=2"));
    EXPECT_EQ(twice.status, 400) << route.id;
  }
}

TEST_F(RouteMatrix, LimitsAreKeptToTheirBounds) {
  for (const Route& route : api->routes()) {
    for (const Parameter& parameter : route.parameters) {
      if (parameter.name != "limit") continue;
      for (const char* wrong : {"0", "-1", "x", "1.5", "1000000", ""}) {
        auto answered = get(address(route, "nothing") + "?limit=" + wrong);
        EXPECT_EQ(answered.status, 422) << route.id << " " << wrong;
      }
    }
  }
}

TEST_F(RouteMatrix, OtherMethodsAreToldWhichThereAre) {
  for (const Route& route : api->routes()) {
    auto answered = send(request("TRACE", address(route, "nothing")));
    EXPECT_EQ(answered.status, 405) << route.id;
    EXPECT_NE(answered.header("Allow").find(route.method), std::string::npos) << route.id;
  }
  EXPECT_EQ(get("/api/nothing/at/all").status, 404);
  EXPECT_EQ(send(request("HEAD", "/api/runs")).status, 200);
}

TEST_F(RouteMatrix, WithKeysEachNeedsItsPermission) {
  const Permission all[] = {Permission::read, Permission::run, Permission::decide,
                            Permission::administer};
  for (Permission each : all) {
    ApiKey key;
    key.name = name_of(each);
    key.permission = each;
    key.token = sha256("token-that-may-" + std::string(name_of(each)));
    options.keys.push_back(std::move(key));
  }
  api = make_api();
  for (const Route& route : api->routes()) {
    auto nobody = send(request(route.method, address(route, "nothing")));
    EXPECT_EQ(nobody.status == 401, route.permission != Permission::open) << route.id;
    for (Permission each : all) {
      auto sent = request(route.method, address(route, "nothing"));
      sent.headers.push_back(
          {"Authorization", "Bearer token-that-may-" + std::string(name_of(each))});
      auto answered = send(std::move(sent));
      EXPECT_EQ(answered.status == 403, each < route.permission)
          << route.id << " as " << name_of(each) << " " << answered.status;
    }
  }
}

// ---- Responses match the description.

bool fits(const Value& value, const Value& schema, const Value& all, std::string& why);

bool fits_type(const Value& value, const std::string& type) {
  if (type == "integer") return value.holds_integer();
  return value.kind() == type;
}

bool fits_object(const Value& value, const Value& schema, const Value& all, std::string& why) {
  const Value::Object* members = value.as_object();
  if (!members) return true;
  const Value::Object* known = schema["properties"].as_object();
  if (const Value::Array* required = schema["required"].as_array()) {
    for (const Value& name : *required) {
      if (members->contains(*name.as_string())) continue;
      why = "misses " + *name.as_string();
      return false;
    }
  }
  for (const auto& [name, member] : *members) {
    auto found = known ? known->find(name) : Value::Object::const_iterator{};
    if (!known || found == known->end()) {
      why = "has " + name + " beside";
      return false;
    }
    if (!fits(member, found->second, all, why)) {
      why = name + ": " + why;
      return false;
    }
  }
  return true;
}

bool fits(const Value& value, const Value& schema, const Value& all, std::string& why) {
  if (schema.as_bool()) return true;
  if (const std::string* reference = schema["$ref"].as_string()) {
    return fits(value, all[reference->substr(reference->rfind('/') + 1)], all, why);
  }
  if (const Value::Array* choices = schema["anyOf"].as_array()) {
    for (const Value& each : *choices) {
      if (fits(value, each, all, why)) return true;
    }
    return false;
  }
  const Value::Array* names = schema["enum"].as_array();
  if (names && std::find(names->begin(), names->end(), value) == names->end()) {
    why = "is " + to_json(value) + ", which is no name of " + to_json(schema);
    return false;
  }
  const std::string* type = schema["type"].as_string();
  if (type && !fits_type(value, *type)) {
    why = "is of kind " + std::string(value.kind()) + ", not " + *type;
    return false;
  }
  if (const Value::Array* items = value.as_array(); items && schema.find("items")) {
    for (const Value& item : *items) {
      if (!fits(item, schema["items"], all, why)) return false;
    }
  }
  return !schema.find("properties") || fits_object(value, schema, all, why);
}

TEST_F(RouteMatrix, AnswersAreWhatTheDescriptionSays) {
  begin_urgent("first");
  begin_urgent("second");
  std::string run = *get("/api/threads/first").body["runId"].as_string();
  post("/api/approvals/second/decision", R"({"approved":true})");
  const char* schedule =
      R"({"name":"first","expression":"@daily","agent":"mail","input":{"topic":"calm"}})";
  ASSERT_EQ(post("/api/schedules", schedule).status, 201);
  Value schemas = answer_schemas();
  std::size_t compared = 0;
  for (const Route& route : api->routes()) {
    if (route.method != "GET") continue;
    std::string name = route.path.find("{runId}") != route.path.npos   ? run
                       : route.path.find("{agent}") != route.path.npos ? "mail"
                                                                       : "first";
    bool has_period = route.id == "getAgentUsage";
    std::string query = has_period ? "?startDate=2026-11-01&endDate=2026-11-30" : "";
    auto answered = get(address(route, name) + query);
    bool is_described = false;
    for (const ResponseSpec& answer : route.answers) {
      is_described = is_described || answer.status == answered.status;
      if (answer.status != answered.status || answer.schema.empty()) continue;
      std::string why;
      EXPECT_TRUE(fits(answered.body, schemas[answer.schema], schemas, why))
          << route.id << ": " << why << "\n"
          << to_json(answered.body);
      ++compared;
    }
    EXPECT_EQ(answered.status, 200) << route.id;
    EXPECT_TRUE(is_described) << route.id << " says nothing of its " << answered.status;
  }
  EXPECT_GT(compared, 15u);
}

// The paths in "x-other-paths" of an operation or several, by the id of their route.
std::map<std::string, std::string> other_paths_in(const Value& description) {
  std::map<std::string, std::string> paths;
  for (const auto& [address, methods] : *description["paths"].as_object()) {
    for (const auto& [method, operation] : *methods.as_object()) {
      const Value::Array* others = operation["x-other-paths"].as_array();
      if (!others) continue;
      for (const Value& each : *others) {
        paths.emplace(*each["operationId"].as_string(), *each["path"].as_string());
      }
    }
  }
  return paths;
}

TEST_F(RouteMatrix, TheDescriptionNamesEachRouteAndItsSchemas) {
  const Value& description = api->description();
  std::map<std::string, std::string> other_paths = other_paths_in(description);
  EXPECT_EQ(description["openapi"], Value("3.1.0"));
  Value schemas = answer_schemas();
  for (const Route& route : api->routes()) {
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
    auto is_of_another = other_paths.find(route.id);
    if (is_of_another != other_paths.end()) {
      EXPECT_EQ(is_of_another->second, route.path);
      EXPECT_TRUE(description["paths"][route.path].is_null()) << route.path;
      continue;
    }
    const Value& operation = description["paths"][route.path][method];
    EXPECT_EQ(operation["operationId"], Value(route.id));
    EXPECT_EQ(operation["x-permission"], Value(name_of(route.permission)));
    for (const ResponseSpec& answer : route.answers) {
      EXPECT_TRUE(answer.schema.empty() || schemas.find(answer.schema)) << answer.schema;
    }
  }
  EXPECT_EQ(get("/openapi.json").body, description);
}

}  // namespace
}  // namespace belay::server
