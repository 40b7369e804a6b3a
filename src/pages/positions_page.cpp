#include "pages/positions_page.h"

#include "pages/page_data.h"

namespace dragoman {
namespace {

constexpr const char* before_title = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>dragoman: positions</title>
<style>
:root { --back: #f6f7f9; --card: #fff; --text: #1d2330; --soft: #667085; --line: #e3e6eb; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14171d; --card: #1c2028; --text: #e6e8ec; --soft: #9aa1ad; --line: #2d333e; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1300px; padding: 20px; background: var(--back); color: var(--text);
  font: 14px/1.45 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: baseline; margin-bottom: 12px; }
h1 { font-size: 20px; font-weight: 600; margin: 0; }
h2 { font-size: 14px; font-weight: 600; margin: 0 0 8px; }
h2 small, .soft, .status { font-weight: 400; color: var(--soft); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px;
  margin-bottom: 14px; display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 10px 20px;
  align-items: start; }
@media (max-width: 860px) { section { grid-template-columns: minmax(0, 1fr); } }
canvas { display: block; width: 100%; image-rendering: pixelated; cursor: crosshair; }
.status { grid-column: 1 / -1; min-height: 1.5em; margin: 0; }
.legend { display: inline-flex; gap: 6px; align-items: center; }
.legend i { width: 12px; height: 12px; display: inline-block; }
footer { color: var(--soft); max-width: 80ch; }
</style>
</head>
<body>
<header><h1>How the model distinguishes positions</h1><span class="soft" id="title"></span>
<span class="legend soft" id="legend" aria-hidden="true"></span></header>
<noscript>This page draws with scripts, which are switched off. <code>dragoman explain --positions --format json</code>
needs none.</noscript>
<main></main>
<footer>Left: a row is the vector that is added to the embedding of the token at that position. Right: the cosine of the
angle between the vectors of two positions. Of sinusoids it depends on their distance alone (Vaswani et al. 2017,
section 3.5).</footer>
<script type="application/json" id="about">)html";

constexpr const char* after_title = R"html(</script>
<script type="application/json" id="data">[)html";

constexpr const char* after_positions = R"html(]</script>
<script>
'use strict';
const parsed = id => JSON.parse(document.getElementById(id).textContent);
const number = x => String(+x.toPrecision(3));

function element(parent, name, attributes = {}, text) {
  const made = document.createElement(name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return parent.appendChild(made);
}

// From orange for -1 through the background colour for 0 to blue for 1.
const opacity = x => Math.min(1, Math.abs(x));
const tone = x => x < 0 ? [214, 96, 20] : [35, 95, 205];
const colour = x => `rgb(${tone(x).join(' ')} / ${opacity(x)})`;

// `rows` as an image, one pixel per number; the status shows `say(row, column)` for the number under the pointer.
function picture(parent, rows, scale, status, say) {
  const canvas = element(parent, 'canvas', { width: rows[0].length, height: rows.length, role: 'img',
    'aria-label': `${rows.length} rows of ${rows[0].length} numbers between ${number(-scale)} and ${number(scale)}` });
  const context = canvas.getContext('2d'), image = context.createImageData(rows[0].length, rows.length);
  rows.flat().forEach((x, i) => image.data.set([...tone(x), 255 * opacity(x / scale)], 4 * i));
  context.putImageData(image, 0, 0);
  canvas.onpointermove = event => {
    const box = canvas.getBoundingClientRect();
    const at = (position, size, count) => Math.max(0, Math.min(count - 1, Math.floor(position / size * count)));
    status.textContent = say(at(event.clientY - box.top, box.height, rows.length),
      at(event.clientX - box.left, box.width, rows[0].length));
  };
  canvas.onpointerleave = () => { status.textContent = ''; };
}

function cosines(rows) {
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0), length = rows.map(row => Math.sqrt(dot(row, row)) || 1);
  return rows.map((a, i) => rows.map((b, j) => dot(a, b) / (length[i] * length[j])));
}

function show({ name, vectors }) {
  const section = element(document.querySelector('main'), 'section'), left = element(section, 'div'),
    right = element(section, 'div'), status = element(section, 'p', { class: 'status', 'aria-live': 'polite' });
  const scale = Math.max(...vectors.map(row => Math.max(...row.map(Math.abs)))) || 1, alike = cosines(vectors);
  const title = element(left, 'h2', {}, `${name} `);
  element(title, 'small', {}, `positions 0 to ${vectors.length - 1} down, ${vectors[0].length} dimensions across; ` +
    `the strongest colour is ${number(scale)}`);
  picture(left, vectors, scale, status, (row, column) => `position ${row}, dimension ${column}: ${number(vectors[row][column])}`);
  element(element(right, 'h2', {}, 'cosines '), 'small', {}, 'positions down and across');
  picture(right, alike, 1, status, (row, column) => `positions ${row} and ${column}: ${number(alike[row][column])}`);
}

document.getElementById('title').textContent = parsed('about').title;
const legend = document.getElementById('legend');
element(legend, 'span', {}, 'below 0');
for (const x of [-1, -0.6, -0.3, 0, 0.3, 0.6, 1]) element(legend, 'i', { style: `background:${colour(x)}` });
element(legend, 'span', {}, 'above');
parsed('data').forEach(show);
</script>
</body>
</html>
)html";

}  // namespace

std::string positions_page(const std::string& title, const std::vector<PositionVectors>& all) {
  std::string data;
  for (const PositionVectors& vectors : all) data += (data.empty() ? "" : ",\n") + to_json(vectors);
  return before_title + safe_in_script({{"title", title}}) + after_title + data + after_positions;
}

}  // namespace dragoman
