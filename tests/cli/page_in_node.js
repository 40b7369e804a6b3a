// Runs the script of a page (argv[2]) on a document that only has what the page of curves needs, then argv[3], which
// returns what is printed as JSON.
'use strict';
const page = require('fs').readFileSync(process.argv[2], 'utf8');

class Element {
  constructor(name) { Object.assign(this, { name, attributes: {}, children: [], style: {}, own: '' }); }
  setAttribute(key, value) { this.attributes[key] = String(value); }
  appendChild(child) { this.children.push(child); return child; }
  append(text) { this.own += text; }
  replaceChildren() { this.children = []; this.own = ''; }
  getBoundingClientRect() { return { left: 0, top: 0, width: 560, height: 250 }; }
  set textContent(text) { this.own = text; }
  get textContent() { return this.children.map(c => c.textContent).join('') + this.own; }
  all(name) { return this.children.flatMap(c => [...(c.name === name ? [c] : []), ...c.all(name)]); }
}

const byId = {};
const document = {
  getElementById: id => byId[id] ||= new Element(id),
  createElementNS: (_, name) => new Element(name),
};
const [, data] = page.match(/<script id="data" type="application\/json">(.*?)<\/script>/s);
document.getElementById('data').textContent = data;
const [, script] = page.match(/<script type="module">(.*?)<\/script>/s);
console.log(JSON.stringify(new Function('document', `${script}\nreturn (() => { ${process.argv[3]} })();`)(document)));
