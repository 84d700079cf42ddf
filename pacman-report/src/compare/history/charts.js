// Pictures over runs. All charts of a page have their cursor at the same run.

const SVG = 'http://www.w3.org/2000/svg';
function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) made.setAttribute(name, clean(value));
  }
  made.append(...children.flat(Infinity).filter(Boolean));
  return made;
}

// The run that the reader looks at, and what follows it.
const looked = { at: null, followers: [] };
function look(at) {
  looked.at = at;
  looked.followers = looked.followers.filter(follower => follower.of.isConnected);
  looked.followers.forEach(follower => follower.show(at));
}

const EDGE = { left: 58, right: 10, top: 14, bottom: 22, height: 168 };

// The step of the axis and its end, with at most four steps.
function axisOf(most) {
  const step = roundStep(Math.max(most, 1e-12) / 3);
  return { step, end: step * Math.ceil(most / step - 1e-9) || step };
}

// Paths of the values that are there; a run without one interrupts the line.
function pathOf(values, x, y) {
  let path = '', isDown = false;
  values.forEach((value, at) => {
    if (typeof value !== 'number') { isDown = false; return; }
    path += (isDown ? 'L' : 'M') + x(at).toFixed(2) + ' ' + y(value).toFixed(2);
    isDown = true;
  });
  return path;
}

// A chart: `series` are lines of name, class and values; `bands` lie on each other instead. `format` writes a value,
// `marks` are verdicts and `intervals` pairs of values by run.
function chart(labels, { title, series, bands, format, most, marks, intervals, say }) {
  const picture = svg('svg', { role: 'img', 'aria-label': title });
  const readout = el('p', { class: 'readout', 'aria-live': 'polite' });
  const place = el('div', {
    class: 'chart', tabindex: 0, role: 'group', 'aria-label': title + ', by run',
    keydown: event => {
      const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      if (steps === undefined) return;
      event.preventDefault();
      const from = looked.at === null ? labels.length - 1 : looked.at;
      look(Math.min(Math.max(from + steps, 0), labels.length - 1));
    },
  }, picture);
  const drawn = bands || series, last = labels.length - 1;
  const tops = bands ? labels.map((_, at) => bands.reduce((sum, band) => sum + (band.values[at] || 0), 0))
    : drawn.flatMap(line => line.values).filter(value => typeof value === 'number');
  const { step, end } = most ? { step: most / 2, end: most } : axisOf(Math.max(0, ...tops));
  let x, cursor;

  function draw() {
    const width = Math.max(place.clientWidth, 240);
    picture.setAttribute('viewBox', '0 0 ' + width + ' ' + EDGE.height);
    const inside = width - EDGE.left - EDGE.right, slot = inside / labels.length;
    const floor = EDGE.height - EDGE.bottom, tall = floor - EDGE.top;
    x = at => EDGE.left + slot * (at + 0.5);
    const y = value => floor - tall * Math.min(value, end) / end;
    const parts = [];
    for (let n = 0; n * step <= end * 1.0001; n++) {
      parts.push(svg('line', { class: 'grid', x1: EDGE.left, x2: width - EDGE.right, y1: y(n * step), y2: y(n * step) }),
        svg('text', { x: EDGE.left - 6, y: y(n * step) + 4, 'text-anchor': 'end' }, n ? format(n * step) : '0'));
    }
    // As many labels as have room, the first and the latest among them.
    const room = Math.max(1, Math.floor(inside / 90)), every = Math.max(1, Math.ceil(labels.length / room));
    labels.forEach((label, at) => {
      if ((last - at) % every) return;
      const short = label.length > 12 ? label.slice(0, 11) + '…' : label;
      const half = 3.6 * short.length, middle = Math.max(half, Math.min(x(at), width - half));
      parts.push(svg('text', { x: middle, y: EDGE.height - 6, 'text-anchor': 'middle' }, short));
    });
    if (bands) {
      const base = labels.map(() => 0), gap = slot > 6 ? 2 : slot > 3 ? 0.5 : 0;
      bands.forEach(band => band.values.forEach((value, at) => {
        if (!(value > 0)) return;
        const above = base[at] + value;
        parts.push(svg('rect', {
          class: 'band', x: (x(at) - slot / 2 + gap / 2).toFixed(2), width: (slot - gap).toFixed(2), y: y(above).toFixed(2),
          height: Math.max(0, y(base[at]) - y(above)).toFixed(2), style: 'fill: var(--' + band.class + ')',
        }));
        base[at] = above;
      }));
    } else {
      (intervals || []).forEach((pair, at) => {
        if (pair) parts.push(svg('line', { class: 'interval l0', x1: x(at), x2: x(at), y1: y(pair[0]), y2: y(pair[1]) }));
      });
      series.forEach(line => {
        parts.push(svg('path', { class: 'line ' + line.class, d: pathOf(line.values, x, y) }));
        if (slot > 9) line.values.forEach((value, at) => {
          if (typeof value === 'number') parts.push(svg('circle', { class: 'dot ' + line.class, cx: x(at), cy: y(value), r: 3 }));
        });
      });
      (marks || []).forEach((verdict, at) => {
        const value = series[0].values[at];
        if (verdict !== 'slower' && verdict !== 'faster' || typeof value !== 'number') return;
        const tip = verdict === 'slower' ? -6 : 6, to = y(value) + 2 * tip;
        parts.push(svg('path', { class: 'mark-' + verdict,
          d: 'M' + x(at) + ' ' + (to - tip / 2) + 'l5 ' + tip * -1 + 'h-10z' },
        svg('title', null, labels[at] + ': ' + verdict)));
      });
    }
    cursor = svg('line', { class: 'cursor-line', y1: EDGE.top, y2: floor, visibility: 'hidden' });
    picture.replaceChildren(...parts, cursor);
    show(looked.at);
  }

  function show(at) {
    const shown = at === null ? last : at;
    readout.replaceChildren(el('b', null, labels[shown]), ' ', el('span', null, say(shown)));
    if (!cursor) return;
    cursor.setAttribute('visibility', at === null ? 'hidden' : 'visible');
    if (at === null) return;
    cursor.setAttribute('x1', x(at));
    cursor.setAttribute('x2', x(at));
  }

  const point = event => {
    const box = picture.getBoundingClientRect(), slot = (box.width - EDGE.left - EDGE.right) / labels.length;
    look(Math.min(Math.max(Math.floor((event.clientX - box.left - EDGE.left) / slot), 0), last));
  };
  picture.addEventListener('pointermove', point);
  picture.addEventListener('pointerdown', point);
  looked.followers.push({ of: place, show });
  new ResizeObserver(draw).observe(place);
  const named = drawn.length > 1 && el('ul', { class: 'legend' }, drawn.map(line =>
    el('li', null, el('i', bands ? { style: { background: 'var(--' + line.class + ')' } } : { class: line.class }), line.name)));
  return el('div', null, place, named, readout);
}

// A line without axes.
function spark(values) {
  const there = values.filter(value => typeof value === 'number'), most = Math.max(...there, 1e-12);
  const x = at => values.length > 1 ? 110 * at / (values.length - 1) : 55, y = value => 21 - 20 * value / most;
  const alone = there.length === 1 && svg('circle', { class: 'dot l0', r: 2.5,
    cx: x(values.indexOf(there[0])), cy: y(there[0]), style: 'fill: var(--own)' });
  return svg('svg', { class: 'spark l0', viewBox: '0 0 110 22', 'aria-hidden': 'true' },
    svg('path', { d: pathOf(values, x, y) }), alone);
}
