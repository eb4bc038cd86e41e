// saver.ts - BelaySaver: LangGraph's checkpointer over a Belay server.

import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  TASKS,
  copyCheckpoint,
  maxChannelVersion,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type DeltaChannelHistory,
  type PendingWrite,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import type {
  NewBlob,
  WireChannelValue,
  WireHistory,
  WirePage,
  WireTuple,
  WireWrite,
} from "./documents.js";
import { HeldWrites, type JoinedTasks, type TaskWrites } from "./held_writes.js";
import { addressOf, nameOf, searchable, setMember, type Address } from "./names.js";
import { BelayError, BelayServer, type BelayServerOptions } from "./server.js";
import {
  KnownValues,
  commonEnds,
  fromChain,
  fromWire,
  toWire,
  type Bytes,
  type WireValue,
} from "./values.js";

export interface BelaySaverOptions extends BelayServerOptions {
  /** Default: LangGraph's JsonPlusSerializer. */
  serde?: SerializerProtocol;
  /** Memory for the newest values of channels, in bytes. Default: 32 MiB; 0: none are kept. */
  knownBytes?: number;
}

/** The numbers of removed records. */
export interface Removed {
  checkpoints: number;
  writes: number;
  values: number;
}

const KNOWN_BYTES = 32 * 1024 * 1024;
const DEPTH_MAX = 24; // values that are based on one another; the server permits 32
const SAVED_MIN = 256; // bytes that a change must save
const PAGE = 20;
const FORMAT_WITH_SENDS = 4;

const configOf = (threadId: string, checkpointNs: string, checkpointId: string): RunnableConfig => ({
  configurable: { thread_id: threadId, checkpoint_ns: checkpointNs, checkpoint_id: checkpointId },
});

export class BelaySaver extends BaseCheckpointSaver {
  readonly server: BelayServer;
  private readonly known: KnownValues;
  private readonly held = new HeldWrites(async (place, task) => {
    await this.server.send("writes", { ...place, ...task });
  });

  constructor(options: BelaySaverOptions = {}) {
    super(options.serde);
    this.server = new BelayServer(options);
    this.known = new KnownValues(options.knownBytes ?? KNOWN_BYTES);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (!config.configurable?.thread_id) return undefined;
    const { threadId, checkpointNs, checkpointId } = addressOf(config, "getTuple()");
    const answer = await this.server.send<{ tuple: WireTuple | null }>("checkpoints/get", {
      threadId,
      checkpointNs,
      ...(checkpointId === undefined ? {} : { checkpointId }),
    });
    return answer.tuple ? this.tupleFrom(answer.tuple) : undefined;
  }

  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {};
    const { limit, before, filter = {} } = options;
    const beforeId: unknown = before?.configurable?.checkpoint_id;
    const wanted = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
    const search = searchable(wanted);
    if (thread_id === "" || Object.keys(search).length < Object.keys(wanted).length) return;
    const body: Record<string, unknown> = { filter: search };
    if (thread_id !== undefined) body.threadId = nameOf("thread_id", thread_id);
    if (checkpoint_ns !== undefined) body.checkpointNs = nameOf("checkpoint_ns", checkpoint_ns);
    if (checkpoint_id) body.checkpointId = nameOf("checkpoint_id", checkpoint_id);
    if (beforeId) body.before = nameOf("checkpoint_id", beforeId);
    for (let left = limit ?? Infinity; left > 0; ) {
      const request = { ...body, limit: Math.min(Math.ceil(left), PAGE) };
      const page = await this.server.send<WirePage>("checkpoints/list", request);
      for (const tuple of page.tuples) yield this.tupleFrom(tuple);
      left -= page.tuples.length;
      if (page.next === null) return;
      body.after = page.next;
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const address = addressOf(config, "put()");
    const id = nameOf("checkpoint.id", checkpoint.id);
    await this.held.saveWith(address, (joined) =>
      this.putWith(joined, address, id, checkpoint, metadata, newVersions),
    );
    return configOf(address.threadId, address.checkpointNs, id);
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = "",
  ): Promise<void> {
    const { threadId, checkpointNs } = addressOf(config, "putWrites()");
    const given: unknown = config.configurable?.checkpoint_id;
    if (!given) throw new Error('putWrites() needs a "checkpoint_id" in "configurable".');
    const checkpointId = nameOf("checkpoint_id", given);
    nameOf("taskId", taskId);
    nameOf("taskPath", taskPath);
    const named = { checkpointId, taskId, taskPath };
    const make = async (): Promise<TaskWrites> => ({
      ...named,
      writes: await this.wireWrites(threadId, writes),
    });
    const name = JSON.stringify([checkpointId, taskId]);
    return this.held.add({ threadId, checkpointNs }, name, make);
  }

