#include "belay/model.h"

namespace belay {

ModelRequest::ModelRequest(std::string purpose_name, std::vector<Message> prompt, Value schema,
                           Value material)
    : purpose(std::move(purpose_name)),
      messages(std::move(prompt)),
      response_schema(std::move(schema)),
      input(std::move(material)) {}

Task<Result<std::string>> Model::complete(std::string prompt) {
  Message message{Role::user, std::move(prompt)};
  ModelRequest request;
  request.messages.push_back(std::move(message));
  auto reply = co_await generate(std::move(request));
  if (!reply.ok()) co_return std::move(reply).error();
  co_return std::move(reply->text);
}

}  // namespace belay
