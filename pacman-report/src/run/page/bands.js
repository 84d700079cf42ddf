// The picture over time: when regions ran, and how many threads were in them.

// Bins of the picture at most; finer ones than its pixels are only slow.
const MOST_BINS = 512;
// A process that sleeps long after its last region is not drawn to its end.
const MOST_SILENCE = 4;
// The parts of height and width from which on a number fits in.
const ROOM = 0.12, BREADTH = 0.018;

// Bands and the length of their bins; those beyond the colours are one. Null if the run was too short.
function bandsOf(process) {
  const timeline = process.timeline, rows = timeline ? timeline.rows : [];
  const longest = Math.max(0, ...rows.map(row => row.thread_time_s.length));
  if (!longest || !(timeline.bin_s > 0)) return null;
  const lived = Math.ceil(process.time_s / timeline.bin_s);
  const bins = Math.max(longest, Math.min(lived, longest * MOST_SILENCE));
  const together = Math.ceil(bins / MOST_BINS), bin = timeline.bin_s * together;
  const threads = times => Array.from({ length: Math.ceil(bins / together) }, (_, at) =>
    times.slice(at * together, (at + 1) * together).reduce((sum, time) => sum + time, 0) / bin);
  const bands = [];
  let rest = null;
  for (const row of rows) {
    const own = threads(row.thread_time_s);
    if (row.region < COLOURS) {
      const region = process.regions[row.region];
      const label = region ? shortName(region) : 'region ' + (row.region + 1);
      bands.push({ kind: colour(row.region), label, mark: row.region + 1, threads: own });
    } else if (rest) {
      rest.regions += row.regions || 1;
      rest.threads = rest.threads.map((sum, at) => sum + own[at]);
    } else rest = { regions: row.regions || 1, threads: own };
  }
  if (rest) bands.push({ kind: 'cx', label: number(rest.regions, 'other region'), threads: rest.threads });
  return { bin, bands, bins: Math.ceil(bins / together) };
}

// The outline between two lines of steps; the picture is 100 high. Steps of one height are one.
function outline(low, high, highest) {
  const y = threads => Math.max(0, 100 - 100 * threads / highest).toFixed(2);
  let previous = y(high[0]), path = 'M0 ' + previous;
  const step = (at, threads) => {
    const own = y(threads);
    if (own !== previous) path += 'H' + at + 'V' + own;
    previous = own;
  };
  high.forEach((threads, at) => step(at, threads));
  for (let at = low.length - 1; at >= 0; at--) step(at + 1, low[at]);
  return path + 'H0Z';
}

// The place of a band's number: the longest stretch of one height. Null without room.
function placeOfMark(band, floor, highest) {
  const bins = band.threads.length, isSame = (one, other) => Math.abs(one - other) < 0.05 * highest;
  let begin = 0, widest = [0, 0];
  for (let at = 1; at <= bins; at++) {
    if (at < bins && isSame(band.threads[at], band.threads[begin]) && isSame(floor[at], floor[begin])) continue;
    if (band.threads[begin] / highest > ROOM && at - begin > widest[1] - widest[0]) widest = [begin, at];
    begin = at;
  }
  if (!band.mark || widest[1] - widest[0] < BREADTH * bins) return null;
  const [from, to] = widest;
  return {
    at: (from + to) / 2 / bins,
    bottom: 100 * (floor[from] + band.threads[from] / 2) / highest,
  };
}

function svg(tag, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  made.append(...children);
  return made;
}

function capacity(process, highest) {
  if (!process.contexts || process.contexts > highest) return null;
  return el('div', { class: 'capacity', style: { bottom: 100 * process.contexts / highest + '%' } },
    el('span', null, number(process.contexts, 'context')));
}

function verticalAxis(highest) {
  const step = Math.max(1, Math.ceil(highest / 4)), ticks = [];
  for (let value = 0; value <= highest; value += step) {
    ticks.push(el('span', { style: { bottom: 100 * value / highest + '%' } }, value));
  }
  return ticks;
}

const TOOLS = [['in', 'Zoom in', '+'], ['out', 'Zoom out', '−'], ['left', 'Earlier', '←'],
  ['right', 'Later', '→'], ['all', 'All of the time', 'all']];

function timelineSection(process) {
  const picture = bandsOf(process);
  if (!picture) {
    return section('timeline', 'Over time', el('p', null, 'The run was too short for a timeline.'));
  }
  const { bin, bands, bins } = picture;
  const totals = Array.from({ length: bins }, (_, at) =>
    bands.reduce((sum, band) => sum + band.threads[at], 0));
  const highest = Math.ceil(Math.max(process.threads, ...totals) - 0.01);
  let floor = new Array(bins).fill(0);
  const areas = [], marks = [];
  for (const band of bands) {
    const top = floor.map((low, at) => low + band.threads[at]);
    areas.push(svg('path', {
      class: 'area ' + band.kind, 'vector-effect': 'non-scaling-stroke', d: outline(floor, top, highest),
    }, svg('title', {}, clean(band.label))));
    const place = placeOfMark(band, floor, highest);
    if (place) {
      const style = { left: 100 * place.at + '%', bottom: place.bottom + '%' };
      const element = el('span', { class: 'mark', style, 'aria-hidden': 'true' }, band.mark);
      marks.push({ element, at: place.at });
    }
    floor = top;
  }
  const label = 'Threads in regions over ' + seconds(bin * bins) + ', by region';
  const key = text => el('kbd', null, text);
  const made = el('section', { class: 'timeline' },
    el('div', { class: 'head' }, el('h2', null, 'Over time'),
      el('div', { class: 'tools', role: 'group', 'aria-label': 'Part of the time' }, TOOLS.map(
        ([action, title, text]) => el('button', { type: 'button', 'data-do': action, 'aria-label': title }, text)))),
    hint('Threads in regions. Click the picture, then zoom by the wheel or ', key('+'), ' and ', key('−'),
      '; drag it or use ', key('Shift'), ' and the arrow keys to move; ', key('0'), ' shows all.'),
    el('div', { class: 'plot' }, el('div', { class: 'y' }, verticalAxis(highest)),
      el('div', { class: 'area-box', tabindex: 0, role: 'img', 'aria-label': label },
        svg('svg', { viewBox: '0 0 ' + bins + ' 100', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, ...areas),
        capacity(process, highest), el('div', { class: 'marks' }, marks.map(mark => mark.element)),
        el('div', { class: 'cursor', hidden: true }), el('div', { class: 'tip', hidden: true })),
      el('div', { class: 'x' })),
    el('p', { class: 'readout', 'aria-live': 'polite' }, '\u00a0'),
    el('ul', { class: 'legend' }, bands.map(band => el('li', null, el('i', { class: 'swatch ' + band.kind }),
      band.mark && [el('b', null, band.mark), ' '], el('span', null, band.label)))));
  watchTimeline(made, { bin, bands, bins, marks });
  return made;
}
