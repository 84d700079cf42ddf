// Draws a comparison: what changed, both sides, then the regions.

const SIDES = ['before', 'after'];

// The states of the threads' time on one side.
function partsOfSide(figures) {
  const parts = Object.create(null);
  Object.entries(figures.states).forEach(([cause, time]) => addTime(parts, stateOf(cause), time));
  return parts;
}

function listOf(words) {
  return words.length < 2 ? words.join('') : words.slice(0, -1).join(', ') + ' and ' + words[words.length - 1];
}

function sideFacts(name, side) {
  const teams = side.threads.length > 1 ? listOf(side.threads) + ' threads' : number(side.threads[0] || 0, 'thread');
  const began = side.began === side.last_began ? side.began : side.began + ' to ' + side.last_began;
  return el('div', null, el('h3', null, name), el('p', { class: 'command' }, el('code', null, side.command.join(' '))),
    el('dl', { class: 'facts' }, fact('reports', side.reports), fact('teams', teams), fact('host', side.host),
      fact('processor', side.processor || 'unknown'), fact('began', began)));
}

function efficiencyTable(report) {
  const [before, after] = SIDES.map(name => report[name].efficiency);
  if (!before || !after) return null;
  const there = [...FACTORS, ['processor_share', 'processor share']].filter(([name]) =>
    SIDES.every(side => typeof report[side].efficiency[name] === 'number') &&
    (name !== 'mpi' || Math.min(before.mpi, after.mpi) < 1));
  const rows = there.map(([name, word]) => el('tr', null, rowHead(word), amount(before[name], share), amount(after[name], share)));
  return table('Efficiency', 'factors', [['factor'], ...SIDES.map(name => [name])], rows, false);
}

// Two bars on one scale, before above after.
function lengths(pair, most) {
  return el('td', null, SIDES.map((name, at) => el('span', { class: 'length c' + at, role: 'img',
    'aria-label': name + ' ' + seconds(pair[name].time_s) },
  el('span', { style: { width: (100 * pair[name].time_s / most).toFixed(2) + '%' } }))));
}

function pairCells(pair) {
  return [amount(pair.before.time_s, seconds), amount(pair.after.time_s, seconds),
    cell(changeOf(pair.ratio), pair.ratio), cell(intervalOf(pair)),
    el('td', { class: 'label' }, verdictOf(pair))];
}

// Where the threads of a region spend their time on both sides, and what was counted.
function details(region) {
  const [before, after] = SIDES.map(name => partsOfSide(region[name]));
  const all = Object.assign(Object.create(null), before, after), whole = Math.max(sumOf(before), sumOf(after));
  const events = Object.keys(region.before.counts).filter(event => Object.hasOwn(region.after.counts, event));
  if (!whole && !events.length) return null;
  const states = shown(all).map(state => el('tr', null, rowHead(el('i', { class: 'key ' + lookOf(state)[0] }), lookOf(state)[1]),
    ...[before, after].map(parts => amount(parts[state] || 0, seconds)),
    cell(before[state] > 0 ? changeOf((after[state] || 0) / before[state]) : null)));
  const counts = events.map(event => {
    const [old, now] = SIDES.map(name => region[name].counts[event]);
    return el('tr', null, rowHead(event), amount(old, grouped), amount(now, grouped), cell(old > 0 ? changeOf(now / old) : null));
  });
  const own = (title, rows) => rows.length > 0 &&
    table(title + ' of ' + titleOf(region), 'of-region', [[title], ['before'], ['after'], ['change']], rows, false);
  return el('div', { class: 'of-region' }, el('h3', null, titleOf(region)),
    whole > 0 && [before, after].map((parts, at) => el('p', { class: 'side' }, el('b', null, SIDES[at]), stateBar(parts, whole, SIDES[at]))),
    own("threads' time", states), own('counts', counts),
    typeof region.ipc_ratio === 'number' && hint('Instructions per cycle: ' + changeOf(region.ipc_ratio)));
}

function regionSection(report) {
  const most = Math.max(1e-12, ...report.regions.flatMap(region => SIDES.map(name => region[name].time_s)));
  const rows = report.regions.map(region => el('tr', null, rowHead(titleOf(region)), ...pairCells(region),
    amount(region.share, share), lengths(region, most)));
  const head = [['region'], ['before'], ['after'], ['change'], ['95 % interval'], ['verdict', null, true], ['share'], ['picture']];
  const alone = SIDES.flatMap(name => report['only_' + name].map(region =>
    el('p', null, 'only ' + name + ', ' + share(region.share) + ': ' + titleOf(region))));
  return section('regions', 'Regions', rows.length > 0 && table('Regions', 'regions', head, rows), alone);
}

function draw(report) {
  const opened = report.regions.map(details).filter(Boolean);
  document.getElementById('main').replaceChildren(...[
    el('h1', null, report.headline),
    section('program', 'Program', el('div', { class: 'charts' }, SIDES.map(name => sideFacts(name, report[name]))),
      efficiencyTable(report)),
    regionSection(report),
    opened.length && section('by-region', 'Threads of the regions', opened),
    noteSection(report.notes),
  ].filter(Boolean));
  document.title = clean(last(report.after.command[0] || '?')) + ' – comparison';
}
