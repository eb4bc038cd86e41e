#include "base/run_of_key.h"

namespace belay {

RunId run_of_key(const TenantId& tenant, const UserId& user, const std::string& key) {
  std::string seed = "run of key";
  for (const std::string* part : {&tenant.text, &user.text, &key}) {
    seed += '\0';
    seed += *part;
  }
  return RunId(derived_uuid(seed));
}

}  // namespace belay
