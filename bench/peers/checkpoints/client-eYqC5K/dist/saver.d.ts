import type { RunnableConfig } from "@langchain/core/runnables";
import { BaseCheckpointSaver, type ChannelVersions, type Checkpoint, type CheckpointListOptions, type CheckpointMetadata, type CheckpointTuple, type DeltaChannelHistory, type PendingWrite, type SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { BelayServer, type BelayServerOptions } from "./server.js";
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
export declare class BelaySaver extends BaseCheckpointSaver {
    readonly server: BelayServer;
    private readonly known;
    private readonly held;
    constructor(options?: BelaySaverOptions);
    getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined>;
    list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple>;
    put(config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, newVersions: ChannelVersions): Promise<RunnableConfig>;
    putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string, taskPath?: string): Promise<void>;
    deleteThread(threadId: string): Promise<void>;
    /** Copies all checkpoints of a thread. Fails if the target has checkpoints of another thread. */
    copyThread(sourceThreadId: string, targetThreadId: string): Promise<void>;
    /**
     * `keep_latest`: removes all but the newest checkpoint of each namespace, and the ancestors that
     * its delta channels need. `delete`: removes the threads.
     */
    prune(threadIds: string[], strategy?: "keep_latest" | "delete"): Promise<Removed>;
    /** Removes the checkpoints with one of these ids as `run_id` in their metadata. */
    deleteForRuns(runIds: string[]): Promise<Removed>;
    getDeltaChannelHistory(options: {
        config: RunnableConfig;
        channels: string[];
    }): Promise<Record<string, DeltaChannelHistory>>;
    private dump;
    private load;
    private loadWire;
    private writeFrom;
    private wireWrites;
    private putWith;
    private putOnce;
    /** Returns a value as a change of the known one, if that is much shorter. */
    private changeOf;
    private valueFrom;
    private tupleFrom;
    /** Checkpoints before format 4 have the sends of their parent as a channel. */
    private addSends;
}
