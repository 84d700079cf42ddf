// The headline, the facts below it, and what must be known to read the page.

function isObserved(process) {
  const left = process.left_out;
  return process.regions.length > 0 || (process.phases || []).length > 0 || Boolean(left && left.regions);
}

function commandLine(words) {
  const isPlain = word => /^[\p{L}\p{N}_./:=@%+,-]+$/u.test(word);
  return words.map(word => isPlain(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'").join(' ');
}

// The headline; reports of earlier versions have none.
function headline(tag, own, process) {
  const said = own.headline;
  if (!said) {
    const text = !process ? number(own.processes.length, 'process') + ' in ' + seconds(own.time_s) + '.'
      : share(process.share) + ' of ' + seconds(process.time_s) + ' in ' + number(process.regions.length, 'region') + '.';
    return [el(tag, null, text)];
  }
  return [el(tag, { 'data-verdict': said.kind }, emphasized(said.text, said.strong)),
    said.help && el('p', { class: 'help' }, said.help)];
}

function runtimes(process) {
  const names = process.runtimes.map(one => one.version ? one.family + ' (' + one.version + ')' : one.family);
  return names.join(' and ') || 'no OpenMP runtime';
}

function factsOf(process) {
  const facts = [
    ['runtime', runtimes(process)],
    ['threads', process.threads + ' on ' + number(process.contexts, 'context')],
    ['run', seconds(process.time_s)],
    ['in regions', share(process.share) + ' in ' + number(regionCount(process), 'region')],
  ];
  const each = process.overhead.execution_s;
  if (each !== null) facts.push(['observing took', seconds(each) + ' an execution']);
  return facts;
}

function regionCount(process) {
  return process.regions.length + ((process.left_out || {}).regions || 0);
}

function ending(report) {
  return report.signal === null ? 'exit status ' + report.exit_status : 'signal ' + report.signal;
}

function factsOfRun(report, observed) {
  const facts = observed.length === 1
    ? [['process', String(observed[0].pid)], ...factsOf(observed[0])]
    : [['run', seconds(report.time_s)], ...(observed.length ? [['processes', String(observed.length)]] : [])];
  if (observed.length) facts.push(['ending', ending(report)]);
  if (report.objective) facts.push(['adapted for', report.objective]);
  if (report.energy) {
    const power = report.energy.power_w;
    facts.push(['energy of the packages',
      withPrefix(report.energy.energy_j, 'J') + (power === null ? '' : ', ' + withPrefix(power, 'W'))]);
  }
  return facts;
}

function about(facts) {
  return el('dl', { class: 'about' }, facts.map(([name, value]) => fact(name, value)));
}

function lostOrGained(time) {
  return el('b', { class: time < 0 ? 'loss' : 'gain' },
    'About ' + seconds(Math.abs(time)) + (time < 0 ? ' lost' : ' gained'));
}

// The result of adaptation in a sentence; null if the run only observed.
function outcome(process) {
  const adapted = process.regions.map(region => region.adaptation).filter(Boolean);
  if (!adapted.length) return null;
  const fewer = adapted.filter(own => own.threads < process.threads).length;
  const reduced = adapted.filter(own => own.reduced > 0).length;
  const all = number(regionCount(process), 'region');
  const chosen = fewer ? fewer + ' of ' + all + ' ended up on fewer than ' + process.threads + ' threads'
    : reduced ? reduced + ' of ' + all + ' ran on fewer threads or contexts, and none stays with fewer threads'
      : 'all of ' + all + ' kept their threads';
  const gains = adapted.map(own => own.gained_s).filter(gained => gained !== null);
  const gained = reduced && gains.length ? gains.reduce((sum, one) => sum + one, 0) : null;
  return el('p', { class: 'outcome' }, 'Adaptation: ' + chosen + '.',
    gained !== null && [' ', lostOrGained(gained), ' in all, trying included.']);
}

function header(report, observed) {
  const own = report.provenance;
  const made = [own.host, own.processor || 'unknown processor', own.system, own.began, 'pacman-pmu ' + own.version];
  return el('header', null,
    el('p', { class: 'command' }, el('code', null, commandLine(report.command))),
    headline('h1', report, observed.length === 1 && observed[0]),
    observed.length === 1 && outcome(observed[0]),
    about(factsOfRun(report, observed)),
    el('p', { class: 'made' }, made.join(' · ')),
    report.simulated && el('p', { class: 'warning' },
      'Simulated: counts are those of ' + report.simulated + ', not of this machine.'));
}

function notes(report, observed) {
  const all = observed.flatMap(process => process.notes.map(note =>
    observed.length === 1 ? note : processName(process) + ': ' + note));
  const silent = report.processes.length - observed.length;
  if (silent > 0 && observed.length) all.push('In ' + number(silent, 'more process') + ' no region ran.');
  all.push(...report.notes);
  return section('notes', 'To read this',
    all.length > 0 && el('ul', null, all.map(note => el('li', null, note))),
    el('p', null, 'Times are wall time. A thread is busy inside the region’s body; without ', el('code', null, '--waits'),
      ' that includes waits in it. It waits from its own end to the end of the region. A loop of GCC without a ' +
      'schedule ends in a barrier. Counts are each thread’s own, in user mode. Processes that are killed, static ' +
      'programs and regions that the compiler made serial cannot be seen.'));
}
