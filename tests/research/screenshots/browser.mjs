// A headless Chromium, driven through a pipe with the DevTools protocol. Needs no packages.

import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const deadline = 60_000;
const names = ['chromium-headless-shell', 'chromium'];

// Returns the program: $CHROMIUM, or the first one of the path; undefined if none can be started.
export function findBrowser() {
  const candidates = process.env.CHROMIUM ? [process.env.CHROMIUM] : names;
  return candidates.find((name) => spawnSync(name, ['--version']).status === 0);
}

// A promise that fails after the deadline.
function withDeadline(what, start) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what}: no answer`)), deadline);
    const end = (settle) => (value) => {
      clearTimeout(timer);
      settle(value);
    };
    start(end(resolve), end(reject));
  });
}

// The browser's end of --remote-debugging-pipe: JSON texts that end in a zero byte. `events` has
// all messages that are not answers.
export class Browser {
  static async start(program) {
    const browser = new Browser(program);
    const {targetId} = await browser.send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await browser.send('Target.attachToTarget', {targetId, flatten: true});
    browser.session = sessionId;
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) {
      await browser.send(`${domain}.enable`);
    }
    return browser;
  }

  constructor(program) {
    this.profile = mkdtempSync(join(tmpdir(), 'report-browser-'));
    this.nextId = 1;
    this.waiting = new Map();
    this.events = [];
    this.listeners = new Set();
    // A group of processes: Debian's program is a script that starts the browser.
    this.process = spawn(program, [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
      '--hide-scrollbars', '--no-first-run', '--force-color-profile=srgb',
      '--remote-debugging-pipe', `--user-data-dir=${this.profile}`, 'about:blank',
    ], {detached: true, stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    this.process.stdio[3].on('error', () => {});
    this.process.on('error', (error) => this.fail(error));
    this.process.on('exit', () => this.fail(new Error('the browser has ended')));
    let parts = [];
    this.process.stdio[4].on('data', (data) => {
      for (let end = data.indexOf(0); end >= 0; end = data.indexOf(0)) {
        parts.push(data.subarray(0, end));
        this.receive(JSON.parse(Buffer.concat(parts).toString()));
        parts = [];
        data = data.subarray(end + 1);
      }
      parts.push(data);
    });
  }

  receive(message) {
    const call = this.waiting.get(message.id);
    if (call) {
      this.waiting.delete(message.id);
      if (message.error) call.reject(new Error(message.error.message));
      else call.resolve(message.result);
      return;
    }
    this.events.push(message);
    for (const listener of this.listeners) listener(message);
  }

  fail(error) {
    for (const call of this.waiting.values()) call.reject(error);
    this.waiting.clear();
  }

  send(method, params = {}) {
    const id = this.nextId++;
    const message = {id, method, params};
    if (this.session) message.sessionId = this.session;
    return withDeadline(method, (resolve, reject) => {
      this.waiting.set(id, {resolve, reject});
      this.process.stdio[3].write(`${JSON.stringify(message)}\0`);
    });
  }

  event(method) {
    return withDeadline(method, (resolve) => {
      const listener = (message) => {
        if (message.method !== method) return;
        this.listeners.delete(listener);
        resolve(message.params);
      };
      this.listeners.add(listener);
    });
  }

  // Executes a function in the page. Its arguments and its result are JSON.
  async call(inPage, ...values) {
    const {result, exceptionDetails} = await this.send('Runtime.evaluate', {
      expression: `(${inPage})(${values.map((value) => JSON.stringify(value)).join(', ')})`,
      returnByValue: true,
      awaitPromise: true,
    });
    assert.equal(exceptionDetails, undefined, exceptionDetails?.exception?.description);
    return result.value;
  }

  async open(url) {
    const loaded = this.event('Page.loadEventFired');
    await this.send('Page.navigate', {url});
    await loaded;
  }

  // A window of this width in pixels. A mobile one shows the whole width of a wider page.
  async resize(width, height, mobile = false) {
    const size = {width, height, deviceScaleFactor: 1, mobile};
    await this.send('Emulation.setDeviceMetricsOverride', size);
  }

  async click({x, y}) {
    const mouse = {x, y, button: 'left', clickCount: 1};
    await this.send('Input.dispatchMouseEvent', {type: 'mousePressed', ...mouse});
    await this.send('Input.dispatchMouseEvent', {type: 'mouseReleased', ...mouse});
  }

  async press(key, code) {
    const keys = {key, code: key, windowsVirtualKeyCode: code};
    await this.send('Input.dispatchKeyEvent', {type: 'rawKeyDown', ...keys});
    await this.send('Input.dispatchKeyEvent', {type: 'keyUp', ...keys});
  }

  // Returns a PNG of a rectangle of the page, or of the window.
  async picture(clip) {
    const options = clip ? {clip: {...clip, scale: 1}, captureBeyondViewport: true} : {};
    const {data} = await this.send('Page.captureScreenshot', {format: 'png', ...options});
    return Buffer.from(data, 'base64');
  }

  async close() {
    const ended = new Promise((resolve) => this.process.once('close', resolve));
    try {
      process.kill(-this.process.pid, 'SIGKILL');
      await ended;
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
    rmSync(this.profile, {recursive: true, force: true, maxRetries: 5});
  }
}
