#include "pages/curves_page.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pages/page_data.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* before_data = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>dragoman: training runs</title>
<style>
:root { --back: #f6f7f9; --card: #fff; --text: #1d2330; --soft: #6b7280; --line: #e3e6eb; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14171d; --card: #1c2028; --text: #e6e8ec; --soft: #9aa1ad; --line: #2d333e; }
}
body { margin: 0; padding: 24px; background: var(--back); color: var(--text); font: 14px/1.4 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: baseline; margin-bottom: 18px; }
h1 { font-size: 20px; font-weight: 600; margin: 0; }
h2 { font-size: 14px; font-weight: 600; margin: 0 0 2px; }
h2 small { font-weight: 400; color: var(--soft); margin-left: 6px; }
.run { font: inherit; color: inherit; background: none; border: 0; padding: 2px 8px 2px 0; cursor: pointer; }
.run[aria-pressed=false] { opacity: .35; }
.run i { display: inline-block; width: 22px; vertical-align: middle; margin-right: 6px; }
:focus-visible { outline: 2px solid #2f7ed8; outline-offset: 1px; }
label { color: var(--soft); margin-left: auto; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 480px), 1fr)); gap: 16px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px 8px;
  position: relative; }
svg { width: 100%; height: auto; display: block; touch-action: pan-y; }
svg text { fill: var(--soft); font-size: 11px; }
.grid { stroke: var(--line); }
.curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.cursor { stroke: var(--soft); stroke-dasharray: 3 3; visibility: hidden; }
.tip { position: absolute; pointer-events: none; visibility: hidden; background: var(--card); padding: 6px 9px;
  border: 1px solid var(--line); border-radius: 6px; box-shadow: 0 2px 8px #0003; font-size: 12px; white-space: nowrap;
  z-index: 1; }
.tip i { display: inline-block; width: 22px; vertical-align: middle; margin-right: 6px; }
</style>
</head>
<body>
<header><h1>Training runs</h1><span id="runs"></span>
<label>by <select id="axis"><option value="0">updates</option><option value="1">target tokens</option></select></label>
</header>
<noscript>This page draws with scripts, which are switched off. The log of the run (<code>--log-json</code>) has the same
figures as text.</noscript>
<main id="charts"></main>
<script id="data" type="application/json">)html";

constexpr const char* after_curves = R"html(</script>
<script type="module">
const runs = JSON.parse(document.getElementById('data').textContent);
// Each has a contrast of 3 or more with both backgrounds. Runs beyond as many have the same colours in other strokes.
const colours = ['#2f7ed8', '#e4672b', '#1f9d6b', '#b05cc6', '#a87c00', '#2191b8', '#d8496b', '#7a8699'];
const strokes = [['solid', 'none'], ['dashed', '8 5'], ['dotted', '2 4']];
const colourOf = run => colours[run % colours.length];
const strokeOf = run => strokes[Math.floor(run / colours.length) % strokes.length];
const sample = run => `border-top: 3px ${strokeOf(run)[0]} ${colourOf(run)}`;
const titles = {
  cost: ['Cost', 'training, label-smoothed, per target token'],
  alignment_cost: ['Alignment cost', 'training, per linked target token'],
  learning_rate: ['Learning rate', ''],
  words_per_second: ['Words/s', 'target tokens'],
  gradient_norm: ['Gradient norm', 'before clipping'],
};
const first = ['cost', 'alignment_cost'], last = ['learning_rate', 'words_per_second', 'gradient_norm'];
const W = 560, H = 250, left = 58, right = 16, top = 10, bottom = 26;
const hidden = new Set();
let axis = 0;

// Round tick values: multiples of 1, 2 or 5 times a power of ten.
function ticks(low, high, wanted) {
  const raw = (high - low) / wanted || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw * 0.999);
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; ++n) found.push(n * step);
  return found;
}

function short(v) {
  const size = Math.abs(v);
  if (size >= 1e9) return +(v / 1e9).toPrecision(4) + 'G';
  if (size >= 1e6) return +(v / 1e6).toPrecision(4) + 'M';
  if (size >= 1e3) return +(v / 1e3).toPrecision(4) + 'k';
  if (size > 0 && size < 1e-3) return v.toExponential(1).replace('.0e', 'e');
  return String(+v.toPrecision(4));
}

