// Ids of messages: those of streams equal those of states, so that a client shows a message once.
// Types of messages that a client sends with roles.

#include "belay/json_graph.h"
#include "tests/support/agent_server_tool_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

using Ids = std::vector<std::string>;

struct MessageIds : ToolFixture {
  // A graph that stores messages as clients send them.
  JsonGraph room = room_graph();

  static JsonGraph room_graph() {
    JsonGraphBuilder builder{"room"};
    builder.channel("messages", {.kind = JsonKind::array});
    builder.node("stay", [](const Value&, Context&) { return JsonUpdate(); });
    builder.edge(start, "stay").edge("stay", end);
    return std::move(builder).build().value();
  }
  void serve_room() {
    api.reset();
    runtime->add(room);
    service = service_of(room);
    serve();
  }
  // The ids of the messages of agents in a state, in order; and of those of persons.
  static Ids ids_in(const Value& values, const char* type = "ai") {
    Ids ids;
    const Value::Array* messages = values["messages"].as_array();
    for (std::size_t i = 0; messages && i < messages->size(); ++i) {
      if ((*messages)[i]["type"] == Value(type)) ids.push_back(text((*messages)[i]["id"]));
    }
    return ids;
  }
  static Ids human_ids_in(const Value& values) { return ids_in(values, "human"); }
  static void add_new(const std::string& id, Ids& ids) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  static std::string thread_of(const std::string& runs) { return runs.substr(0, runs.rfind('/')); }
  Ids ids_of_state(const std::string& thread) {
    return ids_in(get(thread + "/state").body["values"]);
  }
};

TEST_F(MessageIds, AreTheSameInEachModeAndInTheState) {
  std::string runs = new_thread();
  Events all = stream_run(question("weather", all_modes()), runs + "/stream");
  Ids state = ids_of_state(thread_of(runs));
  ASSERT_EQ(state.size(), 2u);
  Ids tuples, partials, whole, models, results;
  for (const Event& each : all) {
    bool is_message = each.name.starts_with("messages") && each.data.as_array();
    if (is_message) {
      const Value& message = each.data.as_array()->at(0);
      bool is_tool = message["type"] == Value("tool");
      Ids& streamed = each.name == "messages" ? tuples : partials;
      Ids& found = each.name == "messages/complete" ? whole : streamed;
      add_new(text(message["id"]), is_tool ? results : found);
    }
    bool is_end = each.name == "events" && each.data["event"] == Value("on_chat_model_end");
    if (is_end) add_new(text(each.data["data"]["output"]["id"]), models);
  }
  EXPECT_EQ(tuples, state);
  EXPECT_EQ(partials, state);
  EXPECT_EQ(whole, state);
  EXPECT_EQ(models, state);
  EXPECT_EQ(results, ids_in(get(thread_of(runs) + "/state").body["values"], "tool"));
  EXPECT_EQ(ids_in(named(all, "values").back().data), state);
  Value history = get(thread_of(runs) + "/history?limit=100").body;
  for (const Value& each : *history.as_array()) {
    Ids past = ids_in(each["values"]);
    ASSERT_LE(past.size(), state.size());
    EXPECT_TRUE(std::equal(past.begin(), past.end(), state.begin()));
  }
}

// A client merges messages and values by id: at no event of the stream is one shown twice.
TEST_F(MessageIds, ShowNoTextTwiceAtAnyEventOfAStream) {
  Events all = stream_run(question("weather", R"(["values","messages-tuple"])"), runs("/stream"));
  std::map<std::string, std::string> streamed;  // by id
  std::size_t compared = 0;
  for (const Event& each : all) {
    if (each.name == "messages") {
      const Value& part = each.data.as_array()->at(0);
      streamed[text(part["id"])] += text(part["content"]);
    }
    if (each.name != "values") continue;
    const Value::Array* messages = each.data["messages"].as_array();
    for (std::size_t i = 0; messages && i < messages->size(); ++i) {
      const Value& message = (*messages)[i];
      if (message["type"] != Value("ai")) continue;
      auto known = streamed.find(text(message["id"]));
      ASSERT_NE(known, streamed.end()) << to_json(message);
      EXPECT_EQ(known->second, text(message["content"]));
      ++compared;
    }
  }
  EXPECT_GE(compared, 2u) << lines_of(all);
  EXPECT_EQ(streamed.size(), 4u) << "with two results of tools";
}

