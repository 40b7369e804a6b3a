#include "serve/page.h"

namespace dragoman {

const char* const page_js = R"js('use strict';
const $ = id => document.getElementById(id);
let running = null;  // the request in flight; typing abandons it
let waiting = 0;     // until the typist pauses
let models = [];     // their languages, and which of them can tell what words attend to

function say(text, wrong = false) {
  $('state').textContent = text;
  $('state').classList.toggle('wrong', wrong);
}

function show(text, pending) {
  $('translation').textContent = text;
  $('translation').classList.toggle('pending', pending);
}

// Where each character begins in a string of JavaScript, which counts those beyond U+FFFF twice.
function starts(text) {
  const at = [0];
  for (const character of text) at.push(at.at(-1) + character.length);
  return at;
}

// The ranges of the source text that a word of the translation attends to; none: no word.
function mark(ranges) {
  const text = $('text').value;
  const parts = [];
  let done = 0;
  for (const [begin, end] of ranges.sort((a, b) => a[0] - b[0])) {
    if (begin < done) continue;
    const word = document.createElement('span');
    word.textContent = text.slice(begin, end);
    parts.push(text.slice(done, begin), word);
    done = end;
  }
  $('marks').replaceChildren(...(parts.length ? [...parts, text.slice(done)] : []));
  $('marks').scrollTop = $('text').scrollTop;
}

function wordOf(text, ranges) {
  const word = document.createElement('span');
  word.textContent = text;
  word.onpointerenter = () => (word.classList.add('at'), mark(ranges));
  word.onpointerleave = () => (word.classList.remove('at'), mark([]));
  return word;
}

// The translation, in which each word shows what it attends to.
function showWords(source, {text, sentences}) {
  const parts = [];
  let done = 0, from = 0;
  for (const sentence of sentences) {
    const {text: translated, words = []} = sentence.hypotheses[0];
    const at = text.indexOf(translated, done), begin = source.indexOf(sentence.source, from);
    if (at < 0 || begin < 0) return show(text, false);
    const inSource = starts(sentence.source), inTarget = starts(translated);
    const looks = new Map();  // by index of the word
    for (const [b, e, target, end] of words) {
      if (!looks.has(target)) looks.set(target, {end, ranges: []});
      looks.get(target).ranges.push([begin + inSource[b], begin + inSource[e]]);
    }
    for (const [target, {end, ranges}] of [...looks].sort((a, b) => a[0] - b[0])) {
      if (at + inTarget[target] < done) continue;
      parts.push(text.slice(done, at + inTarget[target]), wordOf(translated.slice(inTarget[target], inTarget[end]), ranges));
      done = at + inTarget[end];
    }
    from = begin + sentence.source.length;
  }
  show('', false);
  $('translation').replaceChildren(...parts, text.slice(done));
}

function showAlternatives(texts) {
  $('alternatives').replaceChildren(...texts.map(text => {
    const item = document.createElement('li');
    item.textContent = text;
    return item;
  }));
}

// Server-sent events of a response: calls on(name, data) for each.
async function readEvents(response, on) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    rest += value;
    const events = rest.split('\n\n');
    rest = events.pop();
    for (const event of events) {
      const [name, data] = event.split('\n');
      on(name.slice(7), JSON.parse(data.slice(6)));
    }
  }
}

async function readModels() {
  ({models} = await (await fetch('v1/models')).json());
}

// A model that is not for one pair is the only one.
const aligns = () =>
  (models.find(m => m.source === $('source').value && m.target === $('target').value) ?? models[0])?.alignment;

function request(text) {
  const [source, target] = [$('source').value, $('target').value];
  const body = {text, stream: true, n_best: 3};
  if (aligns()) body.alignment = true;
  if (source !== 'und') body.source = source;
  if (target !== 'und') body.target = target;
  if ($('key').value) body.api_key = $('key').value;
  return {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)};
}

// A model that was reloaded since the page asked may no longer tell what words attend to.
async function ask(text, signal) {
  const send = () => fetch('v1/translate', {...request(text), signal});
  const response = await send();
  if (response.status !== 400 || !aligns()) return response;
  await readModels();
  return aligns() ? response : send();
}

async function translate() {
  running?.abort?.();
  const mine = running = new AbortController();
  const text = $('text').value;
  showAlternatives([]);
  if (!text.trim()) return show('', false), say('');
  say('…');
  try {
    const response = await ask(text, mine.signal);
    if (!response.ok) throw new Error((await response.json()).error);
    let shown = '';
    await readEvents(response, (name, data) => {
      if (name === 'error') throw new Error(data.error);
      if (name === 'partial') return show(shown += data.delta, true);
      const best = data.translations[0];
      showWords(text, best);
      showAlternatives([...new Set(best.alternatives)].filter(other => other !== best.text));
      say('');
    });
  } catch (error) {
    if (error.name !== 'AbortError') say(error.message, true);
  }
}

function soon() {
  mark([]);
  $('count').textContent = `${[...$('text').value].length} characters`;
  clearTimeout(waiting);
  waiting = setTimeout(translate, 250);
}

function options(select, codes, names, chosen) {
  select.replaceChildren(...codes.map(code => new Option(names[code] || code, code, false, code === chosen)));
}

async function start() {
  const languages = await (await fetch('languages')).json();
  const settings = await (await fetch('frontend/settings')).json();
  await readModels();
  const names = Object.fromEntries(languages.map(l => [l.code, l.code === 'und' ? 'any language' : l.name]));
  const targets = Object.fromEntries(languages.map(l => [l.code, l.targets]));
  const sources = languages.map(l => l.code).filter(code => targets[code].length > 0);
  const choose = (source, target) => {
    options($('source'), sources, names, source);
    options($('target'), targets[$('source').value], names, target);
    $('translation').lang = $('target').value;
    $('text').lang = $('source').value;
  };
  choose(settings.language.source.code, settings.language.target.code);
  $('key-label').hidden = !settings.keyRequired;
  $('source').onchange = () => (choose($('source').value, $('target').value), soon());
  $('target').onchange = () => (choose($('source').value, $('target').value), soon());
  const swap = () => {
    const [source, target] = [$('source').value, $('target').value];
    if (!(targets[target] || []).includes(source)) return say('there is no model for the other direction', true);
    $('text').value = $('translation').textContent;
    choose(target, source);
    soon();
  };
  $('swap').onclick = swap;
  document.addEventListener('keydown', event => {
    if (event.altKey && event.key === 's') event.preventDefault(), swap();
    if (event.ctrlKey && event.key === 'Enter') clearTimeout(waiting), translate();
  });
}

$('text').oninput = soon;
$('key').onchange = soon;
$('copy').onclick = async () => {
  try {
    await navigator.clipboard.writeText($('translation').textContent);
    say('copied');
  } catch (error) {
    say('the browser does not allow to copy', true);
  }
};
// A link may bring a text: encoded, or with a % as it was typed.
function textOf(hash) {
  try {
    return decodeURIComponent(hash);
  } catch (error) {
    return hash;
  }
}

$('text').value = textOf(location.hash.slice(1));
start().then(soon).catch(error => say(error.message, true));
)js";

}  // namespace dragoman
