// Changes between runs in words, for comparisons and histories.

const FACTORS = [['parallel', 'parallel efficiency'], ['serialization', 'serialization'], ['load_balance', 'load balance'],
  ['scheduling', 'scheduling'], ['mpi', 'MPI']];
const VERDICTS = { slower: '▲ slower', faster: '▼ faster', same: '= same', unclear: '? unclear' };

function changeOf(ratio) {
  if (typeof ratio !== 'number') return ABSENT;
  const percent = 100 * (ratio - 1), text = Math.abs(percent).toFixed(1);
  return (percent < 0 && text !== '0.0' ? '-' : '+') + text + ' %';
}
function verdictOf(step) {
  return step && step.verdict ? el('span', { class: 'verdict-' + step.verdict }, VERDICTS[step.verdict]) : ABSENT;
}
function intervalOf(step) {
  return step && typeof step.low === 'number' ? changeOf(step.low) + ' to ' + changeOf(step.high) : ABSENT;
}
function partOf(value) { return typeof value === 'number' ? share(value) : ABSENT; }
function titleOf(region) { return region.file ? region.name + '  ' + last(region.file) : region.name; }

function noteSection(notes) {
  return notes.length > 0 && el('section', { class: 'notes' }, el('h2', null, 'Notes'),
    el('ul', null, notes.map(note => el('li', null, note))));
}