TEST_F(MessageIds, OfTheNewProtocolAreThoseOfTheValues) {
  for (const char* words : {"weather", "send"}) {
    std::string runs = new_thread();
    stream_run(question(words, R"("values")"), runs + "/stream");
    std::string last = words == std::string("send") ? "interrupted" : "completed";
    Events events = v2_until(thread_of(runs), "", last);
    Ids started;
    for (const Event& each : named(events, "messages")) {
      const Value& data = each.data["params"]["data"];
      if (data["event"] == Value("message-start")) started.push_back(text(data["id"]));
    }
    EXPECT_EQ(started, ids_of_state(thread_of(runs))) << words;
    EXPECT_EQ(ids_in(named(events, "values").back().data["params"]["data"]), started) << words;
  }
}

// Clients replace the message that they show by the one with the same id.
TEST_F(MessageIds, OfQuestionsAreThoseOfTheClientAlsoInLaterRuns) {
  std::string runs = new_thread();
  for (const char* id : {"q1", "q2"}) {
    std::string message = R"({"type":"human","content":"weather","id":")" + std::string(id);
    Events all = stream_run(R"({"assistant_id":"clerk","input":{"messages":[)" + message +
                                R"("}]},"if_not_exists":"create","stream_mode":"values"})",
                            runs + "/stream");
    ASSERT_FALSE(named(all, "values").empty()) << lines_of(all);
    EXPECT_EQ(human_ids_in(named(all, "values").back().data).back(), id);
  }
  Value state = get(thread_of(runs) + "/state").body["values"];
  EXPECT_EQ(human_ids_in(state), (Ids{"q1", "q2"}));
  auto copied = post(thread_of(runs) + "/copy", "");
  Value copy = get("/threads/" + text(copied.body["thread_id"]) + "/state").body["values"];
  EXPECT_EQ(human_ids_in(copy), (Ids{"q1", "q2"}));
  Events events = v2_until(thread_of(runs), "", "completed");
  for (const Event& each : named(events, "values")) {
    for (const std::string& id : human_ids_in(each.data["params"]["data"])) {
      EXPECT_TRUE(id == "q1" || id == "q2") << id;
    }
  }
}

TEST_F(MessageIds, ThatARequestOmitsAreThoseOfItsKey) {
  serve_room();
  std::string runs = new_thread(), run;
  for (int i = 0; i < 2; ++i) {
    auto sent = request("POST", runs,
                        R"({"assistant_id":"room","if_not_exists":"create","input":{"messages":[)"
                        R"("Hello",{"type":"human","content":"Again"}]}})");
    sent.headers.push_back({"Idempotency-Key", "k"});
    auto begun = send(std::move(sent));
    ASSERT_EQ(begun.status, 200) << to_json(begun.body);
    if (run.empty()) run = text(begun.body["run_id"]);
    EXPECT_EQ(text(begun.body["run_id"]), run);
    loop.run_until(clock.now() + std::chrono::seconds(1));
  }
  Ids ids = human_ids_in(get(thread_of(runs) + "/state").body["values"]);
  ASSERT_EQ(ids.size(), 2u);
  EXPECT_TRUE(uuid_from(ids[0]) && uuid_from(ids[1]));
  EXPECT_NE(ids[0], ids[1]);
}

