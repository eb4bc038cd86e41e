#include "tests/postgres/postgres_stores.h"

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

// Directly, and through the pooler, which can use a server connection for other clients between any
// two transactions.
const std::vector<StoreKind>& bare_store_kinds() {
  using namespace postgres_tests;
  auto open_at = [](int port, const std::string& folder, Clock& clock, Random& random) {
    std::string options = "pool=2&schema=" + schema_for(folder);
    return open_tested_store(shared_server().url_at(port, "postgres", options), clock, random);
  };
  static const std::vector<StoreKind> kinds{
      {"Postgres",
       [open_at](const std::string& folder, Clock& clock, Random& random) {
         return open_at(shared_server().port(), folder, clock, random);
       },
       false, true},
      {"PostgresThroughPgBouncer",
       [open_at](const std::string& folder, Clock& clock, Random& random) {
         return open_at(shared_pooler().port(), folder, clock, random);
       },
       false, true},
  };
  return kinds;
}

}  // namespace belay::conformance
