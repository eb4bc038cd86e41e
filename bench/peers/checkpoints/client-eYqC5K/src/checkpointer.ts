// checkpointer.ts - the checkpointer of a process.

import { BelaySaver, type BelaySaverOptions } from "./saver.js";

let checkpointer: BelaySaver | undefined;

/**
 * Makes the checkpointer of this process, and waits until its server answers. A second call returns
 * the same checkpointer.
 */
export async function initializeCheckpointer(options: BelaySaverOptions = {}): Promise<BelaySaver> {
  if (checkpointer) return checkpointer;
  const made = new BelaySaver(options);
  await made.server.send("checkpoints/list", { limit: 1 });
  checkpointer ??= made;
  return checkpointer;
}

/** Returns the checkpointer of this process; throws before initializeCheckpointer() has ended. */
export function getCheckpointer(): BelaySaver {
  if (checkpointer) return checkpointer;
  throw new Error("Call initializeCheckpointer() first.");
}