TEST_F(MessageIds, MessagesWithRolesAreStoredWithTheirTypes) {
  serve_room();
  std::string thread = thread_of(new_thread());
  const std::string sent =
      R"([{"role":"human","id":"0","content":[{"type":"text","text":"a","role":"user"}]},)"
      R"({"role":"user","id":"1"},{"role":"ai","id":"2"},{"role":"assistant","id":"3"},)"
      R"({"role":"system","id":"4"},{"role":"developer","id":"5"},{"role":"tool","id":"6"},)"
      R"({"role":"poet","id":"7"},{"type":"ai","role":"user","id":"8"},{"type":null,"role":"user",)"
      R"("id":"9"},7])";
  const std::string stored =
      R"([{"content":[{"role":"user","text":"a","type":"text"}],"id":"0","type":"human"},)"
      R"({"id":"1","type":"human"},{"id":"2","type":"ai"},{"id":"3","type":"ai"},)"
      R"({"id":"4","type":"system"},{"id":"5","type":"system"},{"id":"6","type":"tool"},)"
      R"({"id":"7","role":"poet"},{"id":"8","role":"user","type":"ai"},{"id":"9","type":"human"},)"
      R"(7])";
  auto messages = [&] { return to_json(get(thread + "/state").body["values"]["messages"]); };
  auto answered =
      post(thread + "/runs/wait",
           R"({"assistant_id":"room","if_not_exists":"create","input":{"messages":)" + sent + "}}");
  ASSERT_TRUE(answered.stream) << to_json(answered.body);
  read_all(*answered.stream);
  EXPECT_EQ(messages(), stored);
  auto cleared = post(thread + "/state", R"({"values":{"messages":[]}})");
  ASSERT_EQ(cleared.status, 200) << to_json(cleared.body);
  ASSERT_EQ(messages(), "[]");
  auto updated = post(thread + "/state", R"({"values":{"messages":)" + sent + "}}");
  ASSERT_EQ(updated.status, 200) << to_json(updated.body);
  EXPECT_EQ(messages(), stored);
  auto commanded =
      post(thread + "/runs/wait", R"({"assistant_id":"room","command":{"update":{"messages":)"
                                  R"({"role":"assistant","id":"1","content":"b"}}}})");
  ASSERT_TRUE(commanded.stream) << to_json(commanded.body);
  read_all(*commanded.stream);
  EXPECT_EQ(messages(), R"([{"content":"b","id":"1","type":"ai"}])");
}

TEST_F(MessageIds, StayWithACopyOfTheThreadAndAForkOfIt) {
  std::string runs = new_thread();
  stream_run(question("weather", R"("values")"), runs + "/stream");
  Ids state = ids_of_state(thread_of(runs));
  auto copied = post(thread_of(runs) + "/copy", "");
  ASSERT_EQ(copied.status, 200) << to_json(copied.body);
  EXPECT_EQ(ids_of_state("/threads/" + text(copied.body["thread_id"])), state);
  Value newest = get(thread_of(runs) + "/state").body["checkpoint"]["checkpoint_id"];
  stream_run(question("weather", R"("values","checkpoint_id":)" + to_json(newest)),
             runs + "/stream");
  Ids later = ids_of_state(thread_of(runs));
  ASSERT_EQ(later.size(), 4u);
  EXPECT_EQ(Ids(later.begin(), later.begin() + 2), state);
  EXPECT_EQ(std::set<std::string>(later.begin(), later.end()).size(), 4u);
}

TEST_F(MessageIds, StayInAStateThatAClientSendsBack) {
  std::string runs = new_thread();
  stream_run(question("weather", R"("values")"), runs + "/stream");
  std::string thread = thread_of(runs);
  Ids state = ids_of_state(thread);
  Value stored = get(thread + "/state").body["values"];
  auto changed = post(thread + "/state", to_json(Value::object({{"values", stored}})));
  ASSERT_EQ(changed.status, 200) << to_json(changed.body);
  EXPECT_EQ(ids_of_state(thread), state) << to_json(get(thread + "/state").body);
}

// The first attempt streams a text, and fails.
TEST_F(MessageIds, OfAnAttemptThatFailsAreInNoState) {
  int calls = 0;
  model.then_always([&calls](const ModelRequest& request) -> Result<ModelReply> {
    request.on_text_delta("Let me try.");
    if (++calls == 1) return error(ErrorCode::unavailable, "No luck.");
    ModelReply reply;
    reply.text = "Done.";
    return reply;
  });
  Events all = stream_run(question("weather", R"(["values","messages-tuple"])"), runs("/stream"));
  Ids state = ids_in(named(all, "values").back().data);
  ASSERT_EQ(state.size(), 1u) << lines_of(all);
  EXPECT_TRUE(state[0].ends_with("-2")) << "the second attempt";
  Ids streamed;
  for (const Event& each : named(all, "messages")) {
    add_new(text(each.data.as_array()->at(0)["id"]), streamed);
  }
  EXPECT_EQ(streamed.back(), state[0]);
}

}  // namespace
}  // namespace belay::langgraph
