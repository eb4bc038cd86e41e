import type { RunnableConfig } from "@langchain/core/runnables";
export interface Address {
    threadId: string;
    checkpointNs: string;
    checkpointId: string | undefined;
}
/** Returns a name; throws if it is no text or cannot be stored. */
export declare function nameOf(what: string, value: unknown): string;
/** Returns the address in a configuration that must have a thread. */
export declare function addressOf(config: RunnableConfig, call: string): Address;
/** Sets a member of any name, also "__proto__". */
export declare function setMember(object: Record<string, unknown>, name: string, value: unknown): void;
/**
 * Returns metadata, or a filter of it, as JSON that the server can compare. Members that are not
 * JSON are left out, and those that are very long: no filter finds them.
 */
export declare function searchable(members: object): Record<string, unknown>;
