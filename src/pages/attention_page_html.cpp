#include "pages/attention_page_html.h"

namespace dragoman {

const char* const page_before_about = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>dragoman: what the model looks at</title>
<style>
:root { --back: #f6f7f9; --card: #fff; --text: #1d2330; --soft: #667085; --line: #e3e6eb; --ink: 29 78 189;
  --against: 194 65 12; --on-ink: #fff; --picked: #1d2330; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14171d; --card: #1c2028; --text: #e6e8ec; --soft: #9aa1ad; --line: #2d333e; --ink: 122 176 255;
    --against: 255 160 96; --on-ink: #10141b; --picked: #e6e8ec; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1500px; padding: 20px; background: var(--back); color: var(--text);
  font: 14px/1.45 system-ui, sans-serif; }
header, nav { display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: baseline; margin-bottom: 12px; }
h1 { font-size: 20px; font-weight: 600; margin: 0; }
h2 { font-size: 14px; font-weight: 600; margin: 0 0 8px; }
h2 small, .soft { font-weight: 400; color: var(--soft); }
nav { align-items: center; }
select, button { font: inherit; color: inherit; }
select { flex: 1; min-width: 0; padding: 5px 8px; border: 1px solid var(--line); border-radius: 7px;
  background: var(--card); }
nav label:has(select) { display: flex; gap: 8px; align-items: center; width: min(100%, 60ch); }
fieldset { display: flex; border: 1px solid var(--line); border-radius: 7px; padding: 0; margin: 0; overflow: hidden;
  background: var(--card); }
fieldset label { padding: 5px 11px; cursor: pointer; }
fieldset input { position: absolute; opacity: 0; pointer-events: none; }
fieldset label:has(:checked) { background: rgb(var(--ink)); color: var(--on-ink); }
:focus-visible, fieldset label:has(:focus-visible) { outline: 2px solid rgb(var(--ink)); outline-offset: 1px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px;
  min-width: 0; }
.tokens { display: flex; flex-wrap: wrap; gap: 4px; }
.tokens button { border: 1px solid var(--line); border-radius: 6px; background: none; padding: 3px 7px; cursor: pointer;
  overflow-wrap: anywhere; unicode-bidi: isolate; }
.tokens button.at { border-color: var(--picked); box-shadow: 0 0 0 1px var(--picked); }
.tokens + p { margin: 8px 0; }
.mark { opacity: .35; }
.special { font-style: italic; }
.strong { color: var(--on-ink); }
#status { min-height: 1.5em; margin: 10px 0 0; overflow-wrap: anywhere; }
#columns { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); gap: 14px; margin: 14px 0;
  align-items: start; }
@media (max-width: 860px) { body { padding: 12px; } #status { min-height: 4.5em; } #columns { grid-template-columns: minmax(0, 1fr); } }
.layer { margin-bottom: 10px; }
.single { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 0 8px; }
.row { display: grid; grid-template-columns: repeat(var(--heads), minmax(0, 1fr)); gap: 6px; }
.head { border: 1px solid var(--line); border-radius: 6px; padding: 3px; background: none; cursor: pointer;
  font-size: 11px; line-height: 1.3; color: var(--soft); text-align: center; }
.head[aria-pressed=true] { border-color: rgb(var(--ink)); box-shadow: 0 0 0 2px rgb(var(--ink)); color: var(--text); }
.picture { position: relative; display: block; overflow: hidden; }
canvas { display: block; width: 100%; image-rendering: pixelated; }
.band { position: absolute; outline: 1px solid var(--picked); pointer-events: none; }
.scroll { overflow: auto; max-height: 80vh; }
table { border-collapse: separate; border-spacing: 1px; font-size: 12px; }
th { font-weight: 400; white-space: nowrap; padding: 0 6px 0 0; text-align: right; unicode-bidi: isolate;
  background: var(--card); position: sticky; left: 0; max-width: 12em; overflow: hidden; text-overflow: ellipsis; }
thead th { writing-mode: vertical-rl; text-orientation: sideways; transform: rotate(180deg); text-align: left;
  padding: 4px 0 0; position: static; max-height: 9em; }
td { min-width: var(--cell); height: var(--cell); padding: 0; border-radius: 2px; background: rgb(128 128 128 / .06); }
tr.at th, th.at { color: rgb(var(--ink)); font-weight: 600; }
td.at { outline: 2px solid var(--picked); outline-offset: -1px; }
.legend { display: inline-flex; gap: 6px; align-items: center; }
.legend i { width: 10px; height: 12px; display: inline-block; }
footer { color: var(--soft); max-width: 80ch; }
</style>
</head>
<body>
<header><h1>What the model looks at</h1><span class="soft" id="about"></span></header>
<noscript>This page draws with scripts, which are switched off. <code>dragoman explain --format text</code> needs none.
</noscript>
<nav aria-label="What is shown">
<label>Line <select id="pairs"></select></label>
<fieldset id="sites" aria-label="Attention"></fieldset>
<span class="legend soft" id="legend" aria-hidden="true"></span>
</nav>
<main>
<section>
<h2 id="title"></h2>
<div class="tokens" id="queries" role="group"></div>
<p class="soft" id="between"></p>
<div class="tokens" id="keys" role="group"></div>
<p id="status" aria-live="polite"></p>
</section>
<div id="columns">
<section><h2>Heads <small>pick one; rows look at columns</small></h2><div id="layers"></div></section>
<section><h2 id="map-title"></h2><div class="scroll" id="map" tabindex="0" role="region" aria-labelledby="map-title">
</div></section>
</div>
</main>
<footer>Attention says where a head looks, not what it takes from there, and whether it explains a prediction is
debated (Jain &amp; Wallace 2019, Wiegreffe &amp; Pinter 2019): see docs/explain.md of dragoman.</footer>
<script type="application/json" id="data">)html";

