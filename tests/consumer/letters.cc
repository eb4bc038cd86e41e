// A program with a module: an agent that answers letters, with a collection, a command and a route.

#include <belay/belay.hpp>
#include <string>

using namespace belay;

struct Letter {
  static constexpr std::string_view collection = "letters";
  std::string id;
  std::string text;
  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
};

// Not in an unnamed namespace: the codec reads the names of the members.
struct LetterBody {
  std::string id;
  std::string text;
};

struct Answer {
  std::string letter;
  std::string text{};
};

Task<Result<Update<Answer>>> answer(const Answer& state, Context& context) {
  BELAY_CO_TRY(auto letter, co_await context.records().get<Letter>(state.letter));
  if (!letter) co_return error(ErrorCode::not_found, "There is no letter " + state.letter + ".");
  co_return set(&Answer::text, "Thank you for \"" + letter->text + "\".");
}

Result<Definitions> graphs(const ModuleSettings&) {
  GraphBuilder<Answer> graph{"answer"};
  graph.node("answer", answer);
  graph.edge(start, "answer").edge("answer", end);
  BELAY_TRY(auto built, std::move(graph).build());
  return Definitions{built.definition()};
}

class ListLetters final : public ModuleCommand {
 public:
  void declare(CommandWords& words) override {
    words.option("--limit", limit_, "Maximum number of letters").range(1, 1000).shows_default();
  }
  Task<Result<ExitCode>> run(ModuleContext& context) override {
    auto records = records_of(context.service, context.who, context.settings.user);
    RecordFilter filter;
    filter.collection = Letter::collection;
    filter.limit = limit_;
    BELAY_CO_TRY(std::vector<RecordRow> rows, co_await records->find(std::move(filter)));
    for (const RecordRow& row : rows) {
      BELAY_CO_TRY(Letter letter, record_from<Letter>(row));
      context.output.line(letter.id + "  " + letter.text);
    }
    co_return ExitCode::done;
  }

 private:
  std::size_t limit_ = 50;
};

Task<Result<RouteReply>> create(RouteCall& call) {
  BELAY_CO_TRY(LetterBody body, read_body<LetterBody>(call));
  Letter letter{body.id, body.text};
  BELAY_CO_TRY(UserId owner, owner_in(call));
  BELAY_CO_TRY(RecordWrite write, record_write(letter, owner));
  std::vector<RecordWrite> writes;
  writes.push_back(std::move(write));
  BELAY_CO_CHECK(co_await call.service.save_records(call.who, std::move(writes)));
  RouteReply reply = route_reply(Value::object({{"id", letter.id}}));
  reply.status = 201;
  co_return std::move(reply);
}

Module letters() {
  Module module;
  module.name = "letters";
  module.graphs = graphs;
  module.collections = {belay::record_collection<Letter>()};
  module.commands = {{.path = {"letters"}, .line = "List letters"},
                     {.path = {"letters", "list"},
                      .line = "List letters",
                      .make = make_module_command<ListLetters>}};
  ModuleRoute route = route_of("POST", "/api/letters", "createLetter", "Creation of a letter");
  route.permission = Permission::run;
  route.parameters = {owner_parameter()};
  route.body = body_schema<LetterBody>({"id", "text"});
  route.answers = {{201, "Created", ""}};
  route.handle = create;
  module.routes.push_back(std::move(route));
  return module;
}

int main(int argc, char** argv) {
  std::vector<Module> modules;
  modules.push_back(letters());
  // "letters twice": a second module with the same names, which is refused.
  if (argc == 2 && std::string(argv[1]) == "twice") {
    modules.push_back(letters());
    modules.back().name = "more letters";
  }
  return belay::main(argc, argv, {.call = "letters", .about = "letters - answers letters"},
                     std::move(modules));
}
