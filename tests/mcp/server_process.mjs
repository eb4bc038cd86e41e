// Starts $PROGRAM as a server of MCP, and sends messages to it by the transports of the official
// client.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

export const modernVersion = '2026-07-28';
const tasks = 'io.modelcontextprotocol/tasks';
const patience = 60_000;

// A folder for a store and what the agents write. At the end of the test it is removed, and the
// servers that still run are killed.
export function world(test) {
  const folder = mkdtempSync(join(tmpdir(), 'belay-mcp-'));
  const ends = [];
  test.after(async () => {
    for (const end of ends) await end();
    rmSync(folder, { recursive: true, force: true });
  });
  return { folder, ends, store: `sqlite:${folder}/belay.db`, ledger: join(folder, 'ledger') };
}

export function environment(where) {
  return { PATH: process.env.PATH, HOME: where.folder, LEDGER: where.ledger };
}

// `belay serve` on a free port; `keys`: the file of API keys, or none.
export async function serve(where, keys) {
  const words = ['serve', '--store', where.store, '--listen', '127.0.0.1:0'];
  if (keys) words.push('--api-keys', keys);
  const child = spawn(process.env.PROGRAM, words, {
    env: environment(where),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const address = new Promise((resolve, reject) => {
    for (const output of [child.stdout, child.stderr]) {
      createInterface({ input: output }).on('line', (line) => {
        printed += `${line}\n`;
        const found = /http:\/\/[\d.]+:\d+/.exec(line);
        if (found) resolve(found[0]);
      });
    }
    child.on('exit', () => reject(new Error(`The server has ended: ${printed}`)));
  });
  const end = async (signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  where.ends.push(() => end('SIGKILL'));
  return { url: `${await address}/mcp`, end };
}

// A peer of one server: requests by a transport, without the client above it, which does not know
// the results that are tasks.
export class Peer {
  #transport;
  #waiting = new Map();
  #next = 1;
  notifications = [];

  constructor(transport) {
    this.#transport = transport;
    transport.onmessage = (message) => {
      if (message.method) this.notifications.push(message);
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    };
    transport.onerror = () => {};
  }

  async start() {
    await this.#transport.start();
    return this;
  }

  // Returns the response; `capabilities`: those of the client.
  async send(method, params, capabilities) {
    const id = `r${this.#next++}`;
    const meta = {
      'io.modelcontextprotocol/protocolVersion': modernVersion,
      'io.modelcontextprotocol/clientCapabilities': capabilities ?? {
        elicitation: {},
        extensions: { [tasks]: {} },
      },
      'io.modelcontextprotocol/clientInfo': { name: 'peer', version: '1' },
      ...params?._meta,
    };
    const message = { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } };
    const response = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`No response to ${method}.`)), patience);
      this.#waiting.set(id, (reply) => {
        clearTimeout(timer);
        resolve(reply);
      });
    });
    // The transport reports an error of HTTP; its message is the response.
    this.#transport.send(message).catch((failed) => {
      const body = failed?.data?.text ?? failed?.data?.body;
      this.#waiting.get(id)?.(body ? JSON.parse(body) : { error: failed });
      this.#waiting.delete(id);
    });
    return response;
  }

  // Returns the result, or throws the error.
  async ask(method, params, capabilities) {
    const { result, error } = await this.send(method, params, capabilities);
    if (error) throw Object.assign(new Error(error.message), { code: error.code });
    return result;
  }

  call(name, args, meta) {
    return this.ask('tools/call', { name, arguments: args, ...(meta && { _meta: meta }) });
  }

  // Returns the task when it has one of these statuses.
  async taskIn(taskId, ...statuses) {
    const until = Date.now() + patience;
    for (;;) {
      const task = await this.ask('tasks/get', { taskId });
      if (statuses.includes(task.status)) return task;
      if (Date.now() > until) throw new Error(`The task remains ${task.status}.`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  close() {
    return this.#transport.close();
  }
}

// The two ways to reach a server on the store: a peer, the end of its server, and whatever the
// official clients need to connect to it.
export const transports = {
  async http(where) {
    const server = await serve(where);
    const transport = () => new StreamableHTTPClientTransport(new URL(server.url));
    const peer = await new Peer(transport()).start();
    return {
      peer,
      transport,
      url: new URL(server.url),
      async kill() {
        await server.end('SIGKILL');
        await peer.close();
      },
    };
  },
  async stdio(where) {
    const program = {
      command: process.env.PROGRAM,
      args: ['mcp', 'serve', '--store', where.store],
      env: environment(where),
      stderr: 'ignore',
    };
    const own = new StdioClientTransport(program);
    const peer = await new Peer(own).start();
    const kill = async () => {
      if (own.pid === null) return;
      const ended = new Promise((resolve) => (own.onclose = resolve));
      process.kill(own.pid, 'SIGKILL');
      await ended;
    };
    where.ends.push(kill);
    return {
      peer,
      program,
      transport: () => new StdioClientTransport(program),
      kill,
    };
  },
};
