// Lists that the document has as columns, and the counts of events.

function countOf(columns) {
  for (const column of Object.values(columns || {})) {
    if (Array.isArray(column)) return column.length;
    const inside = column && typeof column === 'object' ? countOf(column) : 0;
    if (inside) return inside;
  }
  return 0;
}

function rowAt(columns, at) {
  const row = {};
  for (const [name, column] of Object.entries(columns)) {
    if (Array.isArray(column)) row[name] = column[at];
    else row[name] = column && typeof column === 'object' ? rowAt(column, at) : column;
  }
  return row;
}

// Rows of columns; a value that stands once is that of all rows.
function rowsOf(columns) {
  return Array.from({ length: countOf(columns) }, (_, at) => rowAt(columns, at));
}

// The threads of a region; none if the page has their distribution alone.
function threadsOf(region) {
  if (!region.rows) region.rows = region.threads ? rowsOf(region.threads) : [];
  return region.rows;
}

function threadCount(region) { return region.spread ? region.spread.count : threadsOf(region).length; }

function counted(process) { return process.events.filter(event => event.uncounted === null); }

function eventTitle(event) { return event.name + (event.doubt ? '*' : ''); }

// The headings of counts and metrics, and their cells.
function countHeadings(process, before = '') {
  return counted(process).map(event => [before + eventTitle(event), event.unit])
    .concat(process.metrics.map(metric => [before + (metric.title || metric.name), metric.unit]));
}

function countCells(process, figures) {
  const own = figures || {};
  return counted(process)
    .map(event => amount((own.counts || {})[event.name], count => quantity(count, event, own)))
    .concat(process.metrics.map(metric => amount((own.metrics || {})[metric.name], metricOf)));
}