const char* const page_after_about = "</script>\n";

const char* const page_after_pairs = R"html(<script>
'use strict';
const about = JSON.parse(document.getElementById('data').textContent);
const sources = [...document.querySelectorAll('script.pair')];
const $ = id => document.getElementById(id);
const siteNames = ['encoder self', 'decoder self', 'cross'];
const siteWords = [
  ['Source pieces', 'look at source pieces'],
  ['What is to be predicted', 'comes from what was read so far'],
  ['Target pieces', 'look at source pieces'],
];
const signed = about.method === 'gradient';
let pair, site, map, head;     // what is shown; head: {name, weights, scale}
let pinned = null;             // [axis, index] of a piece: axis 0 looks, axis 1 is looked at

function element(parent, name, attributes = {}, text) {
  const made = document.createElement(name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return parent.appendChild(made);
}

// Two letters per weight, 12 bits: -2047 … 2047, where 2047 is `scale`.
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-';
const digits = Object.fromEntries([...letters].map((letter, i) => [letter, i]));
function decode(text, scale) {
  const weights = new Float32Array(text.length / 2);
  for (let i = 0; i < weights.length; ++i)
    weights[i] = (digits[text[2 * i]] * 64 + digits[text[2 * i + 1]] - 2048) / 2047 * scale;
  return weights;
}

function mean(all) {
  const sum = new Float32Array(all[0].length);
  for (const weights of all) weights.forEach((w, i) => { sum[i] += w / all.length; });
  return sum;
}

function load(source) {
  const loaded = JSON.parse(source.textContent);
  for (const m of loaded.maps) {
    m.heads = m.heads.map((n, i) => ({ name: n < 0 ? about.method === 'rollout' ? 'rollout' : 'mean' : `head ${n}`,
      weights: decode(m.weights[i], m.scale), scale: m.scale }));
    if (m.heads.length > 1)
      m.heads.unshift({ name: 'mean', weights: mean(m.heads.map(h => h.weights)), scale: m.scale });
  }
  if (signed) widenMeans(loaded.maps);
  return loaded;
}

// Means are much smaller than the heads if these cancel out, so the means of a site have their own scale.
function widenMeans(maps) {
  const largest = {}, means = maps.filter(m => m.heads[0].name === 'mean');
  for (const m of means)
    largest[m.site] = m.heads[0].weights.reduce((a, w) => Math.max(a, Math.abs(w)), largest[m.site] || 0);
  for (const m of means) m.heads[0].scale = largest[m.site] || 1;
}

const queriesOf = () => site === 0 ? pair.source : pair.predicted;
const keysOf = () => site === 1 ? pair.read : pair.source;
const weightAt = (q, k) => head.weights[q * keysOf().length + k];
const number = w => signed ? String(+w.toPrecision(2)) : `${+(w * 100).toPrecision(w < 0.1 ? 1 : 2)} %`;

// A piece beside other text: one of a right-to-left script changes the order of what follows otherwise.
const isolated = piece => `\u2068${piece}\u2069`;

// Strength is nonlinear so that small weights are visible.
const strength = w => Math.min(1, Math.abs(w) / head.scale) ** 0.6;
const colour = w => `rgb(var(--${w < 0 ? 'against' : 'ink'}) / ${strength(w).toFixed(3)})`;

// The mark of a space is styled apart from text; names in angle brackets are not text.
function write(parent, piece) {
  if (/^<.+>$/.test(piece)) parent.classList.add('special');
  const text = piece.replace(/^\u2581+/, '');
  if (text !== piece) element(parent, 'span', { class: 'mark' }, piece.slice(0, piece.length - text.length));
  parent.append(text);
}

function tokens(axis, pieces) {
  const box = $(axis ? 'keys' : 'queries');
  box.replaceChildren();
  box.setAttribute('aria-label', siteWords[site][axis]);
  pieces.forEach((piece, i) => {
    const button = element(box, 'button', { type: 'button', dir: 'auto', tabindex: i ? -1 : 0 });
    write(button, piece);
    button.onpointerenter = event => { if (event.pointerType !== 'touch') look(axis, i); };
    button.onpointerleave = () => look(...(pinned || []));
    button.onfocus = () => look(axis, i);
    button.onclick = () => {
      pinned = pinned && pinned[0] === axis && pinned[1] === i ? null : [axis, i];
      look(...(pinned || []));
    };
  });
}

// Arrow keys move among the tokens or heads of a group; only one of them is in the tab order.
function walk(event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step || event.target.tagName !== 'BUTTON') return;
  const all = [...event.currentTarget.querySelectorAll('button')], to = all[all.indexOf(event.target) + step];
  event.preventDefault();
  if (!to) return;
  event.target.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
}

