// The regions of a process: the chosen one with its threads, and the table of all.

// The part of its threads' time that a region loses, if it is known.
function lostPart(region) {
  return region.efficiency ? 1 - region.efficiency.parallel : region.waiting;
}

// Regions as indices: the headline's first, then by lost time.
function byLoss(process) {
  const blamed = process.headline ? process.headline.region : null;
  const lost = process.regions.map(region =>
    region.nested < region.executions ? (lostPart(region) || 0) * region.time_s : 0);
  return process.regions.map((_, at) => at)
    .sort((one, other) => (other === blamed) - (one === blamed) || lost[other] - lost[one]);
}

// The figures of a region, in the words and units that the report itself gives.
function regionFacts(report, region) {
  const facts = [['executions', grouped(region.executions)],
    ['shortest to longest', seconds(region.shortest_s) + ' to ' + seconds(region.longest_s)]];
  if (region.nested > 0) facts.push(['inside others', grouped(region.nested)]);
  for (const figure of report.region_figures || []) {
    const value = region[figure.name];
    if (typeof value !== 'number') continue;
    const name = figure.name.replace(/_s$/, '').replace(/_/g, ' ');
    facts.push([name, ofUnit(value, figure.unit), figure.about]);
  }
  return el('dl', { class: 'facts' }, facts.map(([name, value, about]) => fact(name, value, about)));
}

function origin(region) {
  const file = region.file && region.file + (region.line === null ? '' : ':' + region.line);
  const parts = [file, region.module + '+0x' + region.address.toString(16), region.entry, region.runtime];
  return el('p', { class: 'origin' }, parts.filter(Boolean).join(' · '));
}

// Places of a region in its table of waits.
const PLACES = 12;

// Waits of all threads by place, the longest first.
function waitTable(process, region) {
  if (!region.efficiency) return null;
  const all = new Map();
  const add = (cause, site, count, time) => {
    const own = all.get(cause + site) || { cause, site, count: null, time: 0 };
    own.time += time || 0;
    if (typeof count === 'number') own.count = (own.count || 0) + count;
    all.set(cause + site, own);
  };
  let there = 0;
  const addStates = states => {
    add('start', null, null, states.starting_s);
    add('end', null, null, states.end_s);
    there += (states.useful_s || 0) + (states.starting_s || 0) + (states.end_s || 0);
    for (const [site, wait] of Object.entries(states.waits || {})) {
      if (typeof wait.time_s !== 'number') continue;
      add((process.sites[site] || {}).cause, Number(site), wait.count, wait.time_s);
      there += wait.time_s;
    }
  };
  if (region.spread) addStates(sums(region.spread.columns).states || {});
  else threadsOf(region).forEach(thread => thread.states && addStates(thread.states));
  const waits = Array.from(all.values()).filter(one => one.time > 0).sort((one, other) => other.time - one.time);
  if (!waits.length || there <= 0) return null;
  const rows = waits.slice(0, PLACES).map(one => el('tr', null, rowHead(reasonAt(process, one.cause, one.site)),
    amount(one.count, grouped), amount(one.time, seconds), amount(one.time / there, share)));
  const headings = [['threads wait'], ['times'], ['together'], ['share']];
  const rest = waits.length - PLACES;
  return [el('table', { class: 'waits' }, el('thead', null, el('tr', null, headings.map(heading))), el('tbody', null, rows)),
    rest > 0 && hint(number(rest, 'more place') + ' with less time.')];
}

function adaptedPanel(own) {
  const gained = own.gained_s !== null && own.reduced > 0 && el('p', { class: 'why' }, lostOrGained(own.gained_s),
    ', with ' + number(own.reduced, 'execution') + ' on fewer threads or contexts');
  return [el('h4', null, 'Adaptation: ' + number(own.threads, 'thread') + ', ' + own.configuration),
    gained, el('p', { class: 'why' }, own.why)];
}

function panel(report, process, at) {
  const region = process.regions[at], code = codeOf(region);
  return el('article', { class: 'panel chosen', 'data-of': at },
    el('h3', { class: shortName(region) !== region.name && 'long' }, mark(at), region.name,
      code && [' ', el('span', { class: 'place' }, code)]),
    region.spread && hint('This page has the distribution over the ' + number(region.spread.count, 'thread') +
      ' of this region; the JSON report has each of them.'),
    threadBars(process, region), waitTable(process, region), regionFacts(report, region), origin(region),
    region.adaptation && adaptedPanel(region.adaptation));
}

// The states whose counts have columns of their own.
const STATE_FIGURES = [['useful ', 'useful_figures'], ['waiting ', 'waiting_figures']];

function threadTable(process, region) {
  if (region.spread) return spreadTable(region.spread);
  const threads = threadsOf(region), isTimed = Boolean(region.efficiency);
  const byState = threads.some(thread => thread.useful_figures) ? STATE_FIGURES : [];
  const headings = [['thread'], ['cpu'], ['core'], ['beside', 'on its core'], ['moves'], ['executions'], ['busy']];
  if (isTimed) headings.push(['useful', 'of its time'], ['useful', 'on no processor'], ['waits', 'on no processor']);
  headings.push(...countHeadings(process), ...byState.flatMap(([word]) => countHeadings(process, word)));
  const rows = threads.map(thread => {
    const parts = partsOfThread(process, region, thread), states = thread.states || {};
    const why = thread.implausible;
    return el('tr', null,
      el('th', { scope: 'row', 'data-v': thread.thread }, 'T' + thread.thread,
        why && [' ', el('span', { class: 'tag', title: why }, 'counts left out')]),
      cell(thread.cpu), cell(thread.core), cell((thread.beside || []).map(other => 'T' + other).join(' ') || null),
      amount(thread.moves, grouped), amount(thread.executions, grouped), amount(thread.busy_s, seconds),
      isTimed && [amount(sumOf(parts) > 0 ? (parts.useful || 0) / sumOf(parts) : null, share),
        amount(states.useful_off_s, seconds), amount(states.waiting_off_s, seconds)],
      countCells(process, thread.figures), byState.map(([, name]) => countCells(process, thread[name])));
  });
  return table('Threads', 'threads', headings, rows);
}

