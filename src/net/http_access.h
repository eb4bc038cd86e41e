#pragma once
// net/http_access.h - make_http_access(): open_http() with a name service of tests.

#include <functional>

#include "belay/http.h"

namespace belay::net {

Result<std::shared_ptr<HttpAccess>> make_http_access(
    EgressPolicy policy, std::function<std::string(const std::string& host)> resolve);

}  // namespace belay::net
