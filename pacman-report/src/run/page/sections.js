// The other sections of a process, and the overview over several processes.

function findingsSection(process) {
  if (!(process.findings || []).length) return null;
  const items = process.findings.map(one => {
    const gain = seconds(one.gain_s) + (one.margin_s > 0 ? ' ±' + seconds(one.margin_s) : '');
    const place = one.place && !one.fact.includes(one.place) ? ' (' + one.place + ')' : '';
    return el('li', null, el('b', null, gain), ' ' + one.region + place + ': ' + one.fact + '. ' + one.remedy);
  });
  return section('findings', 'Findings, with the time that each may gain', el('ol', null, items));
}

// Shares of issue slots with their classes and words, in the order of the bars.
const SLOTS = [['retiring', 's-useful', 'retiring'], ['backend_bound', 's-barrier', 'backend'],
  ['frontend_bound', 's-worksharing', 'frontend'], ['bad_speculation', 's-ordered', 'bad speculation'],
  ['smt_contention', 's-smt', 'SMT contention']];

function slotBar(who, shares) {
  const parts = SLOTS.filter(([name]) => shares && shares[name] > 0);
  return el('li', null, el('span', { class: 'who' }, el('b', null, who)),
    bar(who, parts.map(([name, kind, word]) => [kind, word, shares[name], Math.min(100, 100 * shares[name]), null])));
}

function smtOff(off) {
  const verdict = off.verdict === 'undecided' ? 'is undecided' : off.verdict;
  return 'SMT off ' + verdict + ', ' + off.speed_low.toFixed(2) + ' to ' + off.speed_high.toFixed(2) +
    ' of its speed: ' + off.reason + '.';
}

// The issue slots of a region's threads, siblings side by side. The headline has the verdict on its own region.
function slotsSection(process, at) {
  const region = process.regions[at], slots = region.slots;
  if (!slots) return null;
  const isBlamed = (process.headline || {}).kind === 'smt-contention' && process.headline.region === at;
  const off = slots.smt_off && !isBlamed && el('p', { class: 'why' }, smtOff(slots.smt_off));
  const means = {};
  let bars;
  if (slots.threads) {
    const threads = rowsOf(slots.threads), known = threads.filter(thread => thread.shares &&
      typeof thread.shares.retiring === 'number');
    SLOTS.forEach(([name]) => {
      means[name] = known.reduce((sum, thread) => sum + (thread.shares[name] || 0), 0) / Math.max(1, known.length);
    });
    bars = rowsOf(slots.cores).map((core, place) => {
      const own = threads.filter(thread => thread.slot_core === place), isShared = own.length > 1;
      return el('li', { class: isShared ? 'core shared' : 'core' },
        isShared && typeof core.core === 'number' && el('span', { class: 'core-name' }, 'core ' + core.core),
        el('ol', null, own.map(thread => slotBar('T' + thread.thread, thread.shares))),
        core.why_absent && hint('No slots: ' + core.why_absent));
    });
  } else {
    const columns = (slots.spread && slots.spread.columns.shares) || {};
    SLOTS.forEach(([name]) => { means[name] = columns[name] ? columns[name][5] / slots.spread.count : 0; });
    bars = el('li', { class: 'core' }, el('ol', null, slotBar('mean', means)));
  }
  return el('section', { class: 'slots' },
    el('div', { class: 'head' }, el('h2', null, 'Issue slots'),
      hint('The parts of each thread’s slots. Siblings of a core are in a bracket.')),
    hint(titled(region)), el('ol', { class: bars.length > MANY ? 'cores long' : 'cores' }, bars),
    legendOf(SLOTS.map(([name, kind, word]) => [kind, word, means[name]])), off);
}

function adaptationSection(process) {
  const adapted = process.regions.map((region, at) => [region, at]).filter(([region]) => region.adaptation);
  if (!adapted.length) return null;
  const placed = configuration => {
    const [cores, each] = configuration.split('x');
    return each && /^\d+$/.test(cores) ? number(Number(cores), 'core') + ' x ' + each : null;
  };
  const rows = adapted.map(([region, at]) => {
    const own = region.adaptation, isNarrow = own.threads < process.threads;
    return el('tr', null, rowHead(mark(at), shortName(region)),
      cell([isNarrow ? [el('b', null, own.threads), ' of ' + process.threads] : String(own.threads),
        el('small', null, placed(own.configuration))]),
      own.gained_s === null ? cell(null)
        : cell(el('b', { class: own.gained_s < 0 ? 'loss' : 'gain' }, difference(own.gained_s)), own.gained_s),
      amount(own.reduced, grouped), cell(own.state), cell(own.why, null, { class: 'words' }));
  });
  return section('adaptation', 'Adaptation', hint('Gains are reckoned against the threads that the program has by ' +
    'itself. 2x1 is 2 cores with 1 thread on each. A region that is sampling still tries others; one that is holding ' +
    'has decided.'),
  table('Adaptation', '', [['region'], ['threads', 'chosen'], ['gained', 'below 0: lost'],
    ['reduced', 'executions on fewer'], ['state', 'of the search'], ['why', '', true]], rows, false));
}

function countsSection(process) {
  const events = counted(process);
  if (!events.length || !process.regions.length) return null;
  const headings = [['region'], ...events.map(event => [eventTitle(event), event.unit + ', and per busy second']),
    ...process.metrics.map(metric => [metric.title || metric.name, metric.unit])];
  const rows = process.regions.map((region, at) => {
    const own = region.figures;
    const counts = events.map(event => {
      const count = own.counts[event.name], rate = (own.rates || {})[event.name];
      if (typeof count !== 'number') return cell(null);
      return cell([quantity(count, event, own), typeof rate === 'number' && el('small', null, rateOf(rate, event.unit))], count);
    });
    return el('tr', null, rowHead(mark(at), shortName(region)), counts,
      process.metrics.map(metric => amount(own.metrics[metric.name], metricOf)));
  });
  return section('counts', 'Counts', table('Counts', '', headings, rows));
}