// A row for each column of the threads.
function spreadTable(spread) {
  const rows = [];
  const add = (columns, before) => Object.entries(columns).forEach(([name, column]) => {
    const title = before ? before + ' ' + name : name;
    if (!Array.isArray(column)) { add(column, title); return; }
    const words = name.endsWith('_s') ? seconds : value => Number.isInteger(value) ? grouped(value) : String(Number(value.toPrecision(4)));
    const [least, leastAt, median, most, mostAt] = column;
    rows.push(el('tr', null, rowHead(title.replace(/_s$/, '').replace(/_/g, ' ')), amount(least, words),
      cell('T' + leastAt, leastAt), amount(median, words), amount(most, words), cell('T' + mostAt, mostAt)));
  });
  add(spread.columns, '');
  return table('Threads', 'spread', [['of the threads'], ['least'], ['thread'], ['median'], ['most'], ['thread']], rows, false);
}

// The first cell of a row about a region; a button chooses the region.
function regionCell(process, region, at, choose) {
  const own = region.adaptation, isNarrow = own && own.threads < process.threads;
  const tags = [
    region.nested > 0 && (region.within > 0 ? 'recursive' : 'nested'),
    region.open && 'open at the end',
    own && (isNarrow ? 'adapted: ' + own.threads + ' of ' + process.threads + ' threads' : 'keeps ' + number(own.threads, 'thread')),
  ].filter(Boolean);
  const code = codeOf(region);
  return el('th', { scope: 'row', 'data-v': at }, mark(at),
    el('button', { type: 'button', class: 'region', 'data-choose': at, title: region.name, click: () => choose(at) },
      el('span', { class: 'name' }, shortName(region))),
    code && [' ', el('span', { class: 'place' }, code)],
    tags.map(tag => [' ', el('span', { class: isNarrow && tag.startsWith('adapted') ? 'tag chosen' : 'tag' }, tag)]));
}

function teamSizes(region) {
  const sizes = region.teams.map(team => team.threads);
  const least = Math.min(...sizes), most = Math.max(...sizes);
  return !sizes.length ? null : least === most ? String(least) : least + '-' + most;
}

function longestWait(process, region) {
  const worst = region.efficiency && region.efficiency.worst;
  if (!worst) return null;
  const at = worst.cause === 'start' ? 'for its start' : worst.cause === 'end' ? 'at its end'
    : reasonAt(process, worst.cause, worst.site);
  return at + ', ' + share(worst.share);
}

// Figures of threads from a part of the executions.
function samplingHint(process) {
  const sampled = process.regions.filter(region => region.sampling);
  if (!sampled.length) return null;
  const sum = of => sampled.reduce((all, region) => all + of(region), 0);
  return hint('± ' + number(sampled.length, 'short region') + ' with estimates of threads and waits, from ' +
    grouped(sum(region => region.sampling.timed)) + ' of ' + grouped(sum(region => region.executions)) +
    ' executions (--overhead); numbers and times of executions are exact.');
}

function regionTable(process, choose) {
  const isTimed = process.regions.some(region => region.efficiency);
  const headings = [['region'], ['time'], ['share', 'of the run'], ['executions'], ['each', 'mean'], ['threads'],
    ['imbalance', 'busiest / mean']].concat(isTimed
    ? [['useful', 'of thread time'], ['load balance'], ['scheduling'], ['longest wait', '', true]]
    : [['waiting', 'at the end']]);
  const longest = Math.max(0, ...process.regions.map(region => region.time_s));
  const within = (margin, decimals) => typeof margin === 'number' ? ' ±' + margin.toFixed(decimals) : '';
  const rows = process.regions.map((region, at) => {
    const width = longest > 0 ? 100 * region.time_s / longest : 0, sample = region.sampling || {};
    const length = el('span', { class: 'length' }, el('span', { class: colour(at), style: { width: width.toFixed(2) + '%' } }));
    const factors = region.efficiency || {};
    return el('tr', null, regionCell(process, region, at, choose),
      cell([seconds(region.time_s), length], region.time_s), amount(region.share, share),
      amount(region.executions, grouped), amount(region.mean_s, seconds), cell(teamSizes(region)),
      amount(region.imbalance, value => value.toFixed(2) + within(sample.imbalance_margin, 2)),
      isTimed ? [amount(factors.parallel, share), amount(factors.load_balance, share), amount(factors.scheduling, share),
        cell(longestWait(process, region), (factors.worst || {}).share || 0, { class: 'words' })]
        : amount(region.waiting, value => share(value) + within(sample.margin === undefined ? null : 100 * sample.margin, 1)));
  });
  const left = process.left_out || {};
  return section('by-region', 'Regions', hint('A heading sorts the table. A name shows the region’s threads.'),
    samplingHint(process),
    left.regions > 0 && hint(number(left.regions, 'region') + ' with less time are in the JSON report only.'),
    left.threads_of_regions > 0 && hint('Of ' + number(left.threads_of_regions, 'region') +
      ' this page has the distribution over the threads; the JSON report has each thread.'),
    table('Regions', 'regions', headings, rows));
}
