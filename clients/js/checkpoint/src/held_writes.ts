// held_writes.ts - the writes of tasks, held until the checkpoint that follows them is sent.
//
// LangGraph puts the writes of a step's last task and the checkpoint after it within one turn of the
// event loop, or, if the checkpoint before it is still being saved, in the turn when that one is
// stored. Then both are one request, and one commit of the server. If no checkpoint follows, as
// after an interrupt, the writes are sent alone.

import { BelayError } from "./server.js";
import type { WireValue } from "./values.js";

/** The writes of one task, as the server gets them. */
export interface TaskWrites {
  checkpointId: string;
  taskId: string;
  taskPath: string;
  writes: { channel: string; value: WireValue }[];
}

/** The writes of tasks that one request has, and the number of their bytes in it. */
export interface JoinedTasks {
  tasks: TaskWrites[];
  bytes: number;
}

export interface Place {
  threadId: string;
  checkpointNs: string;
}

/** Writes that have not been sent, and the caller that waits until they are stored. */
interface Held {
  place: Place;
  name: string;
  make: () => Promise<TaskWrites>;
  task: Promise<TaskWrites>;
  resolve: () => void;
  reject: (reason: unknown) => void;
}

const TASKS_MAX = 64; // the server permits 64
const BYTES_MAX = 64 * 1024;

export class HeldWrites {
  // By thread and namespace: the held writes, and the number of checkpoints that are being saved.
  private readonly groups = new Map<string, Held[]>();
  private readonly saves = new Map<string, number>();

  constructor(private readonly send: (place: Place, task: TaskWrites) => Promise<void>) {}

  /**
   * Resolves when the writes are stored. `name` identifies the task of a checkpoint; `make` makes
   * its values ready to be sent, and saves the parts of large ones.
   */
  add(place: Place, name: string, make: () => Promise<TaskWrites>): Promise<void> {
    const task = make();
    task.catch(() => undefined); // it is awaited later, and must not count as unhandled until then
    const key = HeldWrites.key(place);
    // A request contains a task once: its earlier writes are sent before.
    if (this.groups.get(key)?.some((held) => held.name === name)) this.sendAll(this.take(place));
    const group = this.groups.get(key) ?? [];
    this.groups.set(key, group);
    if (group.length === 0 && !this.saves.has(key)) this.release(place);
    return new Promise((resolve, reject) => {
      group.push({ place, name, make, task, resolve, reject });
    });
  }

  /**
   * Saves a checkpoint by `save`, with those of the held writes that fit into its request, and
   * settles these. Writes that are added meanwhile are held until it is stored, or is not.
   */
  async saveWith(place: Place, save: (joined: JoinedTasks) => Promise<void>): Promise<void> {
    const key = HeldWrites.key(place);
    this.saves.set(key, (this.saves.get(key) ?? 0) + 1);
    try {
      const { held, joined } = await this.fitting(this.take(place));
      await save(joined).then(
        () => held.forEach(({ resolve }) => resolve()),
        (error: unknown) => this.saveApart(held, error, save),
      );
    } finally {
      const left = (this.saves.get(key) ?? 0) - 1;
      if (left > 0) this.saves.set(key, left);
      else this.saves.delete(key);
      if (left <= 0) this.release(place);
    }
  }

  /** After an error of a request with joined writes. */
  private async saveApart(
    held: Held[],
    error: unknown,
    save: (joined: JoinedTasks) => Promise<void>,
  ): Promise<void> {
    const isUnanswered = error instanceof BelayError && (error.status === 0 || error.status >= 500);
    if (isUnanswered) held.forEach(({ reject }) => reject(error));
    if (isUnanswered || held.length === 0) throw error;
    // A refused request saves nothing. The writes need not fail with the checkpoint, nor it with them.
    this.sendAll(held);
    await save({ tasks: [], bytes: 0 });
  }

  /** Sends the held writes at the end of this turn, if no checkpoint has taken them. */
  private release(place: Place): void {
    const key = HeldWrites.key(place);
    const group = this.groups.get(key);
    if (!group) return;
    setImmediate(() => {
      if (this.groups.get(key) === group) this.sendAll(this.take(place));
    });
  }

  /** Removes the held writes of a thread and namespace and returns them. */
  private take(place: Place): Held[] {
    const key = HeldWrites.key(place);
    const group = this.groups.get(key) ?? [];
    this.groups.delete(key);
    return group;
  }

  /** Sends the writes of each task in a separate request, and settles them. */
  private sendAll(group: Held[]): void {
    for (const held of group) this.sendOne(held).then(held.resolve, held.reject);
  }

  private async sendOne({ place, make, task }: Held): Promise<void> {
    try {
      await this.send(place, await task);
    } catch (error) {
      // Another process has deleted the thread with the parts of large values.
      if (!(error instanceof BelayError) || error.status !== 404) throw error;
      await this.send(place, await make());
    }
  }

  /** Returns those of the group that one request can contain, and sends the others alone. */
  private async fitting(group: Held[]): Promise<{ held: Held[]; joined: JoinedTasks }> {
    const held: Held[] = [];
    const joined: JoinedTasks = { tasks: [], bytes: 0 };
    for (const each of group) {
      const task = await each.task.catch(() => undefined);
      const bytes = Buffer.byteLength(JSON.stringify(task ?? null));
      if (!task || held.length === TASKS_MAX || joined.bytes + bytes > BYTES_MAX) {
        this.sendAll([each]);
        continue;
      }
      held.push(each);
      joined.tasks.push(task);
      joined.bytes += bytes;
    }
    return { held, joined };
  }

  private static key({ threadId, checkpointNs }: Place): string {
    return JSON.stringify([threadId, checkpointNs]);
  }
}