function energySection(process) {
  const whole = process.energy;
  if (!whole) return null;
  const joules = value => withPrefix(value, 'J'), watts = value => withPrefix(value, 'W');
  const line = (head, own) => el('tr', null, rowHead(head), amount(own.energy_j, joules), amount(own.resolution_j, joules),
    amount(own.power_w, watts), amount(own.time_s, seconds), amount(own.executions, grouped));
  const rows = process.regions.map((region, at) => {
    const own = region.energy;
    return line([mark(at), shortName(region)], own && own.executions > 0 ? own : {});
  });
  rows.push(line('the whole process', whole));
  return section('energy', 'Energy', hint('Energy is of whole processor packages, with everything that runs there, ' +
    'also other programs. A region inside another one is part of it.'),
  table('Energy', '', [['region'], ['energy', 'of the packages'], ['resolution', '±'], ['power', 'mean'],
    ['time', 'between readings'], ['executions', 'with energy']], rows, false));
}

// A browser shows more rows only slowly.
const MOST_ROWS = 1000;

function phasesSection(process) {
  if (!(process.phases || []).length) return null;
  const headings = ['phase', 'kind', 'thread', 'time', 'executions', 'unended', 'cpu', 'moves'].map(name => [name])
    .concat(countHeadings(process));
  const lines = process.phases.flatMap(phase => rowsOf(phase.threads).map(thread => [phase, thread]));
  const rows = lines.slice(0, MOST_ROWS).map(([phase, thread]) => el('tr', null, rowHead(phase.name), cell(phase.kind),
    cell('T' + thread.thread, thread.thread), thread.executions ? amount(thread.time_s, seconds) : cell(null),
    amount(thread.executions, grouped), amount(thread.unended, grouped), cell(thread.cpu), amount(thread.moves, grouped),
    countCells(process, thread.figures)));
  return section('phases', 'Phases', hint('The program marks phases by calls of a tool. Time and counts of a phase are ' +
    'those of the thread alone. Phases may be inside each other.'), table('Phases', '', headings, rows));
}

// A bar for each process in their order, and the regions of all ranks.
function overview(report, observed) {
  const byPid = new Map((report.ranks ? report.ranks.processes : []).map(rank => [rank.pid, rank]));
  const pids = new Set(observed.map(process => process.pid));
  const lines = observed.map((process, place) => ({
    name: isDetailed(process) ? el('a', { href: '#process-' + place }, processName(process)) : processName(process),
    label: processName(process),
    below: [last(process.command[0] || '?'), process.rank === null ? null : 'process ' + process.pid, process.host],
    parts: partsOfProcess(process, byPid.get(process.pid)),
    time: process.time_s,
    useful: process.efficiency && process.efficiency.parallel,
    costs: ((process.headline || {}).kind || '').replace(/-/g, ' '),
  }));
  for (const rank of byPid.values()) {
    if (rank.regions_s > 0 && !pids.has(rank.pid)) {
      lines.push({
        name: 'rank ' + rank.rank, label: 'rank ' + rank.rank, below: ['process ' + rank.pid, rank.host],
        parts: partsOfTimes(rank.time_s, rank.regions_s, rank.waiting_s), time: rank.time_s, useful: rank.parallel, costs: '',
      });
    }
  }
  if (lines.length < 2) return [];
  const whole = Math.max(...lines.map(line => line.time)), all = {};
  lines.forEach(line => Object.entries(line.parts).forEach(([state, time]) => addTime(all, state, time)));
  const rows = lines.map(line => el('tr', null,
    rowHead(line.name, el('small', null, line.below.filter(Boolean).join(', '))),
    el('td', { class: 'bar-cell' }, stateBar(line.parts, whole, line.label)), amount(line.time, seconds),
    amount(line.useful, share), el('td', { class: 'words' }, line.costs)));
  const detailed = observed.filter(isDetailed).length, rest = lines.length - detailed;
  return [section('', 'Processes', stateLegend(all),
    rest > 0 && hint('Details are of the first ' + detailed + '; JSON and CSV have those of ' + rest + ' more.'),
    table('Processes', 'processes', [['process'], ['time of all threads', '', true], ['run'], ['useful'],
      ['costs most', '', true]], rows)), report.ranks && regionsOfRanks(report.ranks)];
}

// Regions over all ranks in the table.
const RANK_REGIONS = 100;

function regionsOfRanks(ranks) {
  const rows = ranks.regions.slice(0, RANK_REGIONS).map(region => {
    const code = codeOf(region);
    return el('tr', null, rowHead(region.name, code && !region.name.includes(code) && [' ', el('span', { class: 'place' }, code)]),
      cell(region.processes), amount(region.executions, grouped), amount(region.mean_s, seconds),
      amount(region.longest_s, seconds), cell(region.slowest), amount(region.imbalance, value => value.toFixed(2)),
      amount(region.waiting, share));
  });
  return section('', 'Regions in all ranks', table('Regions in all ranks', 'ranks', [['region'], ['ranks'], ['executions'],
    ['mean', 'a rank'], ['longest', 'a rank'], ['slowest', 'rank'], ['imbalance', 'longest / mean'],
    ['waiting', 'of threads']], rows));
}
