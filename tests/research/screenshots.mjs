// Opens a report in headless Chromium: in both themes, at three widths, and in print.
//
//   node screenshots.mjs REPORT.html FOLDER
//
// Writes FOLDER/{light,dark}-{summary,financial,valuation,red-flags}.png and FOLDER/report.pdf.
// Fails if a picture is blank or has the colours of the other theme, if the page is wider than its
// window, if the console has an error, if anything is loaded, if a number does not lead to its
// inputs, or if the tab key does not reach the link that skips the header.
//
// $CHROMIUM names the browser; without it, `chromium` of the path is taken. Exits with 77 if it
// cannot be started. Needs Node.js 18 or newer and no packages: a pipe drives the browser.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { inflateSync } from 'node:zlib';

const themes = ['light', 'dark'];
const widths = [360, 768, 1280];
const greatestHeight = 4000;
// Names of pictures, and the elements that they show.
const pictures = {
  summary: '#top',
  financial: '#section-financial',
  valuation: '#section-valuation',
  'red-flags': '#red-flags',
};
const deadline = 60_000;

// The browser's end of --remote-debugging-pipe: JSON texts that end in a zero byte.
class Browser {
  constructor(program, folder) {
    this.process = spawn(
      program,
      [
        '--headless=new',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--hide-scrollbars',
        '--no-first-run',
        '--remote-debugging-pipe',
        `--user-data-dir=${folder}`,
        'about:blank',
      ],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
    );
    this.nextId = 1;
    this.waiting = new Map();
    this.events = [];
    this.listeners = [];
    let rest = Buffer.alloc(0);
    this.process.stdio[4].on('data', (data) => {
      rest = Buffer.concat([rest, data]);
      for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
        this.receive(JSON.parse(rest.subarray(0, end).toString()));
        rest = rest.subarray(end + 1);
      }
    });
    this.process.stdio[3].on('error', () => {});
    this.process.on('error', (error) => this.end(error));
    this.process.on('exit', () => this.end(new Error('the browser has ended')));
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

  end(error) {
    for (const call of this.waiting.values()) call.reject(error);
    this.waiting.clear();
  }

  send(method, params = {}) {
    const id = this.nextId++;
    const message = { id, method, params };
    if (this.session) message.sessionId = this.session;
    this.process.stdio[3].write(`${JSON.stringify(message)}\0`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), deadline);
      this.waiting.set(id, {
        resolve: (result) => {
          clearTimeout(timer);
          resolve(result);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
    });
  }

