import type { WireValue } from "./values.js";
/** The writes of one task, as the server gets them. */
export interface TaskWrites {
    checkpointId: string;
    taskId: string;
    taskPath: string;
    writes: {
        channel: string;
        value: WireValue;
    }[];
}
/** The writes of tasks that one request has, and the number of bytes of their values. */
export interface JoinedTasks {
    tasks: TaskWrites[];
    bytes: number;
}
export interface Place {
    threadId: string;
    checkpointNs: string;
}
export declare class HeldWrites {
    private readonly send;
    private readonly groups;
    private readonly saves;
    constructor(send: (place: Place, task: TaskWrites) => Promise<void>);
    /**
     * Resolves when the writes are stored. `name` identifies the task of a checkpoint; `task` is
     * settled when its values can be sent.
     */
    add(place: Place, name: string, task: Promise<TaskWrites>): Promise<void>;
    /**
     * Saves a checkpoint by `save`, with those of the held writes that fit into its request, and
     * settles these. Writes that are added meanwhile are held until it is stored, or is not.
     */
    saveWith(place: Place, save: (joined: JoinedTasks) => Promise<void>): Promise<void>;
    /** Sends the held writes at the end of this turn, if no checkpoint has taken them. */
    private release;
    /** Removes the held writes of a thread and namespace and returns them. */
    private take;
    /** Sends the writes of each task in a separate request, and settles them. */
    private sendAll;
    /** Returns those of the group that one request can contain, and sends the others alone. */
    private fitting;
    private static key;
}
