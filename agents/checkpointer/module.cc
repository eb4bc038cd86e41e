#include "agents/checkpointer/module.h"

#include "agents/checkpointer/checkpoint_documents.h"
#include "agents/checkpointer/checkpointer_routes.h"

namespace belay::checkpointer {

Module module() {
  Module module;
  module.name = "checkpointer";
  module.collections = {std::string(StoredCheckpoint::collection),
                        std::string(StoredBlob::collection), std::string(StoredWrite::collection),
                        std::string(StoredPart::collection)};
  module.routes = checkpointer_routes();
  module.presentation.schemas = checkpoint_schemas();
  return module;
}

}  // namespace belay::checkpointer