// Shows what one token attends to (axis 0), or what attends to it (axis 1); without arguments, nothing.
function look(axis, index) {
  const sides = [$('queries').children, $('keys').children], pieces = [queriesOf(), keysOf()];
  for (const side of sides)
    for (const button of side) { button.className = button.className.replace(/ ?(at|strong)\b/g, '');
      button.style.background = ''; }
  for (const marked of document.querySelectorAll('#map .at')) marked.classList.remove('at');
  for (const band of document.querySelectorAll('.band')) band.remove();
  if (index === undefined) { $('status').textContent = 'Point at a piece, or tap it.'; return; }
  sides[axis][index].classList.add('at');
  const others = pieces[1 - axis].map((piece, i) => [axis ? weightAt(i, index) : weightAt(index, i), piece, i]);
  for (const [w, , i] of others) {
    sides[1 - axis][i].style.background = colour(w);
    sides[1 - axis][i].classList.toggle('strong', strength(w) > 0.6);
  }
  others.sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]));
  const said = others.slice(0, 5).filter(o => o[0]).map(([w, piece]) => `${isolated(piece)} ${number(w)}`).join(', ');
  const verb = axis ? 'is looked at by' : 'looks at';
  $('status').textContent = `${isolated(pieces[axis][index])} ${verb} ${said || 'nothing'}`;
  mark(axis, index);
}

function mark(axis, index) {
  const rows = $('map').querySelectorAll('tr');
  if (axis === 0 && rows[index + 1]) rows[index + 1].classList.add('at');
  if (axis === 1 && rows[0]) rows[0].children[index + 1].classList.add('at');
  const part = 100 / (axis ? keysOf() : queriesOf()).length;
  const place = axis ? `left:${index * part}%;width:${part}%;top:0;height:100%`
    : `top:${index * part}%;height:${part}%;left:0;width:100%`;
  for (const picture of document.querySelectorAll('.picture')) element(picture, 'i', { class: 'band', style: place });
}

function paint(canvas, weights, scale) {
  const style = getComputedStyle(document.documentElement), pen = canvas.getContext('2d');
  const inks = ['--ink', '--against'].map(name => style.getPropertyValue(name).trim().split(/\s+/).map(Number));
  const image = pen.createImageData(canvas.width, canvas.height);
  weights.forEach((w, i) => {
    const alpha = Math.min(1, Math.abs(w) / scale) ** 0.6;
    image.data.set([...inks[w < 0 ? 1 : 0], alpha * 255], 4 * i);
  });
  pen.putImageData(image, 0, 0);
}

function thumbnails() {
  $('layers').replaceChildren();
  $('layers').className = map.heads.length > 1 ? '' : 'single';
  for (const m of pair.maps.filter(m => m.site === site)) {
    const row = element($('layers'), 'div', { class: 'layer' });
    element(row, 'div', { class: 'soft' }, `layer ${m.layer}`);
    const columns = m.heads.length < 2 ? 1 : Math.max(4, Math.ceil(m.heads.length / Math.ceil(m.heads.length / 6)));
    const box = element(row, 'div', { class: 'row', style: `--heads:${columns}` });
    for (const h of m.heads) {
      const button = element(box, 'button', { type: 'button', class: 'head', 'aria-pressed': h === head,
        'aria-label': `layer ${m.layer}, ${h.name}`, tabindex: h === head ? 0 : -1 });
      const picture = element(button, 'span', { class: 'picture' });
      paint(element(picture, 'canvas', { width: keysOf().length, height: queriesOf().length }), h.weights, h.scale);
      button.append(h.name);
      button.onclick = () => pick(m, h);
    }
  }
}

