import type { BelayServer } from "./server.js";
/** Bytes with the serializer's name of their format. */
export interface Bytes {
    type: string;
    bytes: Uint8Array;
}
export interface WireValue {
    type: string;
    text?: string;
    data?: string;
    blob?: string;
    parts?: number;
}
/** A value of a channel: in a chain, the first is whole, each other one changes the one before. */
export interface WireBlob extends WireValue {
    head?: number;
    tail?: number;
}
/**
 * Returns the values for one request that has `taken` other bytes. The largest values are saved as
 * parts before it, until the others fit into a request.
 */
export declare function toWire(server: BelayServer, threadId: string, values: Bytes[], taken?: number): Promise<WireValue[]>;
/** Returns the bytes of a value, with those of its parts. */
export declare function fromWire(server: BelayServer, threadId: string, value: WireValue): Promise<Bytes>;
/** Returns the bytes that a chain of values yields. */
export declare function fromChain(server: BelayServer, threadId: string, chain: WireBlob[]): Promise<Bytes>;
/** What two byte arrays have in common. */
export declare function commonEnds(before: Uint8Array, after: Uint8Array): {
    head: number;
    tail: number;
};
/** A value of a channel that the server stores. */
export interface KnownValue extends Bytes {
    version: string;
    checkpointId: string;
    depth: number;
}
/** The newest known values of channels, the least recently used ones removed first. */
export declare class KnownValues {
    private readonly bytesMax;
    private readonly values;
    private bytes;
    constructor(bytesMax: number);
    static key(threadId: string, checkpointNs: string, channel: string): string;
    get(key: string): KnownValue | undefined;
    set(key: string, value: KnownValue): void;
    delete(key: string): void;
    clear(): void;
}