const exact = v => Number.isInteger(v) || Math.abs(v) >= 1e4 ? Math.round(v).toLocaleString('en')
  : Math.abs(v) < 1e-3 && v ? v.toExponential(4) : String(+v.toPrecision(6));

function element(parent, name, attributes, text) {
  const made = document.createElementNS(parent.namespaceURI, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return parent.appendChild(made);
}

// Values that differ in their last bits alone count as equal: there are no ticks between them.
function range(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) { low = Math.min(low, v); high = Math.max(high, v); }
  if (high - low > 1e-9 * Math.abs(low)) return [low, high];
  return [low - (Math.abs(low) || 1) * 0.1, high + (Math.abs(high) || 1) * 0.1];
}

function nearest(points, x) {
  let low = 0, high = points.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][axis] < x) low = middle + 1; else high = middle;
  }
  return low > 0 && x - points[low - 1][axis] < points[low][axis] - x ? points[low - 1] : points[low];
}

const across = ([low, high]) => v => left + (v - low) / (high - low) * (W - left - right);

function chart(name, lines, span) {
  const section = element(document.getElementById('charts'), 'section', {});
  const [title, remark] = titles[name] || [name, 'validation'];
  element(element(section, 'h2', {}, title), 'small', {}, remark);
  if (!lines.length) return;
  const svg = section.appendChild(document.createElementNS('http://www.w3.org/2000/svg', 'svg'));
  svg.setAttribute('viewBox', `0 0 ${W} ${H}`);
  svg.setAttribute('tabindex', 0);
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', `${title}: ` + lines.map(({ run, points }) =>
    `${run} from ${exact(points[0][2])} to ${exact(points[points.length - 1][2])}`).join('; '));
  const all = lines.flatMap(line => line.points).sort((a, b) => a[axis] - b[axis]);
  const [low, high] = range(all.map(p => p[2]));
  const y0 = low - (high - low) * 0.04, y1 = high + (high - low) * 0.04;
  const X = across(span);
  const Y = v => H - bottom - (v - y0) / (y1 - y0) * (H - top - bottom);
  for (const v of ticks(y0, y1, 5)) {
    element(svg, 'line', { class: 'grid', x1: left, x2: W - right, y1: Y(v), y2: Y(v) });
    element(svg, 'text', { x: left - 8, y: Y(v) + 4, 'text-anchor': 'end' }, short(v));
  }
  for (const v of ticks(...span, 6))
    element(svg, 'text', { x: X(v), y: H - 8, 'text-anchor': 'middle' }, short(v));
  for (const line of lines) {
    const path = line.points.map(p => `${X(p[axis]).toFixed(1)},${Y(p[2]).toFixed(1)}`).join(' ');
    element(svg, 'polyline', { class: 'curve', points: path, stroke: colourOf(line.index),
      'stroke-dasharray': strokeOf(line.index)[1] });
    if (line.points.length < 30)
      for (const p of line.points)
        element(svg, 'circle', { cx: X(p[axis]), cy: Y(p[2]), r: 2.4, fill: colourOf(line.index) });
  }
  pointing(section, svg, lines, all, span);
}

