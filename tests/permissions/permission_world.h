#pragma once
// tests/permissions/permission_world.h - the API of the shipped program over a memory store that
// contains equal items of two users.

#include <gtest/gtest.h>

#include "belay/testing.h"
#include "cli/settings.h"
#include "server/api.h"
#include "service/local_service.h"

namespace belay::permissions {

// Owner of the item in a request by eve, the caller.
enum class Thing { own, others, absent };
inline constexpr Thing all_things[] = {Thing::own, Thing::others, Thing::absent};
std::string_view name_of(Thing thing);

// `open` is a caller without a key.
inline constexpr Permission all_permissions[] = {Permission::open, Permission::read,
                                                 Permission::run, Permission::decide,
                                                 Permission::administer};

struct Answered {
  int status = 0;
  std::string body;
  std::vector<http::Header> headers;
  Value json() const { return parse_json(body).value_or(Value()); }
  std::string header(std::string_view name) const {
    const std::string* found = http::find_header(headers, name);
    return found ? *found : "";
  }
};

// All data of the other user that must stay hidden contains one of these words.
inline constexpr std::string_view other_user = "anastasia";
inline constexpr std::string_view other_word = "xylophone";

class PermissionWorld {
 public:
  PermissionWorld();

  // Sends a request as eve, with a key of this permission.
  Answered send(Permission as, std::string method, const std::string& target,
                const std::string& body = {}, std::vector<http::Header> more = {});
  // Returns `text` with {thread}, {done}, {routine}, {run}, {approval}, {prefix} and {user}
  // replaced by names of that item.
  std::string filled(std::string text, Thing thing) const;
  // The reverse: replaces the names of such an item by the same word for every owner.
  std::string unnamed(std::string text, Thing thing) const;

  const std::vector<server::Route>& routes() const { return api->routes(); }
  Service& all() { return *service; }

  static std::string token_of(const std::string& name, Permission permission);
  void open_api();

  testing::SimulatedClock clock{*instant_from("2026-11-21T12:00:00Z")};
  testing::SeededRandom random{7};
  testing::SimulatedLoop loop{clock};
  cli::Program program;
  cli::Settings settings;
  std::shared_ptr<Model> model;
  std::unique_ptr<Store> store = open_memory_store(clock, random);
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Service> service;
  server::ApiOptions options;
  std::unique_ptr<Metrics> metrics = make_metrics();
  std::unique_ptr<server::Api> api;

 private:
  using Names = std::vector<std::pair<std::string, std::string>>;
  void add_things_of(const std::string& user, const std::string& word);
  RunView begin(const std::string& user, const std::string& agent, const std::string& thread,
                const std::string& date);
  Names names_of(Thing thing) const;

  std::map<std::string, std::map<std::string, std::string>> ids_;  // by user, then by kind
};

}  // namespace belay::permissions
