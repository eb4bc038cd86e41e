// values.ts - the values of checkpoints on the wire: JSON as text, other bytes as base64, large
// ones in parts, and the values of channels as changes to an earlier value.

import { randomUUID } from "node:crypto";
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

const PART_BYTES = 480 * 1024;
const REQUEST_BYTES = 480 * 1024; // of the values within one request, before base64

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const toBase64 = (bytes: Uint8Array): string => bufferOf(bytes).toString("base64");

const LONG = 64 * 1024; // of a long text, the shorter of its two forms is sent
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns bytes as text; a change can begin or end within a character. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns the value as a member of a request. */
function inRequest({ type, bytes }: Bytes): WireValue {
  const text = type === "json" ? textOf(bytes) : undefined;
  const isText =
    text !== undefined &&
    (bytes.length < LONG || 3 * Buffer.byteLength(JSON.stringify(text)) <= 4 * bytes.length);
  return isText ? { type, text } : { type, data: toBase64(bytes) };
}

/** Saves the parts of a value, and returns the value that refers to them. */
async function upload(server: BelayServer, threadId: string, value: Bytes): Promise<WireValue> {
  const blob = randomUUID();
  const parts = Math.ceil(value.bytes.length / PART_BYTES);
  for (let part = 0; part < parts; part += 1) {
    const piece = value.bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
    await server.send("parts", { threadId, blob, part, data: toBase64(piece) });
  }
  return { type: value.type, blob, parts };
}

/**
 * Returns the values for one request that has `taken` other bytes. The largest values are saved as
 * parts before it, until the others fit into a request.
 */
export async function toWire(
  server: BelayServer,
  threadId: string,
  values: Bytes[],
  taken = 0,
): Promise<WireValue[]> {
  const bySize = values.map((_, index) => index);
  const size = (index: number): number => values[index]?.bytes.length ?? 0;
  bySize.sort((a, b) => size(b) - size(a));
  let total = values.reduce((sum, value) => sum + value.bytes.length, taken);
  const large = new Set<number>();
  for (const index of bySize) {
    if (total <= REQUEST_BYTES) break;
    large.add(index);
    total -= size(index);
  }
  const wire: WireValue[] = [];
  for (const [index, value] of values.entries()) {
    if (large.has(index)) wire.push(await upload(server, threadId, value));
    else wire.push(inRequest(value));
  }
  return wire;
}

/** Returns the bytes of a value, with those of its parts. */
export async function fromWire(
  server: BelayServer,
  threadId: string,
  value: WireValue,
): Promise<Bytes> {
  if (value.text !== undefined) return { type: value.type, bytes: Buffer.from(value.text, "utf8") };
  if (!value.parts) return { type: value.type, bytes: Buffer.from(value.data ?? "", "base64") };
  const pieces: Uint8Array[] = [];
  for (let part = 0; part < value.parts; part += 1) {
    const answer = await server.send<{ data: string }>("parts/get", {
      threadId,
      blob: value.blob,
      part,
    });
    pieces.push(Buffer.from(answer.data, "base64"));
  }
  return { type: value.type, bytes: Buffer.concat(pieces) };
}

/** Returns the bytes that a chain of values yields. */
export async function fromChain(
  server: BelayServer,
  threadId: string,
  chain: WireBlob[],
): Promise<Bytes> {
  let made: Bytes = { type: "", bytes: new Uint8Array() };
  for (const link of chain) {
    const { type, bytes } = await fromWire(server, threadId, link);
    if (link.head === undefined || link.tail === undefined) {
      made = { type, bytes };
      continue;
    }
    const before = made.bytes;
    if (link.head + link.tail > before.length) throw new Error("A stored value does not fit its base.");
    const end = before.subarray(before.length - link.tail);
    made = { type, bytes: Buffer.concat([before.subarray(0, link.head), bytes, end]) };
  }
  return made;
}

/** What two byte arrays have in common. */
export function commonEnds(
  before: Uint8Array,
  after: Uint8Array,
): { head: number; tail: number } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (
    tail < most - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail += 1;
  }
  return { head, tail };
}

/** A value of a channel that the server stores. */
export interface KnownValue extends Bytes {
  version: string;
  checkpointId: string;
  depth: number;
}

/** The newest known values of channels, the least recently used ones removed first. */
export class KnownValues {
  private readonly values = new Map<string, KnownValue>();
  private bytes = 0;

  constructor(private readonly bytesMax: number) {}

  static key(threadId: string, checkpointNs: string, channel: string): string {
    return JSON.stringify([threadId, checkpointNs, channel]);
  }

  get(key: string): KnownValue | undefined {
    return this.values.get(key);
  }

  set(key: string, value: KnownValue): void {
    this.delete(key);
    if (value.bytes.length > this.bytesMax) return;
    this.values.set(key, value);
    this.bytes += value.bytes.length + key.length;
    for (const oldest of this.values.keys()) {
      if (this.bytes <= this.bytesMax) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const value = this.values.get(key);
    if (!value) return;
    this.values.delete(key);
    this.bytes -= value.bytes.length + key.length;
  }

  clear(): void {
    this.values.clear();
    this.bytes = 0;
  }
}