const cells = 40000;  // limit for a responsive table

function table() {
  const box = $('map'), queries = queriesOf(), keys = keysOf();
  box.replaceChildren();
  if (queries.length * keys.length > cells) {
    element(box, 'p', { class: 'soft' }, `${queries.length} × ${keys.length} cells are too many for a table.`);
    return;
  }
  const made = element(box, 'table', { style: `--cell:${keys.length > 24 ? 16 : 22}px` });
  const top = element(element(made, 'thead'), 'tr'), body = element(made, 'tbody');
  element(top, 'td', { style: 'background:none' });
  for (const key of keys) write(element(top, 'th', { scope: 'col', dir: 'auto', title: key }), key);
  queries.forEach((query, q) => {
    const row = element(body, 'tr');
    write(element(row, 'th', { scope: 'row', dir: 'auto', title: query }), query);
    keys.forEach((key, k) => {
      const w = weightAt(q, k);
      element(row, 'td', { class: 'cell', 'aria-label': number(w),
        title: `${isolated(query)} → ${isolated(key)}: ${number(w)}`, ...(w ? { style: `background:${colour(w)}` } : {}) });
    });
  });
  body.onpointerover = event => {
    if (event.target.tagName === 'TD') {
      look(0, event.target.parentNode.rowIndex - 1);
      event.target.classList.add('at');
    }
  };
  body.onpointerleave = () => look(...(pinned || []));
}

function pick(m, h) {
  [map, head] = [m, h];
  const where = `${siteNames[site]}, layer ${m.layer}, ${h.name}`;
  $('title').textContent = where;
  $('map-title').textContent = `${queriesOf().length} × ${keysOf().length}: ${where}`;
  for (const button of document.querySelectorAll('.head'))
    button.setAttribute('aria-pressed', button.getAttribute('aria-label') === `layer ${m.layer}, ${h.name}`);
  table();
  legend();
  look(...(pinned || []));
}

function legend() {
  const box = $('legend'), steps = signed ? [-1, -0.5, -0.2, 0, 0.2, 0.5, 1] : [0, 0.02, 0.1, 0.2, 0.4, 0.6, 0.8, 1];
  box.replaceChildren();
  element(box, 'span', {}, number(steps[0] * head.scale));
  for (const s of steps) element(box, 'i', { style: `background:${colour(s * head.scale)}` });
  element(box, 'span', {}, number(head.scale));
}

function showSite(n) {
  const layer = map ? map.layer : Infinity, name = head ? head.name : '';
  site = n;
  pinned = null;
  const maps = pair.maps.filter(m => m.site === site);
  map = maps.find(m => m.layer === layer) || maps[maps.length - 1];
  head = map.heads.find(h => h.name === name) || map.heads[0];
  $('between').textContent = siteWords[site][1];
  tokens(0, queriesOf());
  tokens(1, keysOf());
  thumbnails();
  pick(map, head);
}

function showPair(n) {
  pair = load(sources[n]);
  const sites = [...new Set(pair.maps.map(m => m.site))].sort();
  document.querySelector('main').hidden = !sites.length;
  $('sites').hidden = !sites.length;
  $('sites').replaceChildren();
  if (!sites.length) { $('legend').textContent = pair.missing; return; }
  const shown = sites.includes(site) ? site : sites[sites.length - 1];
  for (const s of sites) {
    const label = element($('sites'), 'label'), input = element(label, 'input', { type: 'radio', name: 'site' });
    input.checked = s === shown;
    input.onchange = () => showSite(s);
    label.append(siteNames[s]);
  }
  showSite(shown);
}

$('about').textContent = `${about.model}, ${about.words}`;
sources.forEach((source, n) => {
  const { line, source: pieces, missing } = JSON.parse(source.textContent);
  const text = missing || pieces.slice(0, -1).join('').replaceAll('\u2581', ' ').trim();
  element($('pairs'), 'option', { value: n }, `${line}: ${text.length > 60 ? text.slice(0, 60) + '…' : text}`);
});
$('pairs').onchange = event => showPair(+event.target.value);
for (const id of ['queries', 'keys', 'layers']) $(id).onkeydown = walk;
document.addEventListener('keydown', event => { if (event.key === 'Escape' && map) { pinned = null; look(); } });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { if (map) thumbnails(); });
if (sources.length) showPair(0);
else { document.querySelector('main').hidden = true; $('legend').textContent = 'The input had no lines.'; }
</script>
</body>
</html>
)html";

}  // namespace dragoman
