#include "cli/help_text.h"

namespace belay::cli::help {

const std::string_view kProgram =
    "{about}\n"
    "\n"
    "Kill it at any moment and go on where it stood. A run that asks waits for you, in no "
    "process.\n"
    "Without a verb, {p} shows what is running and what waits for you.";

const std::string_view kProgramEnd =
    R"(Examples:
{examples}  {p} approvals list
  {p} approvals approve 1f0c64 --comment "agreed"
  {p} resume --all                # what a killed process left behind

Exit codes:
  0  done                           6  the store is unavailable, damaged or newer
  1  the run failed                 7  the run was cancelled
  2  bad input, or no such thing   70  an error of {name} itself
  3  waits for a person
  4  conflict: already decided otherwise, expired, ended, or at work elsewhere
  A command that a signal stopped ends with 128 + its number (Ctrl-C: 130).

Environment (a flag wins over it):
  BELAY_STORE             sqlite:PATH, memory: or postgresql://USER@HOST/DATABASE; else
                          DATABASE_URL, where it is a PostgreSQL one; else {name}/{name}.db in
                          $XDG_DATA_HOME, which is ~/.local/share where it is not set
  BELAY_NOTIFY_URL        the PostgreSQL server itself, where a pooler stands before the store
  BELAY_CONFIG            a file of settings: see {p} config --help
  BELAY_SERVER            the server that has the runs, in place of a store: http://HOST:PORT
  BELAY_API_KEY           the key that the server asks for; or BELAY_API_KEY_FILE: a file with it
  BELAY_USER              whose records and runs (local)
  BELAY_ROLES             roles that you decide approvals in, with commas between
  BELAY_LANGUAGE          en or es; else as LANG says
  BELAY_TIME_ZONE         of dates and times, like Europe/Madrid; else the machine's
  BELAY_KEY_FILE          the keys of an encrypted store, one "id:key" a line, the first for what
                          is written; or BELAY_KEYS: the lines themselves; or
                          CHECKPOINT_ENCRYPTION_KEY: one key without its id
  BELAY_COMPRESSION       always, never or with-key (with-key)
  BELAY_ACCEPT_PLAIN      true: with a key, read what was stored without one (false)
{models}{settings}  AGENT_MAX_RETRIES       attempts of a step that may be tried again (3)
  AGENT_TIMEOUT_MS        how long a run may work, in milliseconds (300000)
  AGENT_REQUIRE_APPROVAL  false: runs do not stop for approval (true)
  NO_COLOR                no colours

More: {p} VERB --help.
)";

const std::string_view kStatus = R"(The same as {p} without a verb.

Example:
  {p} status --json
)";

const std::string_view kRun =
    R"(A run that asks something stops for a person (exit code 3) and prints the command that
approves it; run never decides. The same --thread again goes on, or shows the result.

Examples:
  {p} run --input topic="the outage"
  {p} run --input @input.json --thread first
  {p} run --input - --json < input.json
)";

const std::string_view kEnqueue =
    R"(Puts a run into the store's queue and returns; a worker on this store begins it. The same
--thread again shows how it stands.

Examples:
  {p} enqueue --input topic="the outage" --thread first
  {p} enqueue --input @input.json --after 2h
  {p} worker
)";

const std::string_view kWorker =
    R"(Takes up runs of the queue, runs whose process died, and what is due by the time: timers,
retries, approvals that expire. Several workers may work on one store; each run is worked on by
one. SIGTERM and Ctrl-C: nothing more is taken up, and what is under way goes back to the queue at
its next commit; a second one ends at once, which loses nothing either. Once an hour it forgets
threads that ended long ago (--keep), as {p} store prune does.

Examples:
  {p} worker
  {p} worker --runs 4
  {p} worker --until-idle         # in a script: end when all is done or waits
)";

const std::string_view kServe =
    R"(Answers over HTTP (docs/api.md; GET /openapi.json describes it), and works on what waits in
the store, as {p} worker does. Without keys it listens on this machine alone. A file of keys has one
"NAME PERMISSION TOKEN" a line, or "NAME PERMISSION TOKEN ROLE,ROLE"; PERMISSION is read, run,
decide or administer, and each has those before it. A key sees its own user's runs and records; one
that may decide sees others' approvals, too, and one that may administer everything. SIGTERM and
Ctrl-C: nothing more is taken, and what is under way ends or is handed over.
With keys a user, and an address, may begin 10 runs a minute and have 5 at work; without keys any
number, unless a limit is set.

Examples:
  {p} serve
  {p} serve --listen 0.0.0.0:8123 --api-keys keys.txt --tls-certificate c.pem --tls-key k.pem
  curl -d '{"input":{"topic":"the outage"}}' -H content-type:application/json \
    http://127.0.0.1:8123/api/agents/NAME/runs
)";

