// Draws a history: the program over its runs, then its regions.

// The interval of a run's time, by what the run before took.
function timesOf(steps) {
  return steps.map((step, at) => step && steps[at - 1] && typeof step.low === 'number'
    ? [step.low * steps[at - 1].time_s, step.high * steps[at - 1].time_s] : null);
}

function timeChart(labels, steps, title) {
  return chart(labels, {
    title, format: tickTime, marks: steps.map(step => step && step.verdict), intervals: timesOf(steps),
    series: [{ name: 'time', class: 'l0', values: steps.map(step => step ? step.time_s : null) }],
    say: at => steps[at] ? [seconds(steps[at].time_s), steps[at].verdict ? ', ' + changeOf(steps[at].ratio) + ' to the run before: ' : '',
      steps[at].verdict ? verdictOf(steps[at]) : ''] : 'not in this run',
  });
}

// States as parts of the threads' time in regions.
function statesChart(labels, steps, title) {
  const parts = steps.map(step => {
    const own = Object.create(null);
    Object.entries(step ? step.states : {}).forEach(([cause, time]) => addTime(own, stateOf(cause), time));
    const all = sumOf(own);
    Object.keys(own).forEach(state => { own[state] /= all; });
    return own;
  });
  const known = Object.keys(STATES), there = [...new Set(parts.flatMap(own => Object.keys(own)))];
  if (!there.length) return null;
  const order = state => isKnown(state) ? known.indexOf(state) : known.length;
  there.sort((one, other) => order(one) - order(other));
  return chart(labels, {
    title, format: share, most: 1,
    bands: there.map(state => ({ name: lookOf(state)[1], class: lookOf(state)[0], values: parts.map(own => own[state] || 0) })),
    say: at => there.filter(state => parts[at][state] >= 0.005).map(state => lookOf(state)[1] + ' ' + share(parts[at][state]))
      .join(', ') || 'not known',
  });
}

function efficiencyChart(labels, runs) {
  const of = name => runs.map(run => run.efficiency ? run.efficiency[name] : null);
  const there = FACTORS.filter(([name]) => of(name).some(value => typeof value === 'number' && (name !== 'mpi' || value < 1)));
  if (!there.length) return null;
  return chart(labels, {
    title: 'Efficiency', format: share, most: 1,
    series: there.map(([name, word], at) => ({ name: word, class: 'l' + at, values: of(name) })),
    say: at => runs[at].efficiency ? there.map(([name, word]) => word + ' ' + share(runs[at].efficiency[name])).join(', ') : 'not known',
  });
}

function titledChart(title, made) { return made && el('div', null, el('h4', null, title), made); }

function regionSection(report, labels) {
  const place = el('div'), rows = [];
  function choose(at, isAsked) {
    const region = report.regions[at];
    place.replaceChildren(el('h3', null, titleOf(region)), el('div', { class: 'charts' }, [
      titledChart('Time', timeChart(labels, region.runs, 'Time of ' + titleOf(region))),
      titledChart("Threads' time", statesChart(labels, region.runs, "Threads' time in " + titleOf(region))),
    ]));
    rows.forEach((row, own) => row.toggleAttribute('aria-current', own === at));
    if (isAsked) place.scrollIntoView({ block: 'nearest' });
  }
  const body = report.regions.map((region, at) => {
    const there = region.runs.filter(Boolean), now = region.runs[region.runs.length - 1], latest = there[there.length - 1];
    const since = there[0].time_s > 0 ? latest.time_s / there[0].time_s : null;
    const row = el('tr', null,
      el('th', { scope: 'row' }, el('button', { class: 'region', type: 'button', click: () => choose(at, true) },
        el('span', { class: 'name' }, titleOf(region)))),
      el('td', null, spark(region.runs.map(step => step ? step.time_s : null))),
      el('td', null, now ? seconds(now.time_s) : ABSENT), el('td', null, now ? changeOf(now.ratio) : ABSENT),
      el('td', { class: 'label' }, now ? verdictOf(now) : 'not in the latest'), el('td', null, changeOf(since)),
      el('td', null, now ? partOf(now.share) : ABSENT), el('td', null, now ? partOf(now.useful) : ABSENT),
      el('td', null, there.length));
    rows.push(row);
    return row;
  });
  const head = ['region', 'time by run', 'latest', 'change', 'verdict', 'since the first', 'share', 'useful', 'runs'];
  const made = el('section', { class: 'regions' }, el('h2', null, 'Regions'), place,
    el('div', { class: 'wide' }, el('table', { class: 'regions' },
      el('thead', null, el('tr', null, head.map((word, at) => el('th', { scope: 'col', class: at === 4 ? 'label' : null }, word)))),
      el('tbody', null, body))));
  choose(0, false);
  return made;
}

function runTable(report) {
  const head = ['run', 'date', 'reports', 'time', 'change', '95 % interval', 'verdict', 'efficiency', 'useful'];
  // The latest run is what a reader asks for.
  const rows = report.runs.map(run => el('tr', null,
    el('th', { scope: 'row' }, run.label), el('td', null, run.began.slice(0, 10)), el('td', null, run.reports),
    el('td', null, seconds(run.time_s)), el('td', null, changeOf(run.ratio)), el('td', null, intervalOf(run)),
    el('td', { class: 'label' }, verdictOf(run)), el('td', null, partOf(run.efficiency && run.efficiency.parallel)),
    el('td', null, partOf(run.useful)))).reverse();
  return el('section', { class: 'runs' }, folded({ open: report.runs.length <= 20 },
    [el('h2', null, 'Runs'), el('span', { class: 'hint' }, number(report.runs.length, 'run') + ', the latest first')],
    () => [el('div', { class: 'wide' }, el('table', { class: 'runs' },
      el('thead', null, el('tr', null, head.map((word, at) => el('th', { scope: 'col', class: at === 6 ? 'label' : null }, word)))),
      el('tbody', null, rows)))]));
}

function draw(report) {
  const labels = report.runs.map(run => run.label), run = report.runs[report.runs.length - 1];
  const [program, ...rest] = report.headline.split(': ');
  const charts = [
    titledChart('Time', timeChart(labels, report.runs, 'Time of the program')),
    titledChart('Efficiency', efficiencyChart(labels, report.runs)),
    titledChart("Threads' time in regions", statesChart(labels, report.runs, "Threads' time in regions")),
  ];
  document.getElementById('main').replaceChildren(...[
    el('p', { class: 'command' }, el('code', null, run.command.join(' '))),
    el('h1', null, rest.length ? rest.join(': ') : program),
    el('section', { class: 'program' }, el('h2', null, 'Program'), el('div', { class: 'charts' }, charts)),
    report.regions.length && regionSection(report, labels), runTable(report),
    noteSection(report.notes),
  ].filter(Boolean));
  document.title = clean(last(run.command[0] || '?')) + ' – history';
}