// Shows the values at a position: of the pointer, or reached with the arrow keys. `all`: points of all lines, in order.
function pointing(section, svg, lines, all, span) {
  const X = across(span);
  const cursor = element(svg, 'line', { class: 'cursor', y1: top, y2: H - bottom });
  const tip = element(section, 'div', { class: 'tip', 'aria-live': 'polite' });
  let shown = -1;  // index of a point
  const show = index => {
    shown = index;
    const x = all[index][axis], box = svg.getBoundingClientRect();
    cursor.setAttribute('x1', X(x));
    cursor.setAttribute('x2', X(x));
    tip.replaceChildren();
    element(tip, 'div', {}, `${axis ? 'target token' : 'update'} ${exact(x)}`);
    for (const line of lines) {
      const row = element(tip, 'div', {}), p = nearest(line.points, x);
      element(row, 'i', { style: sample(line.index) });
      row.append(exact(p[2]) + (lines.length > 1 ? `  ${line.run}` : '') +
        (p[axis] === x ? '' : ` (at ${exact(p[axis])})`));
    }
    const card = section.getBoundingClientRect(), beside = X(x) / W * box.width + box.left - card.left;
    tip.style.top = `${box.top - card.top + 12}px`;
    tip.style.left = X(x) < W / 2 ? `${beside + 12}px` : '';
    tip.style.right = X(x) < W / 2 ? '' : `${card.width - beside + 12}px`;
    cursor.style.visibility = tip.style.visibility = 'visible';
  };
  const hide = () => { cursor.style.visibility = tip.style.visibility = 'hidden'; };
  svg.onpointermove = svg.onpointerdown = event => {
    const box = svg.getBoundingClientRect(), at = (event.clientX - box.left) / box.width * W;
    show(all.indexOf(nearest(all, span[0] + (at - left) / (W - left - right) * (span[1] - span[0]))));
  };
  svg.onpointerleave = event => { if (event.pointerType !== 'touch') hide(); };  // a tap stays
  svg.onblur = hide;
  svg.onkeydown = event => {  // arrow keys go to the next point that has another position
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    let to = shown < 0 ? 0 : shown + step;
    while (shown >= 0 && all[to] && all[to][axis] === all[shown][axis]) to += step;
    if (all[to]) show(to);
  };
}

function draw() {
  const names = [...new Set(runs.flatMap(run => Object.keys(run.curves)))];
  const rank = name => first.includes(name) ? first.indexOf(name) - first.length : last.indexOf(name) + 1;
  names.sort((a, b) => rank(a) - rank(b));
  document.getElementById('charts').replaceChildren();
  const shown = runs.filter((_, i) => !hidden.has(i));
  const span = range(shown.flatMap(run => Object.values(run.curves).flat().map(p => p[axis])));
  for (const name of names)
    chart(name, runs.flatMap((run, i) => hidden.has(i) || !run.curves[name] || !run.curves[name].length ? [] :
      [{ run: run.name, index: i, points: run.curves[name] }]), span);
}

runs.forEach((run, i) => {
  const name = element(document.getElementById('runs'), 'button', { type: 'button', class: 'run', 'aria-pressed': true,
    title: 'hide or show' });
  element(name, 'i', { style: sample(i) });
  name.append(run.name);
  name.onclick = () => {
    if (!hidden.delete(i)) hidden.add(i);
    name.setAttribute('aria-pressed', !hidden.has(i));
    draw();
  };
});
document.getElementById('axis').onchange = event => { axis = +event.target.value; draw(); };
draw();
</script>
</body>
</html>
)html";

// The first and the last point, and the lowest and the highest of each group of neighbours: more would not be seen.
std::vector<CurvePoint> thinned(const std::vector<CurvePoint>& points) {
  constexpr size_t groups = 1000;
  if (points.size() <= 2 * groups) return points;
  std::vector<CurvePoint> kept = {points.front()};
  for (size_t group = 0; group < groups; ++group) {
    const auto begin = points.begin() + ptrdiff_t(group * points.size() / groups),
               end = points.begin() + ptrdiff_t((group + 1) * points.size() / groups);
    const auto [low, high] = std::ranges::minmax_element(begin, end, {}, &CurvePoint::value);
    for (const auto& point : {std::min(low, high), std::max(low, high)})
      if (point->update > kept.back().update) kept.push_back(*point);
  }
  if (points.back().update > kept.back().update) kept.push_back(points.back());
  return kept;
}

Json points_of(const Curve& curve) {
  Json points = Json::array();
  for (const CurvePoint& p : thinned(curve.points)) points.push_back({p.update, p.target_tokens, p.value});
  return points;
}

}  // namespace

std::string curves_page(const std::vector<RunCurves>& runs) {
  Json all = Json::array();
  for (const RunCurves& run : runs) {
    Json curves = Json::object();
    for (const Curve& curve : run.curves) curves[curve.name] = points_of(curve);
    all.push_back({{"name", run.name}, {"curves", curves}});
  }
  return before_data + safe_in_script(all) + after_curves;
}

}  // namespace dragoman
