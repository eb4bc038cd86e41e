// AgUiEndpoint: starts runs, and opens their streams.

#include "ag_ui/ag_ui_endpoint.h"

#include "ag_ui/ag_ui_stream.h"
#include "base/in_quotes.h"
#include "conversation/question_id.h"
#include "server/heartbeat.h"

namespace belay::ag_ui {
namespace {

using server::Call;
using server::Reply;

// Thousands of clients might wait for paused runs: poll less often.
constexpr std::chrono::milliseconds kIdlePoll{5'000};

// Names a run of a client among those of its user.
std::string key_of(const std::string& agent, const std::string& thread, const std::string& run_id) {
  return "ag-ui-" + to_hex(sha256(agent + '\n' + thread + '\n' + run_id));
}

Result<std::optional<StreamPosition>> received_by(const Call& call) {
  std::string_view text = call.request.header("Last-Event-ID");
  if (text.empty()) return std::optional<StreamPosition>();
  auto position = stream_position_from(text);
  if (position) return position;
  return error(ErrorCode::invalid, "Last-Event-ID is not the id of an event of this stream.");
}

// `invalid` for a position that the run has not reached. An open run shows requests of approvals
// before their commit.
Result<Done> check_received(const StreamPosition& received, const RunRow& run) {
  std::uint64_t last = is_final(run.status) ? run.seq : run.seq + 1;
  if (received.event.seq <= last) return Done{};
  return error(ErrorCode::invalid, "Thread " + in_quotes(run.thread.text) + " has no event " +
                                       received.event.text() + "." + std::to_string(received.part) +
                                       " yet: it has " + std::to_string(run.seq) + " commits.");
}

Error names_another(const AgUiRun& known) {
  return error(ErrorCode::conflict, "The runId " + in_quotes(known.run_id) +
                                        " names another request of this thread. Repeat that "
                                        "request unchanged, or use another runId.");
}

Result<Segment> segment_of(const AgUiRun& named) {
  auto run = uuid_from(named.run);
  if (!run || named.after < 0)
    return error(ErrorCode::corrupt, "The record of the run is damaged.");
  Segment segment{named.thread, named.run_id, RunId(*run), static_cast<std::uint64_t>(named.after)};
  for (const std::string& each : named.answered) {
    if (auto interrupt = uuid_from(each)) segment.answered.insert(InterruptId(*interrupt));
  }
  for (const std::string& each : named.left_open) {
    auto interrupt = uuid_from(each);
    if (!interrupt) continue;
    segment.answered.erase(InterruptId(*interrupt));
    segment.left_open.insert(InterruptId(*interrupt));
  }
  segment.has_only_votes = named.has_only_votes;
  segment.voted_at = named.voted_at;
  segment.decided_at = named.decided_at;
  return segment;
}

}  // namespace

Task<bool> finds_named_run(const Call& call) {
  const std::string* thread = call.body["threadId"].as_string();
  const std::string* run_id = call.body["runId"].as_string();
  server::StartNames names;
  names.agent = call.path.at("agent");
  names.user = call.who.user;
  if (thread) names.thread = ThreadId(*thread);
  if (thread && run_id) names.key = key_of(names.agent, *thread, *run_id);
  return server::finds_run_of(call, std::move(names));
}

Task<Result<Reply>> AgUiEndpoint::run(Call call) {
  BELAY_CO_TRY(std::optional<StreamPosition> received, received_by(call));
  BELAY_CO_TRY(RunInput input, read_run_input(call.body));
  const std::string& name = call.path.at("agent");
  BELAY_CO_TRY(AgentDocuments agents, co_await call.service.agents(call.who));
  const Value* agent = find_agent(*agents, name);
  if (!agent) co_return error(ErrorCode::not_found, "Unknown agent " + in_quotes(name) + ".");
  AgUiRun wanted;
  wanted.id = key_of(name, input.thread.text, input.run_id);
  wanted.thread = input.thread.text;
  wanted.run_id = input.run_id;
  wanted.created_at = world_.parts.clock.now();
  if (!input.resume.empty()) {
    wanted.request = to_hex(sha256("resume\n" + to_json(call.body["resume"])));
    Value document = *agent;
    BELAY_CO_TRY(wanted,
                 co_await resume(call, std::move(wanted), std::move(document), std::move(input)));
  } else {
    Value document = *agent;
    BELAY_CO_TRY(wanted,
                 co_await start(call, std::move(wanted), std::move(document), std::move(input)));
  }
  co_return co_await stream_of(call, std::move(wanted), std::move(received));
}

Task<Result<Reply>> AgUiEndpoint::rejoin(Call call) {
  BELAY_CO_TRY(std::optional<StreamPosition> received, received_by(call));
  std::string key = key_of(call.path.at("agent"), call.path.at("threadId"), call.path.at("runId"));
  BELAY_CO_TRY(KnownRun known, co_await known_run(call, std::move(key)));
  if (!known.run) co_return error(ErrorCode::not_found, "Unknown run.");
  AgUiRun named = *std::move(known.run);
  co_return co_await stream_of(call, std::move(named), std::move(received));
}

Task<Result<AgUiRun>> AgUiEndpoint::start(Call& call, AgUiRun wanted, Value agent, RunInput input) {
  StartRun start;
  start.agent = call.path.at("agent");
  start.input = std::move(input.input);
  if (start.input.is_null()) {
    BELAY_CO_TRY(start.input, options_.conversations.input_of(start.agent, agent, input.messages));
    std::string id = conversation::question_id_of(input.messages);
    start.run.configuration = conversation::with_question_id("", id);
  }
  wanted.request = to_hex(sha256("start\n" + to_json(start.input)));
  std::string key = wanted.id;
  BELAY_CO_TRY(KnownRun known, co_await known_run(call, std::move(key)));
  if (known.run && known.run->request != wanted.request) co_return names_another(*known.run);
  if (known.run) co_return *std::move(known.run);
  start.user = call.who.user;
  start.thread = input.thread;
  // The only header that the start of a run reads here: other ones are those of other protocols.
  call.request.headers.assign(1, http::Header{"Idempotency-Key", wanted.id});
  server::Patience patience;
  auto view = co_await server::begun_run(world_, call, std::move(start), patience);
  if (!view.ok() && view.error().code == ErrorCode::conflict) {
    ThreadId thread = input.thread;
    bool is_foreign = co_await server::is_hidden_thread(call, std::move(thread));
    if (is_foreign) co_return error(ErrorCode::not_found, "This threadId cannot be used.");
  }
  if (!view.ok()) co_return std::move(view).error();
  wanted.run = view->row.run.text();
  wanted.run_created_at = view->row.created_at;
  co_return co_await save(call, std::move(wanted), known.version);
}

Task<Result<AgUiEndpoint::KnownRun>> AgUiEndpoint::known_run(Call& call, std::string key) {
  std::unique_ptr<Records> records = records_of(call.service, call.who, call.who.user);
  BELAY_CO_TRY(auto found, co_await records->get_versioned<AgUiRun>(std::move(key)));
  KnownRun known;
  if (!found) co_return std::move(known);
  known.version = found->version;
  AgUiRun run = std::move(found->record);
  BELAY_CO_TRY(Segment segment, segment_of(run));
  ThreadId thread(run.thread);
  auto row = co_await call.service.run_of(call.who, std::move(thread), segment.run);
  bool is_deleted = !row.ok() && row.error().code == ErrorCode::not_found;
  if (!row.ok() && !is_deleted) co_return std::move(row).error();
  bool is_another = row.ok() && run.run_created_at && *run.run_created_at != row->created_at;
  if (is_deleted || is_another) co_return std::move(known);
  known.run = std::move(run);
  co_return std::move(known);
}

// Saves the record over the one with this version; 0: no record exists. Returns the record of the
// first of equal requests.
Task<Result<AgUiRun>> AgUiEndpoint::save(Call& call, AgUiRun wanted, std::uint64_t version) {
  BELAY_CO_TRY(RecordWrite write, record_write(wanted, call.who.user));
  write.expected_version = version;
  std::vector<RecordWrite> writes;
  writes.push_back(std::move(write));
  auto saved = co_await call.service.save_records(call.who, std::move(writes));
  if (saved.ok()) co_return std::move(wanted);
  if (saved.error().code != ErrorCode::conflict) co_return std::move(saved).error();
  std::string key = wanted.id;
  BELAY_CO_TRY(KnownRun known, co_await known_run(call, std::move(key)));
  if (!known.run) co_return std::move(saved).error();
  if (known.run->request != wanted.request) co_return names_another(*known.run);
  co_return *std::move(known.run);
}

Task<Result<Reply>> AgUiEndpoint::stream_of(Call& call, AgUiRun named,
                                            std::optional<StreamPosition> received) {
  BELAY_CO_TRY(Segment segment, segment_of(named));
  EventOptions wanted;
  wanted.thread = ThreadId(named.thread);
  wanted.run = segment.run;
  wanted.kinds = translated_kinds();
  wanted.poll_max = kIdlePoll;
  BELAY_CO_TRY(std::unique_ptr<EventReader> reader,
               co_await call.service.events(call.who, std::move(wanted)));
  ThreadId thread(named.thread);
  BELAY_CO_TRY(RunRow run, co_await call.service.run_of(call.who, std::move(thread), segment.run));
  if (received) BELAY_CO_CHECK(check_received(*received, run));
  EntriesOf entries_of = [conversations = options_.conversations, agent = call.path.at("agent"),
                          thread = named.thread, question = conversation::question_id_of(run)](
                             const Value& state, bool ended) {
    return conversations.entries_of(agent, thread, state, ended, question);
  };
  EventTranslator translator(std::move(segment), std::move(entries_of), std::move(received));
  auto events = std::make_unique<AgUiStream>(call.service, call.who, std::move(translator),
                                             std::move(reader));
  Reply reply;
  reply.headers = server::event_stream_headers();
  reply.stream = std::make_unique<server::HeartbeatStream>(world_.parts.executor, std::move(events),
                                                           world_.options.heartbeat);
  co_return std::move(reply);
}

}  // namespace belay::ag_ui
