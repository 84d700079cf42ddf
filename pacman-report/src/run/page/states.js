// The states of threads as stacked bars: useful time, and waits by what they are for.

// In the order of the bars: class and word. The report has a table of those that threads have in regions, with the causes
// of waits in each. A state that is not here is a cause that the report does not know: it has a neutral colour and its
// own name.
const STATES = {}, STATE_OF = {};
function learnStates(table) {
  for (const { name, title, causes } of table) {
    // Regions whose waits were not timed have two states.
    if (name === 'end') Object.assign(STATES, { waiting: ['s-end', 'waiting'], serial: ['s-serial', 'no region'] });
    STATES[name] = ['s-' + name, title];
    if (name === 'useful') STATES.busy = ['s-useful', 'busy'];
    causes.forEach(cause => { STATE_OF[cause] = name; });
  }
}
function stateOf(cause) { return Object.hasOwn(STATE_OF, cause) ? STATE_OF[cause] : String(cause); }
function isKnown(state) { return Object.hasOwn(STATES, state); }
function lookOf(state) { return isKnown(state) ? STATES[state] : ['s-other', state]; }

function addTime(parts, state, time) {
  if (time > 0) parts[state] = (parts[state] || 0) + time;
}
function sumOf(parts) { return Object.values(parts).reduce((sum, time) => sum + time, 0); }

// Seconds by state of something with these times.
function partsOfStates(process, states) {
  const parts = Object.create(null);
  addTime(parts, 'useful', states.useful_s);
  addTime(parts, 'start', states.starting_s);
  addTime(parts, 'end', states.end_s);
  for (const [site, wait] of Object.entries(states.waits || {})) {
    addTime(parts, stateOf((process.sites[site] || {}).cause), wait.time_s);
  }
  return parts;
}

// Sums over all threads of columns that are distributions.
function sums(columns) {
  const own = {};
  for (const [name, column] of Object.entries(columns)) {
    own[name] = Array.isArray(column) ? column[5] : sums(column);
  }
  return own;
}

function partsOfThread(process, region, thread) {
  if (region.efficiency && thread.states) return partsOfStates(process, thread.states);
  const there = region.teams.filter(team => team.threads > thread.thread)
    .reduce((sum, team) => sum + team.time_s, 0);
  const parts = Object.create(null);
  addTime(parts, 'busy', thread.busy_s);
  addTime(parts, 'waiting', there - thread.busy_s);
  return parts;
}

function partsOfRegion(process, region) {
  const parts = Object.create(null);
  const add = own => Object.entries(own).forEach(([state, time]) => addTime(parts, state, time));
  if (!region.spread) {
    threadsOf(region).forEach(thread => add(partsOfThread(process, region, thread)));
    return parts;
  }
  const all = sums(region.spread.columns);
  if (region.efficiency && all.states) return partsOfStates(process, all.states);
  const there = region.teams.reduce((sum, team) => sum + team.threads * team.time_s, 0);
  add({ busy: all.busy_s, waiting: there - all.busy_s });
  return parts;
}

// Of a process of which only these times are known.
function partsOfTimes(time, inRegions, waiting) {
  const parts = Object.create(null);
  addTime(parts, 'busy', inRegions - waiting);
  addTime(parts, 'waiting', waiting);
  addTime(parts, 'serial', time - inRegions);
  return parts;
}

// All threads of a process together, as parts of its wall time.
function partsOfProcess(process, rank) {
  const tree = process.efficiency, parts = Object.create(null);
  if (tree && tree.losses) {
    tree.losses.forEach(loss => addTime(parts, stateOf(loss.cause), loss.time_s / tree.threads));
    addTime(parts, 'serial', tree.serial_s / tree.threads);
    addTime(parts, 'useful', tree.parallel * process.time_s);
    return parts;
  }
  const lost = process.regions.reduce((sum, region) => sum + (region.waiting || 0) * region.time_s, 0);
  const inRegions = process.share * process.time_s * Math.max(process.roots, 1);
  return partsOfTimes(process.time_s, inRegions, rank ? rank.waiting_s : lost);
}

