// A program with a module whose graphs, model, command, route and receivers use the objects of the
// process in their settings: the HTTP access and the cache of texts.

#include <belay/http.h>
#include <belay/belay.hpp>

namespace {

using namespace belay;

constexpr const char* kTextKey = "checkpoint:parcel:item";
constexpr const char* kReceivers = "parcel_receivers";
constexpr std::chrono::minutes kTextTime{10};

// Names the objects that the settings have.
std::string parts_of(const ModuleSettings& settings) {
  std::string parts = settings.http ? "http" : "";
  if (settings.texts) parts += parts.empty() ? "texts" : ",texts";
  return parts.empty() ? "none" : parts;
}

struct Parcel {
  std::string item{};
  std::string parts{};  // of the settings with which the graph was built
};

Result<Definitions> parcel_graphs(const ModuleSettings& settings) {
  GraphBuilder<Parcel> graph{"parcel"};
  graph.node("send", [settings](const Parcel& parcel, Context& context) {
    if (settings.texts) settings.texts->put(kTextKey, parcel.item, kTextTime);
    context.publish("parcels", Value(parcel.item));
    return set(&Parcel::parts, parts_of(settings));
  });
  graph.edge(start, "send").edge("send", end);
  BELAY_TRY(auto built, std::move(graph).build());
  return Definitions{built.definition()};
}

// Fails with the cached text as its message, which `outbox list` shows, unless none is cached.
Task<Result<Done>> read_text(SharedTextCache* texts) {
  if (!texts) co_return Done{};
  auto text = co_await texts->get(kTextKey);
  if (text) co_return error(ErrorCode::unavailable, "The cached text is \"" + *text + "\".");
  co_return Done{};
}

Task<Result<Done>> read_letter(OutboxMessage) { co_return Done{}; }

Result<std::map<std::string, Receiver>> parcel_receivers(const ModuleSettings& settings) {
  std::map<std::string, Receiver> receivers;
  std::string wanted = settings.value(kReceivers);
  if (wanted == "failing") return error(ErrorCode::invalid, "No carrier accepts parcels.");
  if (wanted == "duplicate") receivers["letters"] = read_letter;
  receivers["parcels"] = [texts = settings.texts](OutboxMessage) { return read_text(texts); };
  return receivers;
}

class ShowParts final : public ModuleCommand {
 public:
  Result<Done> validate(const ModuleSettings& settings) override {
    validated_ = parts_of(settings);
    return Done{};
  }
  Task<Result<ExitCode>> run(ModuleContext& context) override {
    std::string sent = "none";
    if (context.settings.http) {
      // The port is not open: a policy that permits the address would report that.
      HttpCall call{.url = "http://127.0.0.1:1/"};
      auto reply = co_await context.settings.http->send(std::move(call));
      sent = reply.ok() ? "sent" : name_of(reply.error().code);
    }
    context.output.document(Value::object({{"validate", validated_},
                                           {"command", parts_of(context.settings)},
                                           {"sent", std::move(sent)}}));
    co_return ExitCode::done;
  }

 private:
  std::string validated_;
};

Task<Result<RouteReply>> answer_parts(RouteCall& call) {
  co_return route_reply(Value::object({{"route", parts_of(call.settings())}}));
}

Module parcels() {
  Module module;
  module.name = "parcels";
  module.graphs = parcel_graphs;
  module.make_receivers = parcel_receivers;
  module.settings = {{.key = kReceivers, .variable = "BELAY_PARCEL_RECEIVERS"}};
  module.commands = {{.path = {"parts"},
                      .line = "Show the objects that the settings have",
                      .make = make_module_command<ShowParts>}};
  ModuleRoute route = route_of("GET", "/api/parts", "getParts", "The objects of the settings");
  route.answers = {{200, "They are shown", ""}};
  route.handle = answer_parts;
  module.routes.push_back(std::move(route));
  return module;
}

Module letters() {
  Module module;
  module.name = "letters";
  module.receivers["letters"] = read_letter;
  return module;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Module> modules;
  modules.push_back(letters());
  modules.push_back(parcels());
  return belay::main(argc, argv, {.name = "parcels"}, std::move(modules));
}
