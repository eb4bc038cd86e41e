// Each route, with each permission, on each kind of item: the response must match the declared
// table. The test fails if a route has no entry.

#include <set>

#include "tests/permissions/permission_table.h"

namespace belay::permissions {
namespace {

const server::Route* route_named(const PermissionWorld& world, const std::string& id) {
  for (const server::Route& route : world.routes()) {
    if (route.id == id) return &route;
  }
  return nullptr;
}

std::string told(const Entry& entry, Permission as, Thing thing) {
  return entry.route + " " + entry.variant + ", as " + std::string(name_of(as)) + ", " +
         std::string(name_of(thing));
}

Answered ask(PermissionWorld& world, const server::Route& route, const Entry& entry, Permission as,
             Thing thing) {
  return world.send(as, route.method, world.filled(entry.target, thing),
                    world.filled(entry.body, thing));
}

TEST(Permissions, EachRouteHasAnEntryAndEachEntryARoute) {
  PermissionWorld world;
  std::set<std::string> routes, entries;
  for (const server::Route& route : world.routes()) routes.insert(route.id);
  for (const Entry& entry : permission_table()) entries.insert(entry.route);
  for (const std::string& id : routes) EXPECT_TRUE(entries.contains(id)) << id << " has no entry";
  for (const std::string& id : entries) EXPECT_TRUE(routes.contains(id)) << "no route is " << id;
  for (const server::Route& route : world.routes()) {
    bool names_one = route.path.find('{') != route.path.npos;
    bool may_be_anybodys = false;
    for (const Entry& entry : permission_table()) {
      may_be_anybodys =
          may_be_anybodys || (entry.route == route.id && entry.about != About::nobody);
    }
    // Each caller has other assistants: src/langgraph/assistants_test.cc.
    bool is_an_assistants = route.path.starts_with("/assistants/{");
    bool is_an_agents =
        route.path == "/api/agents/{agent}" || route.id == "getAgentCard" || route.id == "runAgUi";
    bool is_the_servers = !names_one || is_an_agents || is_an_assistants ||
                          route.permission == Permission::administer || route.id == "startRun";
    EXPECT_TRUE(may_be_anybodys || is_the_servers) << route.id << " says of nobody whose it is";
  }
}

TEST(Permissions, EachAnswerIsTheOneOfTheTable) {
  // Requests that only read or are rejected leave the world unchanged.
  PermissionWorld shared;
  for (const Entry& entry : permission_table()) {
    const server::Route* route = route_named(shared, entry.route);
    if (!route) continue;  // the previous test reports it
    for (Permission as : all_permissions) {
      for (Thing thing : all_things) {
        SCOPED_TRACE(told(entry, as, thing));
        constexpr int refused = 400;
        bool changes = route->method != "GET" &&
                       expected_status(entry, route->permission, as, thing) < refused;
        std::optional<PermissionWorld> fresh;
        if (changes) fresh.emplace();
        PermissionWorld& world = changes ? *fresh : shared;
        Answered answered = ask(world, *route, entry, as, thing);
        EXPECT_EQ(answered.status, expected_status(entry, route->permission, as, thing))
            << answered.body.substr(0, 400);
      }
    }
  }
}

// Neither the status nor the text distinguishes another user's item from one that does not exist.
TEST(Permissions, AnothersThingIsAnsweredAsOneThatIsNotThere) {
  PermissionWorld world;
  for (const Entry& entry : permission_table()) {
    if (entry.about != About::thing && entry.about != About::approval) continue;
    for (Permission as : all_permissions) {
      const server::Route* route = route_named(world, entry.route);
      if (!route || as < route->permission || sees_others(entry, as)) continue;
      SCOPED_TRACE(told(entry, as, Thing::others));
      Answered absent = ask(world, *route, entry, as, Thing::absent);
      Answered others = ask(world, *route, entry, as, Thing::others);
      EXPECT_EQ(others.status, absent.status);
      EXPECT_EQ(world.unnamed(others.body, Thing::others),
                world.unnamed(absent.body, Thing::absent));
      EXPECT_EQ(others.headers.size(), absent.headers.size());
    }
  }
}

// A list contains all items that the caller may see, and nothing else.
TEST(Permissions, ListsShowOthersThingsToWhomTheyMayBeShownAlone) {
  PermissionWorld world;
  for (const Entry& entry : permission_table()) {
    bool is_list = entry.about == About::list || entry.about == About::approvals;
    if (!is_list) continue;
    const server::Route* route = route_named(world, entry.route);
    for (Permission as : all_permissions) {
      if (!route || as == Permission::open || as < route->permission) continue;
      SCOPED_TRACE(told(entry, as, Thing::others));
      Answered answered = ask(world, *route, entry, as, Thing::own);
      bool shows = answered.body.find(other_user) != answered.body.npos;
      // No run has published a message, and none is orphaned.
      bool is_empty = entry.route == "listMessages" || entry.route == "listLeftBehind";
      EXPECT_EQ(shows, sees_others(entry, as) && !is_empty) << answered.body.substr(0, 300);
      EXPECT_TRUE(is_empty || answered.body.find("eve") != answered.body.npos);
    }
  }
}

// Without permission to see it, no response contains content of another user.
TEST(Permissions, NoAnswerHoldsWhatAnotherUserWrote) {
  PermissionWorld world;
  for (const Entry& entry : permission_table()) {
    for (Permission as : {Permission::read, Permission::run}) {
      const server::Route* route = route_named(world, entry.route);
      if (!route || as < route->permission) continue;
      SCOPED_TRACE(told(entry, as, Thing::others));
      Answered answered = ask(world, *route, entry, as, Thing::others);
      EXPECT_EQ(answered.body.find(other_word), std::string::npos) << answered.body;
    }
  }
}

}  // namespace
}  // namespace belay::permissions
