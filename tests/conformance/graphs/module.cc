#include "tests/conformance/graphs/module.h"

#include "tests/conformance/graphs/graphs.h"
#include "tests/conformance/graphs/truncate_route.h"

namespace belay::conformance {

Module module(std::vector<std::string> collections) {
  Module module;
  module.name = "conformance";
  module.on_request = true;
  module.graphs = [](const ModuleSettings&) { return graphs(); };
  module.routes = {truncate_route(std::move(collections))};
  return module;
}

}  // namespace belay::conformance
