// The official clients of MCP, of both eras, use Belay as a server over both transports; and a task
// continues whenever its server dies.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as olderHttp from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { modernVersion, serve, transports, world } from './server_process.mjs';

async function modernClient(server, answer) {
  const client = new Client(
    { name: 'modern', version: '1' },
    {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: { pin: modernVersion } },
    },
  );
  const forms = [];
  client.setRequestHandler('elicitation/create', (request) => {
    forms.push(request.params);
    return answer;
  });
  await client.connect(server.transport());
  return { client, forms };
}

for (const [name, open] of Object.entries(transports)) {
  test(`a server over ${name}`, async (t) => {
    const server = await open(world(t));
    await t.test('the modern client calls agents and answers an approval', async () => {
      const approval = { action: 'accept', content: { confirm: true } };
      const { client, forms } = await modernClient(server, approval);
      const { tools } = await client.listTools();
      assert.ok(tools.some((tool) => tool.name === 'greet'));
      const greeted = await client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
      assert.equal(greeted.structuredContent.state.greeting, 'Hello, Ada!');
      const deletion = { name: 'confirm_delete', arguments: { filename: 'x' } };
      const deleted = await client.callTool(deletion);
      assert.equal(deleted.structuredContent.state.deleted, true);
      assert.equal(forms.length, 1);
      assert.deepEqual(forms[0].requestedSchema.required, ['confirm']);
      const wrong = await client.callTool({ name: 'greet', arguments: { name: 7 } });
      assert.equal(wrong.isError, true);
      await assert.rejects(client.callTool({ name: 'nobody', arguments: {} }), { code: -32602 });
      await client.close();
    });

    await t.test('the modern client rejects an approval', async () => {
      const { client } = await modernClient(server, { action: 'decline' });
      const kept = await client.callTool({ name: 'confirm_delete', arguments: { filename: 'x' } });
      assert.equal(kept.structuredContent.status, 'completed');
      assert.notEqual(kept.structuredContent.state.deleted, true);
      await client.close();
    });

    await t.test('the modern client receives the progress of a call', async () => {
      const { client } = await modernClient(server, { action: 'cancel' });
      const seen = [];
      const call = { name: 'test_tool_with_progress', arguments: {} };
      const onprogress = (each) => seen.push(each.progress);
      const result = await client.callTool(call, { onprogress });
      assert.equal(result.structuredContent.state.steps, 4);
      assert.ok(seen.length >= 3, `${seen}`);
      assert.deepEqual(seen, [...seen].sort((one, other) => one - other));
      await client.close();
    });

    await t.test('the client of the older era calls agents', async () => {
      const client = new OlderClient({ name: 'older', version: '1' });
      const { program, url } = server;
      const { StreamableHTTPClientTransport: OlderHttp } = olderHttp;
      await client.connect(program ? new OlderStdio(program) : new OlderHttp(url));
      const { tools } = await client.listTools();
      assert.ok(tools.some((tool) => tool.name === 'greet'));
      const greeted = await client.callTool({ name: 'greet', arguments: { name: 'Bob' } });
      assert.equal(greeted.structuredContent.state.greeting, 'Hello, Bob!');
      const seen = [];
      const call = { name: 'test_tool_with_progress', arguments: {} };
      await client.callTool(call, undefined, { onprogress: (each) => seen.push(each.progress) });
      assert.ok(seen.length >= 3, `${seen}`);
      const waits = await client.callTool({ name: 'confirm_delete', arguments: { filename: 'x' } });
      assert.match(waits.content[0].text, /waits for an approval/);
      const wrong = await client.callTool({ name: 'greet', arguments: { name: 7 } });
      assert.equal(wrong.isError, true);
      await assert.rejects(client.callTool({ name: 'nobody', arguments: {} }), { code: -32602 });
      await client.close();
    });

    await t.test('a task is read, answered and cancelled', async () => {
      const { peer } = server;
      const slow = await peer.call('slow_compute', { seconds: 30 });
      assert.equal(slow.resultType, 'task');
      assert.equal(slow.status, 'working');
      await peer.ask('tasks/cancel', { taskId: slow.taskId });
      await peer.taskIn(slow.taskId, 'cancelled');
      const asked = await peer.call('confirm_delete', { filename: 'x' });
      const waits = await peer.taskIn(asked.taskId, 'input_required');
      const [key] = Object.keys(waits.inputRequests);
      const unclear = { [key]: { action: 'accept', content: {} } };
      await assert.rejects(
        peer.ask('tasks/update', { taskId: asked.taskId, inputResponses: unclear }),
        { code: -32602 },
      );
      const still = await peer.ask('tasks/get', { taskId: asked.taskId });
      assert.equal(still.status, 'input_required');
      await peer.ask('tasks/update', {
        taskId: asked.taskId,
        inputResponses: { [key]: { action: 'accept', content: { confirm: true } } },
      });
      const done = await peer.taskIn(asked.taskId, 'completed');
      assert.equal(done.result.structuredContent.state.deleted, true);
      await assert.rejects(peer.ask('tasks/get', { taskId: 'nothing' }), { code: -32602 });
    });

    await t.test('a subscription reports the changes of its tasks', async () => {
      const { peer } = server;
      const { taskId } = await peer.call('confirm_delete', { filename: 'x' });
      const waits = await peer.taskIn(taskId, 'input_required');
      const notifications = { taskIds: [taskId, 'nothing'], toolsListChanged: true };
      const ended = peer.ask('subscriptions/listen', { notifications });
      const until = Date.now() + 30_000;
      while (peer.notifications.length < 2 && Date.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const [key] = Object.keys(waits.inputRequests);
      await peer.ask('tasks/update', {
        taskId,
        inputResponses: { [key]: { action: 'accept', content: { confirm: true } } },
      });
      const result = await ended;
      const [first, ...rest] = peer.notifications;
      assert.equal(first.method, 'notifications/subscriptions/acknowledged');
      assert.deepEqual(first.params.notifications, { taskIds: [taskId] });
      assert.ok(rest.every((each) => each.method === 'notifications/tasks'));
      assert.equal(rest[0].params.status, 'input_required');
      assert.equal(rest.at(-1).params.status, 'completed');
      assert.equal(rest.at(-1).params.result.structuredContent.state.deleted, true);
      const id = 'io.modelcontextprotocol/subscriptionId';
      assert.ok(rest.every((each) => each.params._meta[id] === result._meta[id]));
    });
    await server.kill();
  });

  test(`a task continues if its server dies after each message over ${name}`, async (t) => {
    const where = world(t);
    let server = await open(where);
    let deaths = 0;
    // The server dies after a response, and the next message is for another one on the store.
    const die = async () => {
      await server.kill();
      ++deaths;
      server = await open(where);
    };
    const written = () =>
      existsSync(where.ledger) ? readFileSync(where.ledger, 'utf8').trim().split('\n') : [];
    const call = await server.peer.call('ledger', { name: 'a' });
    await die();
    const { taskId } = call;
    let task = { status: 'working' };
    while (task.status !== 'completed') {
      await server.peer.ask('tasks/get', { taskId });
      await die();
      task = await server.peer.taskIn(taskId, 'input_required', 'completed');
      await die();
      for (const [key, asked] of Object.entries(task.inputRequests ?? {})) {
        // An effect in progress at the death of its process: whoever is asked looks into the file.
        const isUncertain = /outcome is unknown/.test(asked.params.message);
        const [step] = /open|fill|close/.exec(asked.params.message) ?? [];
        const choice = written().includes(`a ${step}`) ? 'happened' : 'redo';
        const content = isUncertain ? { choice } : { confirm: true };
        assert.deepEqual(asked.params.requestedSchema.required, Object.keys(content));
        const inputResponses = { [key]: { action: 'accept', content } };
        await server.peer.ask('tasks/update', { taskId, inputResponses });
        await die();
      }
    }
    assert.deepEqual(written(), ['a open', 'a fill', 'a close']);
    assert.equal(task.result.structuredContent.state.written, 3);
    assert.ok(deaths >= 9, `${deaths} deaths`);
    await server.kill();
  });

  test(`a task in progress continues in the next server over ${name}`, async (t) => {
    const where = world(t);
    const first = await open(where);
    const { taskId } = await first.peer.call('slow_compute', { seconds: 1 });
    await first.kill();
    const next = await open(where);
    const done = await next.peer.taskIn(taskId, 'completed');
    assert.equal(done.result.structuredContent.state.answer, 42);
    await next.kill();
  });
}

test('two calls with one key at the same time are one run', async (t) => {
  const where = world(t);
  const server = await transports.http(where);
  const meta = { 'belay/idempotencyKey': 'once' };
  const calls = [1, 2, 3].map(() => server.peer.call('ledger', { name: 'b' }, meta));
  const ids = (await Promise.all(calls)).map((each) => each.taskId);
  assert.equal(new Set(ids).size, 1, `${ids}`);
  assert.equal(readFileSync(where.ledger, 'utf8'), 'b open\n');
  await server.kill();
});

test('a call that is repeated after the death of its server finds its run', async (t) => {
  const where = world(t);
  const call = { name: 'ledger', arguments: { name: 'c' }, _meta: { 'belay/idempotencyKey': 'k' } };
  const results = [];
  for (let i = 0; i < 2; ++i) {
    const server = await serve(where);
    const client = new OlderClient({ name: 'older', version: '1' });
    await client.connect(new olderHttp.StreamableHTTPClientTransport(new URL(server.url)));
    results.push(await client.callTool(call));
    await server.end('SIGKILL');
    await client.close().catch(() => {});
  }
  const [first, second] = results.map((each) => each.structuredContent.runId);
  assert.equal(first, second);
  assert.equal(readFileSync(where.ledger, 'utf8'), 'c open\n');
});
