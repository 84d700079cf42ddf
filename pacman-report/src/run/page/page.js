// Draws the report. Details are made when somebody opens them.

// Processes with sections of their own.
const DETAILED = 16;
// Threads in a table that is open from the start.
const FEW_THREADS = 32;

function isDetailed(process) { return process.detailed === true; }

function byThread(process, region) {
  const count = threadCount(region);
  if (!count) return null;
  return el('section', { class: 'by-thread' }, folded({ open: count <= FEW_THREADS || Boolean(region.spread) },
    [el('h2', null, 'Threads'), el('span', { class: 'hint' }, titled(region) + ', ' + number(count, 'thread'))],
    () => [threadTable(process, region)]));
}

// Everything about one process: the first screen, and the sections after it.
function content(report, process) {
  const made = el('div', { class: 'content' });
  if (!process.regions.length) {
    made.append(...[phasesSection(process)].filter(Boolean));
    return made;
  }
  const order = byLoss(process), first = order[0];
  const isContended = (process.headline || {}).kind === 'smt-contention';
  const list = el('select', { change: () => choose(Number(list.value)) }, order.map(at => {
    const region = process.regions[at], lost = lostPart(region);
    return el('option', { value: at }, at + 1 + ' ' + shortName(region) +
      (typeof lost === 'number' ? ' (' + share(lost) + ' lost)' : ''));
  }));
  const panels = el('div'), slots = el('div', { class: 'slots-place' }), threads = el('div');
  const where = el('section', { class: 'where' }, el('div', { class: 'head' }, el('h2', null, 'States of the threads'),
    el('label', { class: 'chooser', hidden: order.length < 2 }, 'Region ', list)), panels);
  // Shows a region: its threads, its slots, and which row of the table it is.
  function choose(at, isAsked = true) {
    const region = process.regions[at];
    list.value = String(at);
    panels.replaceChildren(panel(report, process, at));
    slots.replaceChildren(...[slotsSection(process, at)].filter(Boolean));
    threads.replaceChildren(...[byThread(process, region)].filter(Boolean));
    made.querySelectorAll('[data-choose]').forEach(link => {
      if (Number(link.dataset.choose) === at) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    });
    if (isAsked) where.scrollIntoView({ block: 'nearest' });
  }
  made.append(el('div', { class: isContended ? 'first with-slots' : 'first' }, isContended && slots, treeSection(process), where));
  const rest = [!isContended && slots, findingsSection(process), timelineSection(process), adaptationSection(process),
    regionTable(process, choose), threads, countsSection(process), energySection(process), phasesSection(process)];
  made.append(...rest.filter(Boolean));
  choose(first, false);
  made.querySelectorAll('[data-choose]').forEach(link => {
    const kind = colour(Number(link.dataset.choose));
    const light = isLit => () => made.querySelectorAll('.timeline').forEach(timeline => {
      timeline.classList.toggle('dimmed', isLit);
      timeline.querySelectorAll('.area').forEach(area => area.classList.toggle('lit', isLit && area.classList.contains(kind)));
    });
    for (const begin of ['pointerenter', 'focus']) link.addEventListener(begin, light(true));
    for (const end of ['pointerleave', 'blur']) link.addEventListener(end, light(false));
  });
  return made;
}

function processDetails(report, process, place) {
  const about_ = [el('b', null, processName(process)), ' ', el('span', null, last(process.command[0] || '?')), ' ',
    el('span', null, share(process.share) + ' of ' + seconds(process.time_s) + ' in regions')];
  return folded({ class: 'process', id: 'process-' + place, open: place === 0 }, about_, () => [
    el('div', { class: 'verdict' }, headline('h2', process, process)), outcome(process), about(factsOf(process)),
    content(report, process)].filter(Boolean));
}

function draw(report) {
  const main = document.getElementById('main');
  const observed = report.processes.filter(isObserved);
  observed.slice(0, DETAILED).forEach(process => {
    process.detailed = process.regions.length > 0 || (process.phases || []).length > 0;
  });
  const detailed = observed.filter(isDetailed);
  const lines = overview(report, observed).filter(Boolean);
  const details = lines.length ? detailed.map((process, place) => processDetails(report, process, place))
    : detailed.map(process => content(report, process));
  main.replaceChildren(header(report, observed), ...lines, ...mpiSections(report), ...details, notes(report, observed));
  document.title = clean(commandLine(report.command)) + ' – regions';
}
