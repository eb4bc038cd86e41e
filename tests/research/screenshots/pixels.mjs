// The pixels of a PNG with eight bits in each channel.

import assert from 'node:assert/strict';
import {inflateSync} from 'node:zlib';

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

function dataOf(png) {
  const parts = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const length = png.readUInt32BE(at);
    const type = png.subarray(at + 4, at + 8).toString();
    if (type === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
  }
  return inflateSync(Buffer.concat(parts));
}

function decode(png) {
  assert.equal(png.subarray(1, 4).toString(), 'PNG');
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const channels = {2: 3, 6: 4}[png[25]];
  assert.ok(png[24] === 8 && channels && png[28] === 0, 'another form of PNG');
  const data = dataOf(png);
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
  return {channels, pixels};
}

// Returns the mean brightness from 0 to 1, and the number of colours among every seventh pixel.
export function look(png) {
  const {channels, pixels} = decode(png);
  const colours = new Set();
  let sum = 0;
  let count = 0;
  for (let at = 0; at + 2 < pixels.length; at += 7 * channels) {
    sum += pixels[at] + pixels[at + 1] + pixels[at + 2];
    colours.add((pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2]);
    count++;
  }
  return {brightness: sum / count / 765, colours: colours.size};
}