const std::string_view kApi =
    R"(What {p} serve answers, without a server: for programs that make clients of it.

Examples:
  {p} api > openapi.json
  {p} api --markdown
)";

const std::string_view kFork =
    R"(A new run in a new thread, with the state that the other had after a commit, or an edited
one. The other stays as it is. Look first: --preview tells which nodes would run again, and which
effects have happened already. With edits it begins before an approval that it would skip, and asks
anew.

Examples:
  {p} fork first --preview
  {p} fork first --at 2 --edit topic="the outage of May" --as second
  {p} fork first --copy --as second   # as it stands; what has ended does not run again
)";

const std::string_view kApprovals =
    R"(ID is an approval's id, the first 6 or more characters of it, or the thread that waits.

Examples:
  {p} approvals list              # what waits for you
  {p} approvals list --all        # decided, expired and closed ones too
  {p} approvals show 1f0c64
  {p} approvals approve 1f0c64 --by ana
  {p} approvals reject first --comment "not like this"
)";

const std::string_view kDecide =
    R"(Of several decisions one wins. The same decision again shows the current state (exit code 0);
another one, or one after the expiry, changes nothing (exit code 4). The run goes on here.
--edit takes the payload as JSON: show it with {p} approvals show ID --json. An approval that names
roles is decided with --role, or BELAY_ROLES; with a key to a server, with the key's.

Examples:
  {p} approvals approve 1f0c64 --by ana
  {p} approvals approve first --edit payload.json
  {p} approvals reject 1f0c64 --comment "not like this"
)";

const std::string_view kResume =
    R"(Goes on with a run whose process died, from its last commit. A run that another process is at
work on stays with it (exit code 4).

Examples:
  {p} resume first
  {p} resume --all
)";

const std::string_view kCancel = R"(Cancels whoever works on it; what was committed stays.

Example:
  {p} cancel first
)";

const std::string_view kThreads = R"(Example:
  {p} threads --limit 100
)";

const std::string_view kHistory = R"(Every commit of the thread's run, newest first.

Examples:
  {p} history first
  {p} history first --json | jq '.checkpoints[].node'
)";

const std::string_view kCalls =
    R"(The calls of the thread's run, in the order in which they were begun: of the model what it
was asked and what it said, of effects and costs what they came to. What is kept of a prompt,
model_prompts says (docs/models.md).

Examples:
  {p} calls first
  {p} calls first --json | jq '.calls[].prompt.messages'
)";

const std::string_view kDev =
    R"(For work on an agent. The server is a process of its own; when the program is built anew it
ends in good order and starts again at the same address, and its runs go on after their last
commit. What crashes is started again with the next build. The store is .belay/belay.db in this
folder, unless you name another, and is kept.

Examples:
  {p} dev                       # this program, with its agents
  {p} dev build/release/mail    # yours: belay::main() gives it a server
)";

const std::string_view kExport =
    R"(The thread's latest run as one JSON document: its commits, values, calls, events, messages
and approvals. Nothing of it is sealed, so keep it as you keep the prompts and answers in it. The
user's records are not part of a run.

Examples:
  {p} export first --to first.json
  {p} export first --server http://prod:8123 | {p} import -
)";

const std::string_view kImport =
    R"(All or nothing, and only a run that obeys every rule of {p} check. It keeps its ids: a thread
that is there already is a conflict. state, history, calls, tail and fork work on it as on any;
replay too, where its nodes read none of the user's records. A run that has not ended would go on
here as well as where it came from, with all its effects: that takes --may-go-on. Messages that
still waited are given up here; the original delivers them.

Examples:
  {p} import first.json && {p} replay first
)";

const std::string_view kState = R"(Examples:
  {p} state first
  {p} state first --at 2    # as it was after its commit 2
)";

const std::string_view kTail =
    R"(One line an event, each with an id to come back with; with --json one document a line.
Kinds: status, values, updates, messages, custom, tasks, checkpoints, approvals, debug.

Examples:
  {p} tail first
  {p} tail first --follow --kinds status,approvals
  {p} tail first --after 12-3 --json
)";

const std::string_view kReplay =
    R"(Runs it in memory with what is recorded in place of model, effects and people, and
compares it commit by commit. Nothing is called or written. Exit code 1 for the first difference.

Example:
  {p} replay first
)";

const std::string_view kOutbox =
    R"(A worker of the program that has their receivers delivers messages, at least once each. One
that is given up after many tries stays, with its last error, until someone says what becomes
of it.