// Widths in percent from which on a part has room for its share, and for its name too.
const WITH_SHARE = 11, WITH_WORD = 26;

// A bar of parts [class, word, share of the whole, width in percent, amount].
function bar(who, parts) {
  const label = who + ': ' + parts.map(([, word, part]) => word + ' ' + share(part)).join(', ');
  return el('span', { class: 'states', role: 'img', 'aria-label': label }, parts.map(part => {
    const [kind, word, own, width, time] = part;
    const text = width >= WITH_WORD ? word + ' ' + share(own) : width >= WITH_SHARE ? share(own) : null;
    const title = word + ': ' + (time ? time + ', ' : '') + share(own);
    return el('span', { class: 'part ' + kind, style: { width: width.toFixed(2) + '%' }, title },
      text && el('b', null, text));
  }));
}

// The states in their order with their parts of the time.
function shown(parts) {
  const states = Object.keys(STATES), others = Object.keys(parts).filter(state => !isKnown(state));
  states.splice(states.indexOf('end'), 0, ...others);
  return states.filter(state => parts[state] > 0);
}

// A bar that fills its track if it has `whole` seconds.
function stateBar(parts, whole, who) {
  const all = sumOf(parts);
  return bar(who, shown(parts).map(state => [
    ...lookOf(state), parts[state] / all, whole > 0 ? Math.min(100, 100 * parts[state] / whole) : 0,
    seconds(parts[state]),
  ]));
}

function legendOf(parts) {
  const own = parts.filter(([, , part]) => part >= 0.0005);
  return el('ul', { class: 'legend' }, own.map(([kind, word, part]) =>
    el('li', null, el('i', { class: 'key ' + kind }), word + ' ' + share(part))));
}

function stateLegend(parts) {
  const all = sumOf(parts);
  return legendOf(shown(parts).map(state => [...lookOf(state), parts[state] / all]));
}

// Threads in their order, those that share a core beside each other.
function byCore(threads) {
  const cores = new Map();
  threads.forEach((thread, at) => {
    const own = typeof thread.core === 'number' ? thread.package + '/' + thread.core : 'thread ' + at;
    cores.set(own, (cores.get(own) || []).concat(thread));
  });
  return Array.from(cores.values());
}

// A bar for each thread, or one for all where the page has no more.
function threadBars(process, region) {
  const all = partsOfRegion(process, region);
  if (region.spread) {
    return [el('ol', { class: 'cores' }, el('li', { class: 'core' }, el('ol', null,
      el('li', null, el('span', { class: 'who' }, el('b', null, 'all')),
        stateBar(all, sumOf(all), 'all threads'))))), stateLegend(all)];
  }
  const threads = threadsOf(region);
  if (!threads.length) return [el('p', null, 'No thread finished an execution.')];
  const parts = new Map(threads.map(thread => [thread, partsOfThread(process, region, thread)]));
  const whole = Math.max(...Array.from(parts.values(), sumOf));
  const place = thread => typeof thread.cpu !== 'number' ? '' : thread.moves ? 'moved' : 'cpu ' + thread.cpu;
  const line = thread => el('li', null,
    el('span', { class: 'who' }, el('b', null, 'T' + thread.thread), ' ' + place(thread)),
    stateBar(parts.get(thread), whole, 'T' + thread.thread));
  const cores = byCore(threads).map(core => {
    const isShared = core.length > 1;
    const oneCpu = core.every(thread => thread.cpu === core[0].cpu);
    const name = isShared && (oneCpu ? 'cpu ' + core[0].cpu : 'core ' + core[0].core);
    return el('li', { class: isShared ? 'core shared' : 'core' },
      isShared && el('span', { class: 'core-name' }, name), el('ol', null, core.map(line)));
  });
  return [el('ol', { class: cores.length > MANY ? 'cores long' : 'cores' }, cores), stateLegend(all)];
}
