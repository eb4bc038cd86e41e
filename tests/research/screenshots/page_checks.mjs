// Functions that the browser executes in the page of a report. Each one is complete without the
// others, and returns JSON.

// The rectangle of an element, in pixels from the top left corner of the page.
export function boxOf(selector) {
  const box = document.querySelector(selector)?.getBoundingClientRect();
  return box && {x: 0, y: Math.max(0, box.top + scrollY - 8), width: innerWidth,
                 height: box.height + 16};
}

// The width that the page needs, and the elements that stick out of the window.
export function widthOf() {
  const outside = [...document.querySelectorAll('body *')].filter((element) => {
    const box = element.getBoundingClientRect();
    const scrolls = element.closest('.scroll') && getComputedStyle(
        element.closest('.scroll')).overflowX !== 'visible';
    return box.width > 0 && !scrolls && box.right > document.documentElement.clientWidth + 0.5;
  });
  return {
    needed: document.documentElement.scrollWidth,
    window: document.documentElement.clientWidth,
    outside: outside.slice(0, 5).map((each) => each.outerHTML.slice(0, 100)),
  };
}

// Links without a target in the page, ids that occur twice, and links to other hosts than EDGAR's.
export function linkFaults() {
  const ids = new Set();
  const faults = [];
  for (const {id} of document.querySelectorAll('[id]')) {
    if (ids.has(id)) faults.push(`the id ${id} occurs twice`);
    ids.add(id);
  }
  let count = 0;
  for (const link of document.querySelectorAll('a')) {
    const target = link.getAttribute('href') ?? '';
    if (target.startsWith('#')) {
      count++;
      if (!ids.has(target.slice(1))) faults.push(`no target: ${link.outerHTML}`);
    } else if (!target.startsWith('https://www.sec.gov/')) {
      faults.push(`another host: ${link.outerHTML}`);
    }
  }
  return {count, faults};
}

// Figures of the appendix without the concepts that they come from.
export function figuresWithoutInputs() {
  const figures = [...document.querySelectorAll('.set > p[id^="f"]')];
  const faults = figures.filter((figure) => {
    const set = figure.closest('.set');
    return !set.querySelector('li b, li a') && !set.querySelector('p.none');
  });
  return {count: figures.length, faults: faults.map((each) => each.textContent)};
}

// Numbers in a table of figures that are not links.
export function numbersWithoutLinks() {
  const cells = document.querySelectorAll('.years td, .heat .cell, .matrix .cell');
  return [...cells].filter((cell) => /[0-9]/.test(cell.textContent) && !cell.querySelector('a'))
      .map((cell) => cell.outerHTML);
}

// The headings that are out of order: one of the first level, and no level left out.
export function headingFaults() {
  const levels = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')];
  let before = 0;
  const faults = [];
  for (const heading of levels) {
    const level = Number(heading.tagName[1]);
    if (level > before + 1 || (level === 1 && before > 0)) faults.push(heading.outerHTML);
    before = level;
  }
  return {count: levels.length, faults};
}

// Whether the first window contains the note that the report is no advice.
export function noteOnAdvice() {
  scrollTo(0, 0);
  const note = document.querySelector('.advice');
  const box = note?.getBoundingClientRect();
  return Boolean(box) && box.height > 0 && box.bottom < innerHeight &&
      /not investment advice/i.test(note.innerText);
}

// Texts whose contrast to their background is below that of WCAG 2 AA: 4.5, or 3 for large ones.
export function contrastFaults() {
  const numbersIn = (colour) => {
    const [r, g, b, a = 1] = (colour.match(/[0-9.]+/g) ?? [0, 0, 0, 0]).map(Number);
    return [r, g, b, a];
  };
  const over = (top, bottom) => {
    const mixed = [0, 1, 2].map((i) => top[i] * top[3] + bottom[i] * (1 - top[3]));
    return [...mixed, 1];
  };
  const luminance = (colour) => {
    const parts = colour.slice(0, 3).map((channel) => {
      const share = channel / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const backgrounds = new Map();
  const backgroundOf = (element) => {
    if (!element) return [255, 255, 255, 1];
    if (!backgrounds.has(element)) {
      const style = getComputedStyle(element);
      backgrounds.set(element, over(numbersIn(style.backgroundColor),
                                    backgroundOf(element.parentElement)));
    }
    return backgrounds.get(element);
  };
  const faults = [];
  let count = 0;
  for (const element of document.querySelectorAll('body, body *')) {
    const hasText = [...element.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '');
    if (!hasText || element.tagName === 'STYLE' || element.closest('.skip')) continue;
    if (element.getClientRects().length === 0) continue;
    const style = getComputedStyle(element);
    const background = backgroundOf(element);
    const isSvg = element instanceof SVGElement;
    const colour = over(numbersIn(isSvg ? style.fill : style.color), background);
    const both = [luminance(colour), luminance(background)].sort((a, b) => b - a);
    const ratio = (both[0] + 0.05) / (both[1] + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    count++;
    if (ratio < (isLarge ? 3 : 4.5)) {
      faults.push(`${ratio.toFixed(2)}: ${element.outerHTML.slice(0, 120)}`);
    }
  }
  return {count, faults: faults.slice(0, 10)};
}

// Texts below ten pixels.
export function smallTexts() {
  const faults = [];
  for (const element of document.querySelectorAll('body *')) {
    const hasText = [...element.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '');
    if (!hasText || element.getClientRects().length === 0) continue;
    if (parseFloat(getComputedStyle(element).fontSize) < 10) {
      faults.push(element.outerHTML.slice(0, 120));
    }
  }
  return faults.slice(0, 10);
}

// Scrolls a link into the window and returns its centre and its target.
export function centreOf(selector) {
  const link = document.querySelector(selector);
  if (!link) return undefined;
  link.scrollIntoView({block: 'center', inline: 'center'});
  const box = link.getBoundingClientRect();
  const target = link.href?.baseVal ?? link.getAttribute('href');
  return {x: box.left + box.width / 2, y: box.top + box.height / 2, target};
}

// The element that the address names, once the window shows it.
export async function shownTarget() {
  await new Promise((resolve) => setTimeout(resolve, 100));
  const target = document.querySelector(':target');
  if (!target) return undefined;
  const box = target.getBoundingClientRect();
  const page = getComputedStyle(document.body).backgroundColor;
  return {
    hash: location.hash,
    isVisible: box.top >= 0 && box.bottom <= innerHeight && box.height > 0,
    isMarked: getComputedStyle(target).backgroundColor !== page,
    text: (target.closest('.set') ?? target.closest('tr') ?? target).innerText,
  };
}

export function focusedClass() {
  return document.activeElement.className;
}

export function toTheTop() {
  scrollTo(0, 0);
  document.activeElement.blur();
}