  event(method) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no event`)), deadline);
      const listener = (message) => {
        if (message.method !== method) return;
        clearTimeout(timer);
        this.listeners.splice(this.listeners.indexOf(listener), 1);
        resolve(message.params);
      };
      this.listeners.push(listener);
    });
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    assert.equal(exceptionDetails, undefined, `${expression}: ${exceptionDetails?.text}`);
    return result.value;
  }

  async open(url) {
    const loaded = this.event('Page.loadEventFired');
    await this.send('Page.navigate', { url });
    await loaded;
  }

  close() {
    this.process.kill('SIGKILL');
  }
}

async function openBrowser(program, folder) {
  const browser = new Browser(program, folder);
  const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
  browser.session = sessionId;
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) {
    await browser.send(`${domain}.enable`);
  }
  return browser;
}

// Returns the width, the height and the pixels of a PNG with eight bits in each channel.
function decodePng(png) {
  assert.equal(png.subarray(1, 4).toString(), 'PNG');
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const channels = { 2: 3, 6: 4 }[png[25]];
  assert.equal(png[24], 8);
  assert.ok(channels, 'neither RGB nor RGBA');
  assert.equal(png[28], 0, 'interlaced');
  const parts = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const length = png.readUInt32BE(at);
    const type = png.subarray(at + 4, at + 8).toString();
    if (type === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
  }
  const data = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = data[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x >= channels ? pixels[at - channels] : 0;
      const above = y > 0 ? pixels[at - stride] : 0;
      const corner = x >= channels && y > 0 ? pixels[at - stride - channels] : 0;
      pixels[at] = data[y * (stride + 1) + 1 + x] + predicted(filter, left, above, corner);
    }
  }
  return { width, height, channels, pixels };
}

function predicted(filter, left, above, corner) {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  if (filter !== 4) return 0;
  const estimate = left + above - corner;
  const distances = [left, above, corner].map((value) => Math.abs(estimate - value));
  if (distances[0] <= distances[1] && distances[0] <= distances[2]) return left;
  return distances[1] <= distances[2] ? above : corner;
}

// Returns the mean brightness from 0 to 1, and the number of colours among every seventh pixel.
function look(png) {
  const { channels, pixels } = decodePng(png);
  const colours = new Set();
  let sum = 0;
  let count = 0;
  for (let at = 0; at + 2 < pixels.length; at += 7 * channels) {
    sum += pixels[at] + pixels[at + 1] + pixels[at + 2];
    colours.add((pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2]);
    count++;
  }
  return { brightness: sum / count / 765, colours: colours.size };
}

async function takePicture(browser, selector, file, theme) {
  const box = await browser.evaluate(`(() => {
    const box = document.querySelector('${selector}')?.getBoundingClientRect();
    return box && { x: 0, y: box.top + scrollY, width: innerWidth, height: box.height };
  })()`);
  assert.ok(box, `there is no ${selector}`);
  const clip = { ...box, height: Math.min(box.height, greatestHeight), scale: 1 };
  const { data } = await browser.send('Page.captureScreenshot', {
    format: 'png',
    clip,
    captureBeyondViewport: true,
  });
  const png = Buffer.from(data, 'base64');
  writeFileSync(file, png);
  const { brightness, colours } = look(png);
  assert.ok(colours > 20, `${file} is blank: ${colours} colours`);
  if (theme === 'light') assert.ok(brightness > 0.7, `${file} is dark: ${brightness}`);
  else assert.ok(brightness < 0.3, `${file} is light: ${brightness}`);
}

async function checkWidths(browser) {
  for (const width of widths) {
    await browser.send('Emulation.setDeviceMetricsOverride', {
      width,
      height: 900,
      deviceScaleFactor: 1,
      mobile: false,
    });
    const needed = await browser.evaluate('document.documentElement.scrollWidth');
    assert.ok(needed <= width, `a window of ${width} pixels scrolls: the page has ${needed}`);
  }
}

async function checkLinks(browser) {
  const target = await browser.evaluate(`(async () => {
    const link = document.querySelector('#key-figures td:not(.na) a');
    link.click();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const box = document.querySelector(link.getAttribute('href')).getBoundingClientRect();
    return { top: box.top, bottom: box.bottom, height: innerHeight };
  })()`);
  assert.ok(target.top >= 0 && target.bottom <= target.height, 'a number does not show its inputs');
  await browser.evaluate('scrollTo(0, 0), document.activeElement.blur()');
}

async function checkKeyboard(browser) {
  const key = { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 };
  await browser.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...key });
  await browser.send('Input.dispatchKeyEvent', { type: 'keyUp', ...key });
  const focused = await browser.evaluate('document.activeElement.className');
  assert.equal(focused, 'skip', 'the first stop of the tab key is another one');
}

// Errors of the console, and requests for anything but the report.
function faultsOf(events, url) {
  const faults = [];
  for (const { method, params } of events) {
    if (method === 'Runtime.exceptionThrown') faults.push(params.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled' && params.type === 'error') faults.push('an error');
    if (method === 'Log.entryAdded' && params.entry.level === 'error') {
      faults.push(params.entry.text);
    }
    if (method !== 'Network.requestWillBeSent') continue;
    const requested = params.request.url.replace(/#.*/, '');
    if (requested !== url) faults.push(`a request for ${requested}`);
  }
  return faults;
}

async function checkTheme(browser, url, theme, folder) {
  await browser.send('Emulation.setEmulatedMedia', {
    features: [{ name: 'prefers-color-scheme', value: theme }],
  });
  await browser.open('about:blank');
  browser.events.length = 0;
  await browser.open(url);
  await checkKeyboard(browser);
  await checkWidths(browser);
  for (const [name, selector] of Object.entries(pictures)) {
    await takePicture(browser, selector, path.join(folder, `${theme}-${name}.png`), theme);
  }
  await checkLinks(browser);
  assert.deepEqual(faultsOf(browser.events, url), []);
}

async function checkPrint(browser, folder) {
  const { data } = await browser.send('Page.printToPDF', { printBackground: false });
  const pdf = Buffer.from(data, 'base64');
  writeFileSync(path.join(folder, 'report.pdf'), pdf);
  assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
  assert.ok(pdf.length > 20_000, `the printed report has ${pdf.length} bytes`);
}

async function main(report, folder) {
  const program = process.env.CHROMIUM ?? 'chromium';
  if (spawnSync(program, ['--version']).status !== 0) {
    console.error('Chromium is needed: apt-get install chromium');
    return 77;
  }
  mkdirSync(folder, { recursive: true });
  const profile = mkdtempSync(path.join(tmpdir(), 'report-browser-'));
  const browser = await openBrowser(program, profile);
  try {
    const url = pathToFileURL(path.resolve(report)).href;
    for (const theme of themes) await checkTheme(browser, url, theme, folder);
    await checkPrint(browser, folder);
    console.log(`${themes.length * Object.keys(pictures).length} pictures in ${folder}`);
    return 0;
  } finally {
    browser.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

if (process.argv.length !== 4) {
  console.error('usage: node screenshots.mjs REPORT.html FOLDER');
  process.exitCode = 2;
} else {
  try {
    process.exitCode = await main(process.argv[2], process.argv[3]);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
