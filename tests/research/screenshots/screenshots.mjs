// Looks at reports in headless Chromium: in both themes, in windows of several widths, and printed.
//
//   node screenshots.mjs FOLDER REPORT.html...
//
// Writes pictures (FOLDER/NAME-THEME-PART.png) and the printed report (FOLDER/NAME.pdf). Fails if
//
//   - the console has an error, or anything is loaded;
//   - the page is wider than its window, or a table is wider than a printed page;
//   - a link has no target, or a number does not lead to its inputs by a click;
//   - the contrast of a text is low, or a picture is blank or has the colours of the other theme;
//   - headings are out of order, the note on advice is not visible, or the tab key does not reach
//     the link that skips the header.
//
// $CHROMIUM names the browser. Exits with 77 if there is none. Needs Node.js 18 or newer.

import assert from 'node:assert/strict';
import {mkdirSync, writeFileSync} from 'node:fs';
import {basename, join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

import {Browser, findBrowser} from './browser.mjs';
import * as page from './page_checks.mjs';
import {look} from './pixels.mjs';

const themes = ['light', 'dark'];
const phone = {width: 390, height: 844};
const desktop = {width: 1280, height: 900};
const widths = [360, 390, 768, 1280];
// A page of A4 without its margins, in pixels of 1/96 inch.
const printedPage = {width: 703, height: 1016};
const greatestHeight = 3000;
// Names of pictures, and the elements that they show.
const parts = {
  figures: '#key-figures',
  flags: '#red-flags',
  financial: '#section-financial',
  valuation: '#section-valuation',
  risk: '#section-risk_factors',
  missing: '#not-available',
  assumptions: '#assumptions',
};
// Links from a number to its inputs: of a card, a table, a chart, and a missing number.
const numbers = {
  card: '.cards .number a',
  table: '#key-figures td:not(.na) a',
  chart: '.chart svg a',
  missing: 'td.na a',
};

class Report {
  constructor(browser, file, folder) {
    this.browser = browser;
    this.url = pathToFileURL(resolve(file)).href;
    this.name = basename(file, '.html');
    this.folder = folder;
    this.pictures = 0;
  }

  async keep(name, clip, theme) {
    const file = join(this.folder, `${this.name}-${name}.png`);
    const png = await this.browser.picture(clip);
    writeFileSync(file, png);
    const {brightness, colours} = look(png);
    assert.ok(colours > 12, `${file} is blank: ${colours} colours`);
    if (theme === 'dark') assert.ok(brightness < 0.3, `${file} is light: ${brightness}`);
    else assert.ok(brightness > 0.7, `${file} is dark: ${brightness}`);
    this.pictures++;
  }

  async checkWidths() {
    for (const width of widths) {
      await this.browser.resize(width, phone.height, width < 700);
      const {needed, window, outside} = await this.browser.call(page.widthOf);
      assert.equal(window, width, `a window of ${width} pixels shows ${window}`);
      assert.ok(needed <= width, `the page has ${needed} pixels in a window of ${width}`);
      assert.deepEqual(outside, [], `outside a window of ${width} pixels`);
      assert.ok(await this.browser.call(page.noteOnAdvice), `no note on advice at ${width}`);
    }
  }

  async checkStructure() {
    const headings = await this.browser.call(page.headingFaults);
    assert.deepEqual(headings.faults, []);
    assert.ok(headings.count > 20, `${headings.count} headings`);
    const links = await this.browser.call(page.linkFaults);
    assert.deepEqual(links.faults, []);
    const figures = await this.browser.call(page.figuresWithoutInputs);
    assert.deepEqual(figures.faults, []);
    assert.ok(links.count > figures.count && figures.count > 100, `${figures.count} figures`);
    assert.deepEqual(await this.browser.call(page.numbersWithoutLinks), []);
  }

  async checkTexts() {
    const {count, faults} = await this.browser.call(page.contrastFaults);
    assert.deepEqual(faults, [], 'low contrast');
    assert.ok(count > 1000, `${count} texts`);
    assert.deepEqual(await this.browser.call(page.smallTexts), [], 'small texts');
  }

  // Clicks on a number and returns what the window shows then.
  async follow(selector) {
    const link = await this.browser.call(page.centreOf, selector);
    assert.ok(link, `there is no ${selector}`);
    await this.browser.click(link);
    const shown = await this.browser.call(page.shownTarget);
    assert.ok(shown, `a click on ${selector} leads nowhere`);
    assert.equal(shown.hash, link.target);
    assert.ok(shown.isVisible, `the inputs of ${selector} are not in the window`);
    assert.ok(shown.isMarked, `the inputs of ${selector} are not marked`);
    return shown.text;
  }

  async checkNumbers(theme) {
    for (const [name, selector] of Object.entries(numbers)) {
      const text = await this.follow(selector);
      if (name === 'missing') continue;
      assert.match(text, /\d{10}-\d{2}-\d{6}/, `${name}: no accession number`);
      assert.match(text, /\d{4}-\d{2}-\d{2}/, `${name}: no period`);
      if (name === 'table') await this.keep(`${theme}-inputs`, undefined, theme);
    }
    const {faults} = await this.browser.call(page.contrastFaults);
    assert.deepEqual(faults, [], 'low contrast of the marked text');
    await this.browser.call(page.toTheTop);
  }

  async checkTheme(theme) {
    await this.browser.send('Emulation.setEmulatedMedia', {
      media: 'screen',
      features: [{name: 'prefers-color-scheme', value: theme}],
    });
    await this.browser.open('about:blank');
    this.browser.events.length = 0;
    await this.browser.open(this.url);
    await this.browser.press('Tab', 9);
    assert.equal(await this.browser.call(page.focusedClass), 'skip', 'the first stop of the tab key');
    await this.browser.call(page.toTheTop);
    await this.checkStructure();
    await this.checkWidths();
    await this.browser.resize(phone.width, phone.height, true);
    await this.keep(`${theme}-phone`, {x: 0, y: 0, width: phone.width, height: 2400}, theme);
    await this.browser.resize(desktop.width, desktop.height);
    await this.checkTexts();
    await this.keep(`${theme}-top`, undefined, theme);
    for (const [name, selector] of Object.entries(parts)) {
      const box = await this.browser.call(page.boxOf, selector);
      assert.ok(box, `there is no ${selector}`);
      const height = Math.min(box.height, greatestHeight);
      await this.keep(`${theme}-${name}`, {...box, height}, theme);
    }
    await this.checkNumbers(theme);
    assert.deepEqual(this.faults(), []);
  }

  // Errors of the console, and requests for anything but the report.
  faults() {
    const faults = [];
    for (const {method, params} of this.browser.events) {
      if (method === 'Runtime.exceptionThrown') faults.push(params.exceptionDetails.text);
      if (method === 'Runtime.consoleAPICalled' && params.type === 'error') faults.push('an error');
      if (method === 'Log.entryAdded' && params.entry.level === 'error') {
        faults.push(params.entry.text);
      }
      if (method !== 'Network.requestWillBeSent') continue;
      const requested = params.request.url.replace(/#.*/, '');
      if (requested !== this.url) faults.push(`a request for ${requested}`);
    }
    return faults;
  }

  // The dark theme of the window must not be that of the paper.
  async checkPrint() {
    await this.browser.send('Emulation.setEmulatedMedia', {
      media: 'print',
      features: [{name: 'prefers-color-scheme', value: 'dark'}],
    });
    await this.browser.resize(printedPage.width, printedPage.height);
    const {needed, outside} = await this.browser.call(page.widthOf);
    assert.deepEqual(outside, [], 'outside a printed page');
    assert.ok(needed <= printedPage.width, `a printed page needs ${needed} pixels`);
    const {faults} = await this.browser.call(page.contrastFaults);
    assert.deepEqual(faults, [], 'low contrast in print');
    const clip = {x: 0, y: 0, width: printedPage.width, height: 2 * printedPage.height};
    await this.keep('print', clip, 'light');
    const {data} = await this.browser.send('Page.printToPDF',
        {printBackground: false, preferCSSPageSize: true, paperWidth: 8.27, paperHeight: 11.69});
    const pdf = Buffer.from(data, 'base64');
    writeFileSync(join(this.folder, `${this.name}.pdf`), pdf);
    const pages = pdf.toString('latin1').match(/\/Type ?\/Page\b(?!s)/g)?.length ?? 0;
    assert.ok(pages >= 5 && pages <= 60, `the printed report has ${pages} pages`);
    return pages;
  }
}

async function main(folder, files) {
  const program = findBrowser();
  if (!program) {
    console.error('Chromium is needed: apt-get install chromium-headless-shell');
    return 77;
  }
  mkdirSync(folder, {recursive: true});
  const browser = await Browser.start(program);
  try {
    for (const file of files) {
      const report = new Report(browser, file, folder);
      for (const theme of themes) await report.checkTheme(theme);
      const pages = await report.checkPrint();
      console.log(`${report.name}: ${report.pictures} pictures, ${pages} printed pages`);
    }
  } finally {
    await browser.close();
  }
  return 0;
}

if (process.argv.length < 4) {
  console.error('usage: node screenshots.mjs FOLDER REPORT.html...');
  process.exitCode = 2;
} else {
  try {
    process.exitCode = await main(process.argv[2], process.argv.slice(3));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
