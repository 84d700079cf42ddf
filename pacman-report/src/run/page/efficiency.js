// The efficiency tree as a picture, of a process and over MPI processes: a bar for each factor, the worst one marked.

// A factor above this costs too little to be marked: the headline says what matters more.
const WORTH_A_MARK = 0.95;
// The part of the time from which on a loss is worth a word.
const WORTH_A_WORD = 0.01;

function factorRow(kind, name, value, words) {
  const isWorst = kind.endsWith('worst');
  return el('li', { class: kind }, el('span', { class: 'name' }, name),
    el('span', { class: 'gauge' }, el('span', { style: { width: Math.min(100, Math.max(0, 100 * value)).toFixed(2) + '%' } })),
    el('b', null, share(value)),
    el('small', null, isWorst && [el('em', { class: 'tag' }, 'worst'), ' '], words));
}

function causeOf(process, factor) {
  const worst = factor.worst;
  if (!worst || worst.share < WORTH_A_WORD) return factor.about;
  return factor.about + '; above all ' + reasonAt(process, worst.cause, worst.site) + ', ' + share(worst.share);
}

// The factors of a report without their list, which earlier versions wrote.
function factorsOf(tree) {
  return ['mpi', 'serialization', 'load_balance', 'scheduling']
    .filter(name => name !== 'mpi' || tree.mpi < 1)
    .map(name => ({ name: name === 'mpi' ? 'MPI' : name.replace('_', ' '), value: tree[name], about: '', worst: null }))
    .sort((one, other) => one.value - other.value);
}

function products(kind, rows) {
  return [hint('The product of these factors, worst first:'), el('ol', { class: 'factors product ' + kind }, rows)];
}

function treeSection(process) {
  const tree = process.efficiency;
  if (!tree) {
    const isTimed = process.regions.some(region => region.efficiency);
    return section('tree', 'Efficiency', el('p', null, isTimed
      ? 'Several threads started regions: there is no efficiency of the whole program.'
      : ['Waits inside of regions were not timed; ', el('code', null, '--waits'), ' adds them and the efficiency tree.']));
  }
  const lacks = process.lacks_processors, processors = process.processor_share;
  const useful = process.useful_processor_share;
  const rows = (tree.factors || factorsOf(tree)).map((factor, at) => factorRow(
    at === 0 && !lacks && factor.value < WORTH_A_MARK ? 'factor worst' : 'factor',
    factor.name, factor.value, causeOf(process, factor)));
  return section('tree', 'Efficiency',
    el('ol', { class: 'factors' },
      processors !== null && factorRow(lacks ? 'beside worst' : 'beside', 'processor share', processors,
        'ran, of the time in which threads could run'),
      typeof useful === 'number' && factorRow('beside', 'on a processor', useful, 'of the useful time in regions'),
      factorRow('whole', 'parallel efficiency', tree.parallel,
        'useful work in the time of ' + number(tree.threads, 'thread'))),
    products(lacks ? 'doubtful' : '', rows));
}

// MPI over all processes: TALP's factors as bars, and the calls.
function mpiSections(report) {
  const callers = report.processes.filter(process => process.mpi);
  const calls = report.ranks ? report.ranks.calls : callers.flatMap(process => process.mpi.calls);
  if (!calls.length) return [];
  const mpi = report.ranks && report.ranks.mpi, sections = [];
  const factors = (report.ranks || {}).mpi_factors || [];
  if (mpi) {
    const whole = mpi.parallel !== null
      ? factorRow('whole', 'parallel efficiency', mpi.parallel, 'useful work in the time of all threads')
      : factorRow('whole', 'MPI efficiency', mpi.mpi, 'time outside of MPI');
    const rows = factors.map((factor, at) => factorRow(
      at === 0 && factor.value < WORTH_A_MARK ? 'factor worst' : 'factor', factor.name, factor.value, factor.about));
    sections.push(section('tree', 'Efficiency of ' + mpi.processes + ' MPI processes',
      el('ol', { class: 'factors' }, whole), products('', rows)));
  }
  const ranks = report.ranks ? report.ranks.processes.filter(rank => rank.mpi_s !== null) : callers;
  const all = ranks.reduce((sum, rank) => sum + rank.time_s, 0);
  const rows = calls.map(call => {
    const count = call.count + call.inside_count, total = call.time_s + call.inside_s;
    return el('tr', null, rowHead(call.name), amount(total, seconds), amount(all > 0 ? total / all : null, share),
      amount(count, grouped), amount(total / Math.max(count, 1), seconds),
      amount(call.inside_count > 0 ? call.inside_s : null, seconds));
  });
  sections.push(section('', 'MPI calls', table('MPI calls', 'calls', [['function'], ['in MPI', 'all processes'],
    ['share', 'of their time'], ['calls'], ['each', 'mean'], ['in regions']], rows)));
  return sections;
}
