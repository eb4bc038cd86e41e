#include "tests/postgres/postgres_stores.h"

#include <cstdlib>
#include <filesystem>

#include "store/postgres/postgres_store.h"
#include "tests/conformance/store_suite.h"

namespace belay::postgres_tests {

Result<std::unique_ptr<Store>> open_tested_store(const std::string& url, Clock& clock,
                                                 Random& random) {
  postgres::PostgresStoreOptions options;
  options.expiry_clock = &clock;
  return postgres::open_postgres_store(url, clock, random, std::move(options));
}

std::string schema_for(const std::string& folder) {
  constexpr char digits[] = "0123456789abcdef";
  std::string name = "s_";
  for (char letter : std::filesystem::path(folder).filename().string()) {
    auto byte = static_cast<unsigned char>(letter);
    name += {digits[byte / 16], digits[byte % 16]};
  }
  return name;
}

PgBouncer& shared_pooler() {
  static PgBouncer pooler(shared_server());
  return pooler;
}

}  // namespace belay::postgres_tests

namespace belay::conformance {

// Through the pooler, where a server's connection may serve others between any two transactions:
// what holds there, holds without one. BELAY_EVERY_STORE=1 asks for both, as scripts/soak does.
const std::vector<StoreKind>& bare_store_kinds() {
  using namespace postgres_tests;
  static const std::vector<StoreKind> kinds = [] {
    std::vector<StoreKind> all{
        {"PostgresThroughPgBouncer",
         [](const std::string& folder, Clock& clock, Random& random) {
           std::string options = "pool=2&schema=" + schema_for(folder);
           std::string url = shared_server().url_at(shared_pooler().port(), "postgres", options);
           return open_tested_store(url, clock, random);
         },
         false, true},
    };
    if (std::getenv("BELAY_EVERY_STORE")) {
      all.push_back({"Postgres",
                     [](const std::string& folder, Clock& clock, Random& random) {
                       std::string options = "pool=2&schema=" + schema_for(folder);
                       return open_tested_store(shared_server().url("postgres", options), clock,
                                                random);
                     },
                     false, true});
    }
    return all;
  }();
  return kinds;
}

}  // namespace belay::conformance
