// Elements of the page. Text of the report becomes text nodes and attributes, and never markup.

// Nothing but blanks may be a control character in a page.
function clean(text) {
  return String(text).replace(/[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f]/g, '\ufffd');
}

// An element. Attributes that are false or absent are left out; a function listens to the event of its name.
function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name === 'style') Object.assign(made.style, value);
    else if (typeof value === 'function') made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? '' : clean(value));
  }
  const isThere = child => child !== null && child !== undefined && child !== false && child !== '';
  const parts = children.flat(Infinity).filter(isThere);
  made.append(...parts.map(part => part instanceof Node ? part : clean(part)));
  return made;
}

function hint(...children) { return el('p', { class: 'hint' }, ...children); }

function section(kind, title, ...children) {
  return el('section', { class: kind }, el('h2', null, title), ...children);
}

function fact(name, value, about) {
  return el('div', { title: about }, el('dt', null, name), el('dd', null, value));
}

// Folded content, which is made when it is opened for the first time.
function folded(attributes, summary, make) {
  const details = el('details', attributes, el('summary', null, summary));
  const fill = () => {
    if (!details.open || details.dataset.made) return;
    details.dataset.made = 'yes';
    details.append(...make());
  };
  details.addEventListener('toggle', fill);
  // The event comes later, and a page that is printed does not wait for it.
  details.fill = fill;
  fill();
  return details;
}

// Text whose strong parts stand out.
function emphasized(text, strong) {
  const parts = [];
  let rest = text;
  for (const part of strong || []) {
    const at = rest.indexOf(part);
    if (at < 0) continue;
    parts.push(rest.slice(0, at), el('em', null, part));
    rest = rest.slice(at + part.length);
  }
  return parts.concat(rest);
}

// As many colours as can be told from each other; the other regions share one.
const COLOURS = 8;
function colour(at) { return at < COLOURS ? 'c' + at : 'cx'; }
function swatch(at) { return el('i', { class: 'swatch ' + colour(at) }); }
function mark(at) { return [swatch(at), el('b', { class: 'number' }, at + 1), ' ']; }

function last(path) { return path.slice(path.lastIndexOf('/') + 1); }
function shortName(region) { return region.short_name || region.name; }

// File and line of a region, if its name has no more.
function codeOf(region) {
  if (!region.file || region.label) return null;
  return last(region.file) + (region.line === null ? '' : ':' + region.line);
}

function titled(region) {
  const name = shortName(region), code = codeOf(region);
  return code && !name.includes(code) ? name + ', ' + code : name;
}

function processName(process) {
  return process.rank === null ? 'process ' + process.pid : 'rank ' + process.rank;
}

// Where threads wait: a construct, or the ends of regions.
function reasonAt(process, cause, site) {
  if (cause === 'start') return 'at the start of regions';
  if (cause === 'end') return 'at the end of regions';
  const own = site === null ? null : (process.sites || [])[site];
  if (!own) return 'at ' + cause;
  if (own.at) return own.at;
  // Reports of earlier versions have no words.
  return (own.call ? 'in ' + own.call : 'at ' + own.cause) + ', ' +
    (own.file && own.line !== null ? last(own.file) + ':' + own.line : own.name);
}