  override async deleteThread(threadId: string): Promise<void> {
    this.known.clear();
    await this.server.send("threads/delete", { threadId: nameOf("thread_id", threadId) });
  }

  /** Copies all checkpoints of a thread. Fails if the target has checkpoints of another thread. */
  async copyThread(sourceThreadId: string, targetThreadId: string): Promise<void> {
    await this.server.send("threads/copy", {
      source: nameOf("thread_id", sourceThreadId),
      target: nameOf("thread_id", targetThreadId),
    });
  }

  /**
   * `keep_latest`: removes all but the newest checkpoint of each namespace, and the ancestors that
   * its delta channels need. `delete`: removes the threads.
   */
  async prune(
    threadIds: string[],
    strategy: "keep_latest" | "delete" = "keep_latest",
  ): Promise<Removed> {
    this.known.clear();
    return this.server.send<Removed>("threads/prune", { threadIds, strategy });
  }

  /** Removes the checkpoints with one of these ids as `run_id` in their metadata. */
  async deleteForRuns(runIds: string[]): Promise<Removed> {
    this.known.clear();
    return this.server.send<Removed>("runs/delete", { runIds });
  }

  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const histories: Record<string, DeltaChannelHistory> = {};
    for (const channel of options.channels) setMember(histories, channel, { writes: [] });
    if (options.channels.length === 0 || !options.config.configurable?.thread_id) return histories;
    const { threadId, checkpointNs, checkpointId } = addressOf(options.config, "history");
    const open = new Set(options.channels);
    const body: Record<string, unknown> = { threadId, checkpointNs };
    if (checkpointId !== undefined) body.checkpointId = checkpointId;
    while (open.size > 0) {
      const request = { ...body, channels: [...open] };
      const page = await this.server.send<WireHistory>("checkpoints/history", request);
      for (const write of page.writes) {
        histories[write.channel]?.writes.push(await this.writeFrom(threadId, write));
      }
      for (const seed of page.seeds) {
        const history = histories[seed.channel];
        if (history) history.seed = await this.load(await fromChain(this.server, threadId, seed.chain));
        open.delete(seed.channel);
      }
      if (page.next === null) break;
      body.from = page.next;
    }
    for (const channel of options.channels) histories[channel]?.writes.reverse();
    return histories;
  }

  private async dump(value: unknown): Promise<Bytes> {
    const [type, bytes] = await this.serde.dumpsTyped(value);
    return { type, bytes };
  }

  private async load({ type, bytes }: Bytes): Promise<unknown> {
    return this.serde.loadsTyped(type, bytes);
  }

  private async loadWire(threadId: string, value: WireValue): Promise<unknown> {
    return this.load(await fromWire(this.server, threadId, value));
  }

  private async writeFrom(threadId: string, write: WireWrite): Promise<CheckpointPendingWrite> {
    return [write.taskId, write.channel, await this.loadWire(threadId, write.value)];
  }

  private async wireWrites(threadId: string, writes: PendingWrite[]): Promise<TaskWrites["writes"]> {
    const channels = writes.map(([channel]) => nameOf("channel", channel));
    const dumped = await Promise.all(writes.map(([, value]) => this.dump(value)));
    const values = await toWire(this.server, threadId, dumped);
    return values.map((value, index) => ({ channel: channels[index] ?? "", value }));
  }

  private async putWith(
    joined: JoinedTasks,
    address: Address,
    id: string,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<void> {
    const all = { ...newVersions, ...checkpoint.channel_versions };
    // LangGraph names no new versions of a copy, and the copy of a first checkpoint has no parent.
    const isFirstCopy = metadata.source === "fork" && address.checkpointId === undefined;
    const changed = isFirstCopy ? all : newVersions;
    try {
      await this.putOnce(joined, address, id, checkpoint, metadata, changed, true);
    } catch (error) {
      // Another process has removed the parent, a base or the parts of a value, or the checkpoint
      // is a copy whose values its parent does not have: all values are sent, as whole ones. If it
      // has joined writes, the missing parts can be theirs: then the two are sent apart.
      const status = error instanceof BelayError ? error.status : 0;
      const isRepeated = status === 409 || (status === 404 && joined.tasks.length === 0);
      if (!isRepeated) throw error;
      this.known.clear();
      await this.putOnce(joined, address, id, checkpoint, metadata, all, false);
    }
  }

  private async putOnce(
    { tasks, bytes }: JoinedTasks,
    address: Address,
    checkpointId: string,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
    mayChange: boolean,
  ): Promise<void> {
    const { threadId, checkpointNs, checkpointId: parentCheckpointId } = address;
    const copy = copyCheckpoint(checkpoint);
    const values = copy.channel_values;
    copy.channel_values = {};
    const channels = Object.entries(copy.channel_versions).map(([channel, version]) => ({
      channel: nameOf("channel", channel),
      version: nameOf("version", String(version)),
    }));
    const blobs: NewBlob[] = [];
    const dumped = [await this.dump(copy), await this.dump(metadata)];
    const learned: (() => void)[] = [];
    const isNew = (channel: string): boolean => Object.hasOwn(newVersions, channel);
    // Without a parent, a channel that is not new has no value.
    const unchanged = parentCheckpointId === undefined ? checkpoint.channel_versions : {};
    for (const [channel, newVersion] of Object.entries({ ...newVersions, ...unchanged })) {
      const version = String(newVersion);
      if (!isNew(channel) || !Object.hasOwn(values, channel) || values[channel] === undefined) {
        blobs.push({ channel, version, isEmpty: true });
        dumped.push({ type: "empty", bytes: new Uint8Array() });
        continue;
      }
      const whole = await this.dump(values[channel]);
      const key = KnownValues.key(threadId, checkpointNs, channel);
      const change = mayChange ? this.changeOf(key, whole) : undefined;
      blobs.push({ channel, version, ...change?.blob });
      dumped.push(change ? { type: whole.type, bytes: change.bytes } : whole);
      const depth = change?.depth ?? 0;
      learned.push(() => this.known.set(key, { ...whole, version, checkpointId, depth }));
    }
    const [stored, described, ...changed] = await toWire(this.server, threadId, dumped, bytes);
    await this.server.send("checkpoints", {
      threadId,
      checkpointNs,
      checkpointId,
      ...(parentCheckpointId === undefined ? {} : { parentCheckpointId }),
      format: checkpoint.v,
      checkpoint: stored,
      metadata: described,
      search: searchable(metadata),
      channels,
      blobs: blobs.map((blob, index) => ({ ...blob, value: changed[index] })),
      ...(tasks.length === 0 ? {} : { tasks }),
    });
    for (const learn of learned) learn();
  }

  /** Returns a value as a change of the known one, if that is much shorter. */
  private changeOf(
    key: string,
    whole: Bytes,
  ): { blob: Partial<NewBlob>; bytes: Uint8Array; depth: number } | undefined {
    const known = this.known.get(key);
    if (!known || known.type !== whole.type || known.depth >= DEPTH_MAX) return undefined;
    const { head, tail } = commonEnds(known.bytes, whole.bytes);
    const common = head + tail;
    if (common < SAVED_MIN || 2 * common < whole.bytes.length) return undefined;
    return {
      blob: { base: known.version, baseCheckpointId: known.checkpointId, head, tail },
      bytes: whole.bytes.subarray(head, whole.bytes.length - tail),
      depth: known.depth + 1,
    };
  }

  private async valueFrom(tuple: WireTuple, value: WireChannelValue): Promise<unknown> {
    const bytes = await fromChain(this.server, tuple.threadId, value.chain);
    const key = KnownValues.key(tuple.threadId, tuple.checkpointNs, value.channel);
    const { version, checkpointId, chain } = value;
    this.known.set(key, { ...bytes, version, checkpointId, depth: chain.length - 1 });
    return this.load(bytes);
  }

  private async tupleFrom(tuple: WireTuple): Promise<CheckpointTuple> {
    const { threadId, checkpointNs, checkpointId, parentCheckpointId } = tuple;
    const checkpoint = (await this.loadWire(threadId, tuple.checkpoint)) as Checkpoint;
    checkpoint.channel_values = {};
    for (const value of tuple.values) {
      setMember(checkpoint.channel_values, value.channel, await this.valueFrom(tuple, value));
    }
    if (tuple.sends && checkpoint.v < FORMAT_WITH_SENDS) {
      await this.addSends(threadId, checkpoint, tuple.sends);
    }
    const made: CheckpointTuple = {
      config: configOf(threadId, checkpointNs, checkpointId),
      checkpoint,
      metadata: (await this.loadWire(threadId, tuple.metadata)) as CheckpointMetadata,
      pendingWrites: [],
    };
    for (const write of tuple.writes) made.pendingWrites?.push(await this.writeFrom(threadId, write));
    if (parentCheckpointId !== null) {
      made.parentConfig = configOf(threadId, checkpointNs, parentCheckpointId);
    }
    return made;
  }

  /** Checkpoints before format 4 have the sends of their parent as a channel. */
  private async addSends(threadId: string, checkpoint: Checkpoint, sends: WireValue[]): Promise<void> {
    const values: unknown[] = [];
    for (const send of sends) values.push(await this.loadWire(threadId, send));
    checkpoint.channel_values[TASKS] = values;
    checkpoint.channel_versions ??= {};
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }
}
