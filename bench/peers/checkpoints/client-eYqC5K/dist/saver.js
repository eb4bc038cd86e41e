// saver.ts - BelaySaver: LangGraph's checkpointer over a Belay server.
import { BaseCheckpointSaver, TASKS, copyCheckpoint, maxChannelVersion, } from "@langchain/langgraph-checkpoint";
import { HeldWrites } from "./held_writes.js";
import { addressOf, nameOf, searchable, setMember } from "./names.js";
import { BelayError, BelayServer } from "./server.js";
import { KnownValues, commonEnds, fromChain, fromWire, toWire, } from "./values.js";
const KNOWN_BYTES = 32 * 1024 * 1024;
const DEPTH_MAX = 24; // values that are based on one another; the server permits 32
const SAVED_MIN = 256; // bytes that a change must save
const PAGE = 20;
const FORMAT_WITH_SENDS = 4;
const configOf = (threadId, checkpointNs, checkpointId) => ({
    configurable: { thread_id: threadId, checkpoint_ns: checkpointNs, checkpoint_id: checkpointId },
});
export class BelaySaver extends BaseCheckpointSaver {
    server;
    known;
    held = new HeldWrites(async (place, task) => {
        await this.server.send("writes", { ...place, ...task });
    });
    constructor(options = {}) {
        super(options.serde);
        this.server = new BelayServer(options);
        this.known = new KnownValues(options.knownBytes ?? KNOWN_BYTES);
    }
    async getTuple(config) {
        if (!config.configurable?.thread_id)
            return undefined;
        const { threadId, checkpointNs, checkpointId } = addressOf(config, "getTuple()");
        const answer = await this.server.send("checkpoints/get", {
            threadId,
            checkpointNs,
            ...(checkpointId === undefined ? {} : { checkpointId }),
        });
        return answer.tuple ? this.tupleFrom(answer.tuple) : undefined;
    }
    async *list(config, options = {}) {
        const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {};
        const { limit, before, filter = {} } = options;
        const beforeId = before?.configurable?.checkpoint_id;
        const wanted = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
        const search = searchable(wanted);
        if (thread_id === "" || Object.keys(search).length < Object.keys(wanted).length)
            return;
        const body = { filter: search };
        if (thread_id !== undefined)
            body.threadId = nameOf("thread_id", thread_id);
        if (checkpoint_ns !== undefined)
            body.checkpointNs = nameOf("checkpoint_ns", checkpoint_ns);
        if (checkpoint_id)
            body.checkpointId = nameOf("checkpoint_id", checkpoint_id);
        if (beforeId)
            body.before = nameOf("checkpoint_id", beforeId);
        for (let left = limit ?? Infinity; left > 0;) {
            const request = { ...body, limit: Math.min(Math.ceil(left), PAGE) };
            const page = await this.server.send("checkpoints/list", request);
            for (const tuple of page.tuples)
                yield this.tupleFrom(tuple);
            left -= page.tuples.length;
            if (page.next === null)
                return;
            body.after = page.next;
        }
    }
    async put(config, checkpoint, metadata, newVersions) {
        const address = addressOf(config, "put()");
        const id = nameOf("checkpoint.id", checkpoint.id);
        await this.held.saveWith(address, (joined) => this.putWith(joined, address, id, checkpoint, metadata, newVersions));
        return configOf(address.threadId, address.checkpointNs, id);
    }
    async putWrites(config, writes, taskId, taskPath = "") {
        const { threadId, checkpointNs } = addressOf(config, "putWrites()");
        const given = config.configurable?.checkpoint_id;
        if (!given)
            throw new Error('putWrites() needs a "checkpoint_id" in "configurable".');
        const checkpointId = nameOf("checkpoint_id", given);
        nameOf("taskId", taskId);
        nameOf("taskPath", taskPath);
        const named = { checkpointId, taskId, taskPath };
        const task = this.wireWrites(threadId, writes).then((wire) => ({ ...named, writes: wire }));
        const name = JSON.stringify([checkpointId, taskId]);
        return this.held.add({ threadId, checkpointNs }, name, task);
    }
    async deleteThread(threadId) {
        this.known.clear();
        await this.server.send("threads/delete", { threadId: nameOf("thread_id", threadId) });
    }
    /** Copies all checkpoints of a thread. Fails if the target has checkpoints of another thread. */
    async copyThread(sourceThreadId, targetThreadId) {
        await this.server.send("threads/copy", {
            source: nameOf("thread_id", sourceThreadId),
            target: nameOf("thread_id", targetThreadId),
        });
    }
    /**
     * `keep_latest`: removes all but the newest checkpoint of each namespace, and the ancestors that
     * its delta channels need. `delete`: removes the threads.
     */
    async prune(threadIds, strategy = "keep_latest") {
        this.known.clear();
        return this.server.send("threads/prune", { threadIds, strategy });
    }
    /** Removes the checkpoints with one of these ids as `run_id` in their metadata. */
    async deleteForRuns(runIds) {
        this.known.clear();
        return this.server.send("runs/delete", { runIds });
    }
    async getDeltaChannelHistory(options) {
        const histories = {};
        for (const channel of options.channels)
            setMember(histories, channel, { writes: [] });
        if (options.channels.length === 0 || !options.config.configurable?.thread_id)
            return histories;
        const { threadId, checkpointNs, checkpointId } = addressOf(options.config, "history");
        const open = new Set(options.channels);
        const body = { threadId, checkpointNs };
        if (checkpointId !== undefined)
            body.checkpointId = checkpointId;
        while (open.size > 0) {
            const request = { ...body, channels: [...open] };
            const page = await this.server.send("checkpoints/history", request);
            for (const write of page.writes) {
                histories[write.channel]?.writes.push(await this.writeFrom(threadId, write));
            }
            for (const seed of page.seeds) {
                const history = histories[seed.channel];
                if (history)
                    history.seed = await this.load(await fromChain(this.server, threadId, seed.chain));
                open.delete(seed.channel);
            }
            if (page.next === null)
                break;
            body.from = page.next;
        }
        for (const channel of options.channels)
            histories[channel]?.writes.reverse();
        return histories;
    }
    async dump(value) {
        const [type, bytes] = await this.serde.dumpsTyped(value);
        return { type, bytes };
    }
    async load({ type, bytes }) {
        return this.serde.loadsTyped(type, bytes);
    }
    async loadWire(threadId, value) {
        return this.load(await fromWire(this.server, threadId, value));
    }
    async writeFrom(threadId, write) {
        return [write.taskId, write.channel, await this.loadWire(threadId, write.value)];
    }
    async wireWrites(threadId, writes) {
        const channels = writes.map(([channel]) => nameOf("channel", channel));
        const dumped = await Promise.all(writes.map(([, value]) => this.dump(value)));
        const values = await toWire(this.server, threadId, dumped);
        return values.map((value, index) => ({ channel: channels[index] ?? "", value }));
    }
    async putWith(joined, address, id, checkpoint, metadata, newVersions) {
        try {
            await this.putOnce(joined, address, id, checkpoint, metadata, newVersions, true);
        }
        catch (error) {
            // The parent or a base was removed by another process: all values are sent, as whole ones.
            if (!(error instanceof BelayError) || error.status !== 409)
                throw error;
            this.known.clear();
            const all = { ...checkpoint.channel_versions, ...newVersions };
            await this.putOnce(joined, address, id, checkpoint, metadata, all, false);
        }
    }
    async putOnce({ tasks, bytes }, address, checkpointId, checkpoint, metadata, newVersions, mayChange) {
        const { threadId, checkpointNs, checkpointId: parentCheckpointId } = address;
        const copy = copyCheckpoint(checkpoint);
        const values = copy.channel_values;
        copy.channel_values = {};
        const channels = Object.entries(copy.channel_versions).map(([channel, version]) => ({
            channel: nameOf("channel", channel),
            version: nameOf("version", String(version)),
        }));
        const blobs = [];
        const dumped = [await this.dump(copy), await this.dump(metadata)];
        const learned = [];
        for (const [channel, newVersion] of Object.entries(newVersions)) {
            const version = String(newVersion);
            if (!Object.hasOwn(values, channel) || values[channel] === undefined) {
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
            tasks,
        });
        for (const learn of learned)
            learn();
    }
    /** Returns a value as a change of the known one, if that is much shorter. */
    changeOf(key, whole) {
        const known = this.known.get(key);
        if (!known || known.type !== whole.type || known.depth >= DEPTH_MAX)
            return undefined;
        const { head, tail } = commonEnds(known.bytes, whole.bytes);
        const common = head + tail;
        if (common < SAVED_MIN || 2 * common < whole.bytes.length)
            return undefined;
        return {
            blob: { base: known.version, baseCheckpointId: known.checkpointId, head, tail },
            bytes: whole.bytes.subarray(head, whole.bytes.length - tail),
            depth: known.depth + 1,
        };
    }
    async valueFrom(tuple, value) {
        const bytes = await fromChain(this.server, tuple.threadId, value.chain);
        const key = KnownValues.key(tuple.threadId, tuple.checkpointNs, value.channel);
        const { version, checkpointId, chain } = value;
        this.known.set(key, { ...bytes, version, checkpointId, depth: chain.length - 1 });
        return this.load(bytes);
    }
    async tupleFrom(tuple) {
        const { threadId, checkpointNs, checkpointId, parentCheckpointId } = tuple;
        const checkpoint = (await this.loadWire(threadId, tuple.checkpoint));
        checkpoint.channel_values = {};
        for (const value of tuple.values) {
            setMember(checkpoint.channel_values, value.channel, await this.valueFrom(tuple, value));
        }
        if (tuple.sends && checkpoint.v < FORMAT_WITH_SENDS) {
            await this.addSends(threadId, checkpoint, tuple.sends);
        }
        const made = {
            config: configOf(threadId, checkpointNs, checkpointId),
            checkpoint,
            metadata: (await this.loadWire(threadId, tuple.metadata)),
            pendingWrites: [],
        };
        for (const write of tuple.writes)
            made.pendingWrites?.push(await this.writeFrom(threadId, write));
        if (parentCheckpointId !== null) {
            made.parentConfig = configOf(threadId, checkpointNs, parentCheckpointId);
        }
        return made;
    }
    /** Checkpoints before format 4 have the sends of their parent as a channel. */
    async addSends(threadId, checkpoint, sends) {
        const values = [];
        for (const send of sends)
            values.push(await this.loadWire(threadId, send));
        checkpoint.channel_values[TASKS] = values;
        checkpoint.channel_versions ??= {};
        const versions = Object.values(checkpoint.channel_versions);
        checkpoint.channel_versions[TASKS] =
            versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
    }
}
