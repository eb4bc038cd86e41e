import { BelaySaver, type BelaySaverOptions } from "./saver.js";
/**
 * Makes the checkpointer of this process, and waits until its server answers. A second call returns
 * the same checkpointer.
 */
export declare function initializeCheckpointer(options?: BelaySaverOptions): Promise<BelaySaver>;
/** Returns the checkpointer of this process; throws before initializeCheckpointer() has ended. */
export declare function getCheckpointer(): BelaySaver;