Examples:
  {p} outbox list
  {p} outbox list --thread first --all
  {p} outbox retry 0193f1c2-7a10-7f3e-9c5d-0a1b2c3d4e5f/3/0
  {p} outbox give-up 0193f1c2-7a10-7f3e-9c5d-0a1b2c3d4e5f/3/0
)";

const std::string_view kQueue =
    R"(A run belongs to the queue that it was begun with. A paused queue keeps what it has; what is
at work goes on. How many of a user, a key or a queue go on at the same time holds over all
processes.

Examples:
  {p} queue
  {p} queue pause mails
  {p} queue limit mails --runs 4
  {p} queue retry first --as second
)";

const std::string_view kWorkers = R"(Since when each lives, what it has, and for how long.

Example:
  {p} workers
)";

const std::string_view kAgents = R"(No store is opened.

Examples:
  {p} agents list
  {p} agents show NAME
  {p} agents graph NAME --format mermaid
  {p} agents graph NAME --format dot | dot -Tsvg -o graph.svg
)";

const std::string_view kConfig =
    R"(A flag wins over the environment, that over the file, that over the default. The file is the
first that there is: --config, BELAY_CONFIG, ./belay.yaml, belay/belay.yaml in $XDG_CONFIG_HOME
(~/.config); "belay" stands for the name of the program.

./belay.yaml may be anybody's, as in a cloned repository. Where it alone names a server, no key of
the environment and none of your own files goes there. `config trust` makes it yours, as it is now.

Examples:
  {p} config explain
  {p} config path
  {p} config trust
)";

const std::string_view kPreserve = R"({p} store prune leaves a preserved thread alone.

Examples:
  {p} threads preserve audit-may-2
  {p} threads unpreserve audit-may-2
)";

const std::string_view kStore = R"(Examples:
  {p} store stats
  {p} store prune --older-than 90d --dry-run
  {p} store compact               # after pruning, to give the space back
  {p} store encrypt --key-file keys
)";

const std::string_view kStorePrune =
    R"(Forgets threads whose runs have all ended, the last one long ago, with everything that
was kept of them. What waits for someone stays, and so do preserved threads, threads with
messages that are still to be delivered, and all notes, summaries and routines.

Examples:
  {p} store prune --dry-run
  {p} store prune --older-than 90d
)";

const std::string_view kCheck =
    R"(Reads the whole store and checks every rule that must hold. Exit code 1 if one does not.

Example:
  {p} check
)";

const std::string_view kModels =
    R"(Asks the servers of models: those that are named, else Ollama on this machine and those that
there is a key for. Only `try` has a model think, for a few tokens. Exit code 1 if a model that is
named can't be had, 2 if none is set up.

Examples:
  {p} models list
  {p} models check --model ollama:llama3.2
  OPENAI_API_KEY=... {p} models try --model openai:gpt-4o-mini
  {p} models try --model openai:local --model-url http://127.0.0.1:8080/v1
)";

const std::string_view kModelSettings =
    R"(  BELAY_MODEL             the model: ollama:NAME, openai:NAME or anthropic:NAME; several, by
                          commas, are tried in turn
  BELAY_MODEL_URL         its server, where that is another than its provider's own
  OPENAI_API_KEY, ANTHROPIC_API_KEY, OLLAMA_API_KEY, OLLAMA_HOST
                          keys, and where Ollama is; more of models: docs/configuration.md
)";

const std::string_view kDoctor =
    R"(Looks, and changes nothing. Exit code 6 if the store can't be used.

Example:
  {p} doctor --store sqlite:/var/lib/belay/belay.db
)";

const std::string_view kStoreEncrypt =
    R"help(Encrypts what was stored before there was a key. Others may work meanwhile, with the same
key file and BELAY_ACCEPT_PLAIN=true; afterwards without that. It may be stopped and begun again.

Example:
  (umask 077; echo "k1:$(head -c 32 /dev/urandom | base64)" > keys)
  {p} store encrypt --key-file keys
)help";

const std::string_view kStoreRotate =
    R"(Put a new key into a line above the others, let every process take the new file, then rotate.
When it is done, the other keys can be taken out; belay doctor says which are still needed. Keep
them as long as a backup needs them.

Example:
  {p} store rotate --key-file keys
)";

const std::string_view kCompletions =
    R"(Prints what completes verbs, options, and the names of threads, approvals and agents when you
press Tab. A name is asked of the store, or the server, and waited for 200 ms at most.

Examples:
  source <({p} completions bash)          # for this shell; in ~/.bashrc for every one
  {p} completions zsh > ~/.zfunc/_{p}
  {p} completions fish > ~/.config/fish/completions/{p}.fish
)";

const std::string_view kManual = R"(Prints the manual page of the whole program, for man(1).

Example:
  {p} man | man -l -
)";

}  // namespace belay::cli::help
