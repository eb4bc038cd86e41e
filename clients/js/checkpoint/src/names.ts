// names.ts - the names in configurations, and metadata as plain JSON for filters.

import type { RunnableConfig } from "@langchain/core/runnables";

export interface Address {
  threadId: string;
  checkpointNs: string;
  checkpointId: string | undefined;
}

/** Returns a name; throws if it is no text or cannot be stored. */
export function nameOf(what: string, value: unknown): string {
  if (typeof value !== "string") throw new Error(`"${what}" must be a string.`);
  for (let i = 0; i < value.length; i += 1) {
    const code = value.codePointAt(i) ?? 0;
    if (code === 0) throw new Error(`"${what}" contains the character U+0000.`);
    if (code >= 0xd800 && code <= 0xdfff) throw new Error(`"${what}" is not well-formed Unicode.`);
    if (code > 0xffff) i += 1;
  }
  return value;
}

/** Returns the address in a configuration that must have a thread. */
export function addressOf(config: RunnableConfig, call: string): Address {
  const configurable = config.configurable;
  const threadId: unknown = configurable?.thread_id;
  if (threadId === undefined || threadId === null || threadId === "") {
    throw new Error(
      `${call} needs a "thread_id" in "configurable", for example ` +
        `graph.invoke(input, { configurable: { thread_id: "my-thread" } }).`,
    );
  }
  const id: unknown = configurable?.checkpoint_id || configurable?.thread_ts;
  return {
    threadId: nameOf("thread_id", threadId),
    checkpointNs: nameOf("checkpoint_ns", configurable?.checkpoint_ns ?? ""),
    checkpointId: id ? nameOf("checkpoint_id", id) : undefined,
  };
}

const SEARCH_DEPTH = 24;
const SEARCH_BYTES = 64 * 1024;
// The server reads these members: the pruning of threads and the deletion of runs need them.
const SEARCHED_FIRST = ["run_id", "counters_since_delta_snapshot"];

/** Sets a member of any name, also "__proto__". */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

// U+0000 and lone surrogates, which JSON documents of the server cannot contain.
const plainText = (text: string): string =>
  text.replace(/\u0000|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "");

function plain(value: unknown, depth: number): unknown {
  if (typeof value === "string") return plainText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.map((each) => plain(each, depth - 1));
  const made: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    setMember(made, plainText(name), plain(member, depth - 1));
  }
  return made;
}

/**
 * Returns metadata, or a filter of it, as JSON that the server can compare. Members that are not
 * JSON are left out, and those that are very long: no filter finds them.
 */
export function searchable(members: object): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  let left = SEARCH_BYTES;
  const isFirst = ([name]: [string, unknown]): boolean => SEARCHED_FIRST.includes(name);
  const all: [string, unknown][] = Object.entries(members);
  for (const [name, member] of [...all.filter(isFirst), ...all.filter((each) => !isFirst(each))]) {
    let text: string | undefined;
    try {
      text = JSON.stringify(member);
    } catch {
      continue;
    }
    if (text === undefined || text.length + name.length > left) continue;
    left -= text.length + name.length;
    setMember(made, plainText(name), plain(JSON.parse(text), SEARCH_DEPTH));
  }
  return made;
}
