-- The first schema of a Belay store on PostgreSQL, 14 or newer.
--
-- Every name is qualified by "belay.", in place of which the store puts the schema of its URL. Texts
-- that are keys sort by their bytes, as in every other store. Enumerators are kept by name. Envelopes
-- (input, payload, value, record) are a 4-byte little-endian length, a type ("json"), then the data:
-- belay.envelope_json() shows one. Nothing that Belay does needs a trigger or a function.
--
-- The columns `..._number` grow with each row: they give an order, and re-encryption its places. They
-- are looked up by ranges only, for which a block range index does.

CREATE TABLE belay.migrations (
  version    integer PRIMARY KEY,
  name       text NOT NULL,
  checksum   bytea NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The oldest version whose Belay may go on using what this one made.
  compatible_from integer NOT NULL
);

-- A process that may own runs: it lives until expires_at, by this server's clock, and moves that
-- forward while it does. Narrow, and with room for new versions of a row beside the old ones.
CREATE TABLE belay.sessions (
  session_id uuid PRIMARY KEY,
  name       text NOT NULL DEFAULT '',  -- "host:pid", for people
  started_at timestamptz NOT NULL,
  seen_at    timestamptz NOT NULL,      -- the last heartbeat
  expires_at timestamptz NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

CREATE TABLE belay.threads (
  tenant        text COLLATE "C" NOT NULL,
  thread_id     text COLLATE "C" NOT NULL,
  thread_number bigint GENERATED ALWAYS AS IDENTITY,  -- the newest thread has the greatest
  user_id       text COLLATE "C" NOT NULL,
  graph         text NOT NULL,
  created_at    timestamptz NOT NULL,
  preserve      boolean NOT NULL DEFAULT false,       -- retention leaves it alone
  PRIMARY KEY (tenant, thread_id)
);
CREATE INDEX threads_newest ON belay.threads (tenant, thread_number);

-- What changes with every commit of a run; what never does is in run_starts.
CREATE TABLE belay.runs (
  tenant        text COLLATE "C" NOT NULL,
  run_id        uuid NOT NULL,
  run_number    bigint GENERATED ALWAYS AS IDENTITY,  -- the newest run has the greatest
  thread_id     text COLLATE "C" NOT NULL,
  status        text NOT NULL,
  reason        text NOT NULL,            -- paused: what it waits for
  outcome       text NOT NULL,            -- completed: "saved", "rejected", ...
  error_code    text NOT NULL,
  error         text NOT NULL,
  seq           bigint NOT NULL,          -- commits so far
  epoch         bigint NOT NULL,          -- grows whenever the owner changes
  session_id    uuid,                     -- the owner; null: nobody works on it
  checkpoint_id uuid NOT NULL,            -- the newest
  node          text NOT NULL,
  retry_count   bigint NOT NULL,
  worked_ms     bigint NOT NULL,
  updated_at    timestamptz NOT NULL,
  due_at        timestamptz,              -- when it can go on by itself; null: never by itself
  lost_claims   bigint NOT NULL,
  -- These never change, but are what a worker looks for.
  queue           text COLLATE "C" NOT NULL,
  priority        bigint NOT NULL,                   -- within its queue the greater goes first
  concurrency_key text COLLATE "C" NOT NULL,         -- runs that share it are limited together
  -- A worker that looks for work was offered it a moment ago: others pass it over until then.
  offered_to      uuid,
  offered_until   timestamptz,
  PRIMARY KEY (tenant, run_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX runs_newest ON belay.runs (tenant, run_number);
CREATE INDEX runs_of_thread ON belay.runs (tenant, thread_id, run_number);
CREATE INDEX runs_unfinished ON belay.runs (tenant, status, run_number)
  WHERE status IN ('queued', 'running', 'paused', 'quarantined');
CREATE INDEX runs_due ON belay.runs (tenant, due_at, run_number)
  WHERE due_at IS NOT NULL AND status IN ('queued', 'paused');
CREATE INDEX runs_next ON belay.runs (tenant, priority DESC, due_at, run_number)
  WHERE due_at IS NOT NULL AND status IN ('queued', 'paused');
CREATE INDEX runs_running ON belay.runs (tenant, session_id) WHERE status = 'running';

-- Queues that somebody has paused or limited; the others need no row.
CREATE TABLE belay.queues (
  tenant      text COLLATE "C" NOT NULL,
  name        text COLLATE "C" NOT NULL,
  paused      boolean NOT NULL,
  runs_max    bigint NOT NULL,  -- at the same time; 0: as many as any queue
  per_key_max bigint NOT NULL,  -- of one concurrency key; 0: as many as in any queue
  updated_at  timestamptz NOT NULL,
  PRIMARY KEY (tenant, name)
);

CREATE TABLE belay.run_starts (
  tenant       text COLLATE "C" NOT NULL,
  run_id       uuid NOT NULL,
  start_number bigint GENERATED ALWAYS AS IDENTITY,
  user_id      text COLLATE "C" NOT NULL,
  graph        text NOT NULL,
  graph_hash   bytea NOT NULL,
  input        bytea NOT NULL,  -- envelope: the state that the run began with
  options      text NOT NULL,   -- JSON
  created_at   timestamptz NOT NULL,
  forked_from  uuid,            -- both null unless it is a fork
  forked_at    bigint,
  PRIMARY KEY (tenant, run_id)
);
CREATE INDEX run_starts_places ON belay.run_starts USING brin (start_number);

-- One row a commit: checkpoint_id is the commit's id too. A commit that is sent again after a lost
-- reply is known by finding it here.
CREATE TABLE belay.checkpoints (
  tenant            text COLLATE "C" NOT NULL,
  run_id            uuid NOT NULL,
  namespace         text COLLATE "C" NOT NULL,  -- of a subgraph; empty for the run's own graph
  seq               bigint NOT NULL,
  checkpoint_number bigint GENERATED ALWAYS AS IDENTITY,
  checkpoint_id     uuid NOT NULL,              -- sorts by time (UUID version 6)
  parent_id         uuid,
  state_seq         bigint NOT NULL,            -- its state are the values up to this
  epoch             bigint NOT NULL,
  session_id        uuid,                       -- who committed
  kind              text NOT NULL,
  node              text NOT NULL,
  superstep         bigint NOT NULL,
  next_tasks        bytea NOT NULL,             -- JSON: what runs next, decided for good; or sealed
  chain_hash        bytea NOT NULL,             -- other than 32 bytes: masked
  retry_count       bigint NOT NULL,
  status            text NOT NULL,              -- the run's after this commit
  created_at        timestamptz NOT NULL,
  PRIMARY KEY (tenant, run_id, namespace, seq)
);
CREATE INDEX checkpoints_places ON belay.checkpoints USING brin (checkpoint_number);

-- A channel's new value, or what is added to the one before: only changed channels are written. The
-- value as of a state_seq is the newest row without a kind up to it, and all rows after that one,
-- by (seq, value_index).
CREATE TABLE belay.channel_values (
  tenant       text COLLATE "C" NOT NULL,
  run_id       uuid NOT NULL,
  namespace    text COLLATE "C" NOT NULL,
  channel      text COLLATE "C" NOT NULL,
  seq          bigint NOT NULL,  -- one more than the state_seq before it
  value_index  bigint NOT NULL,  -- position of the task that wrote it in its superstep
  value_number bigint GENERATED ALWAYS AS IDENTITY,
  kind         text,             -- null: the whole value; else how it adds to it
  envelope     bytea NOT NULL,
  PRIMARY KEY (tenant, run_id, namespace, channel, seq, value_index)
);
CREATE INDEX channel_values_places ON belay.channel_values USING brin (value_number);

-- Durable events, written in the commit that they tell of.
CREATE TABLE belay.events (
  tenant      text COLLATE "C" NOT NULL,
  run_id      uuid NOT NULL,
  seq         bigint NOT NULL,
  event_index bigint NOT NULL,
  type        text NOT NULL,
  body        text NOT NULL,  -- JSON
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (tenant, run_id, seq, event_index)
);

CREATE TABLE belay.approvals (
  tenant          text COLLATE "C" NOT NULL,
  interrupt_id    uuid NOT NULL,
  approval_number bigint GENERATED ALWAYS AS IDENTITY,  -- the newest has the greatest
  run_id          uuid NOT NULL,
  task_id         uuid NOT NULL,
  node            text NOT NULL,
  question        text NOT NULL,
  payload         bytea NOT NULL,     -- envelope: what is shown
  payload_hash    bytea NOT NULL,     -- empty: the hash of what payload holds
  roles           text NOT NULL,
  seq             bigint NOT NULL,    -- of the commit that asked
  created_at      timestamptz NOT NULL,
  expires_at      timestamptz NOT NULL,
  status          text NOT NULL,
  decided_by      text NOT NULL,      -- this and what follows: empty until it is decided
  comment         text NOT NULL,
  edited          bytea NOT NULL,
  edited_hash     bytea NOT NULL,
  decided_at      timestamptz,
  PRIMARY KEY (tenant, interrupt_id)
);
CREATE INDEX approvals_newest ON belay.approvals (tenant, approval_number);
CREATE INDEX approvals_of_run ON belay.approvals (tenant, run_id);
CREATE INDEX approvals_open ON belay.approvals (tenant, expires_at) WHERE status = 'open';

-- An agent's own rows.
CREATE TABLE belay.records (
  tenant        text COLLATE "C" NOT NULL,
  collection    text COLLATE "C" NOT NULL,
  user_id       text COLLATE "C" NOT NULL,
  key           text COLLATE "C" NOT NULL,
  record_number bigint GENERATED ALWAYS AS IDENTITY,
  envelope      bytea NOT NULL,
  run_id        uuid,               -- whose commit saved it; null for an import
  seq           bigint NOT NULL,    -- of that commit
  updated_at    timestamptz NOT NULL,
  PRIMARY KEY (tenant, collection, user_id, key)
);
CREATE INDEX records_places ON belay.records USING brin (record_number);
-- To find the records of a run that is forgotten: they stay, and no longer name it.
CREATE INDEX records_of_run ON belay.records (tenant, run_id) WHERE run_id IS NOT NULL;

-- By the value's SHA-256, since an index holds no long texts.
CREATE TABLE belay.record_index (
  tenant     text COLLATE "C" NOT NULL,
  collection text COLLATE "C" NOT NULL,
  user_id    text COLLATE "C" NOT NULL,
  field      text COLLATE "C" NOT NULL,
  value_hash bytea NOT NULL,
  key        text COLLATE "C" NOT NULL,
  value      text NOT NULL,
  PRIMARY KEY (tenant, collection, user_id, field, value_hash, key)
);
CREATE INDEX record_index_of_key ON belay.record_index (tenant, collection, user_id, key);

-- The tasks of supersteps of several: the last word on each.
CREATE TABLE belay.tasks (
  tenant      text COLLATE "C" NOT NULL,
  run_id      uuid NOT NULL,
  namespace   text COLLATE "C" NOT NULL,
  superstep   bigint NOT NULL,
  position    bigint NOT NULL,
  task_number bigint GENERATED ALWAYS AS IDENTITY,
  task_id     uuid NOT NULL,
  status      text NOT NULL,
  envelope    bytea NOT NULL,
  PRIMARY KEY (tenant, run_id, namespace, superstep, position)
);
CREATE INDEX tasks_places ON belay.tasks USING brin (task_number);

-- Effects on the outside world: the journal that says which have happened.
CREATE TABLE belay.effects (
  tenant        text COLLATE "C" NOT NULL,
  run_id        uuid NOT NULL,
  task_id       uuid NOT NULL,
  name          text COLLATE "C" NOT NULL,
  effect_number bigint GENERATED ALWAYS AS IDENTITY,  -- grows: in the order in which they were begun
  node          text NOT NULL,
  effect_class  text NOT NULL,
  status        text NOT NULL,
  attempt       bigint NOT NULL,
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL,
  envelope      bytea NOT NULL,                       -- its result or error; empty before
  PRIMARY KEY (tenant, run_id, task_id, name)
);
CREATE INDEX effects_oldest ON belay.effects (tenant, effect_number);
CREATE INDEX effects_unfinished ON belay.effects (tenant, effect_number)
  WHERE status IN ('intended', 'uncertain');

-- Messages that were committed with a run's step, to be delivered at least once.
CREATE TABLE belay.outbox (
  tenant         text COLLATE "C" NOT NULL,
  run_id         uuid NOT NULL,
  seq            bigint NOT NULL,
  message_index  bigint NOT NULL,
  message_number bigint GENERATED ALWAYS AS IDENTITY,  -- grows: the oldest has the least
  topic          text NOT NULL,
  status         text NOT NULL,
  attempts       bigint NOT NULL,                      -- begun so far
  error          text NOT NULL,                        -- of the last one
  due_at         timestamptz NOT NULL,                 -- not to be tried before
  created_at     timestamptz NOT NULL,
  envelope       bytea NOT NULL,
  PRIMARY KEY (tenant, run_id, seq, message_index)
);
CREATE INDEX outbox_oldest ON belay.outbox (tenant, message_number);
CREATE INDEX outbox_waiting ON belay.outbox (tenant, due_at) WHERE status = 'waiting';

-- Large values, each stored once however many rows name it.
CREATE TABLE belay.blobs (
  tenant      text COLLATE "C" NOT NULL,
  blob_id     bytea NOT NULL,
  blob_number bigint GENERATED ALWAYS AS IDENTITY,
  envelope    bytea NOT NULL,
  PRIMARY KEY (tenant, blob_id)
);
CREATE INDEX blobs_places ON belay.blobs USING brin (blob_number);

-- When each large value was last put, by a number that is never given twice: so that one that was
-- found to have no name is not forgotten if a commit has named it meanwhile. Whoever puts or forgets
-- a large value locks its row here first.
CREATE SEQUENCE belay.put_numbers;
CREATE TABLE belay.blob_puts (
  tenant     text COLLATE "C" NOT NULL,
  blob_id    bytea NOT NULL,
  put_number bigint NOT NULL DEFAULT nextval('belay.put_numbers'),
  PRIMARY KEY (tenant, blob_id)
) WITH (fillfactor = 70);
