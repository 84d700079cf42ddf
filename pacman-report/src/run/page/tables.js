// Tables that sort by their headings. A wide table scrolls by itself, and its first column stays.

// Rows of a table, or cores of a picture, from which on a browser takes long to lay them out.
const MANY = 64;

// A cell; `value` is what it sorts by.
function cell(text, value, attributes) {
  const own = Object.assign({}, attributes);
  if (typeof value === 'number' && isFinite(value)) own['data-v'] = value;
  return el('td', own, text === null || text === undefined ? ABSENT : text);
}

// A cell of a number in words; a dash where there is none.
function amount(value, words) {
  return typeof value === 'number' ? cell(words(value), value) : cell(null);
}

function rowHead(...children) { return el('th', { scope: 'row' }, ...children); }

// A heading is [name, explanation]; one of words has a third member.
function heading([name, explanation, isWords]) {
  const content = [name, explanation && el('small', null, explanation)];
  return el('th', { scope: 'col', class: isWords && 'words' }, ...content);
}

function table(label, kind, headings, rows, isSorted = true) {
  const made = el('table', { class: (isSorted ? 'sortable ' : '') + kind },
    el('thead', null, el('tr', null, headings.map(heading))), el('tbody', null, rows));
  if (isSorted) sortable(made);
  const kindOfWide = rows.length > MANY ? 'wide long' : 'wide';
  return el('div', { class: kindOfWide, tabindex: 0, role: 'region', 'aria-label': label }, made);
}

// Numbers are in `data-v`; text sorts by the language's rules, and what is absent comes last.
function sortValue(row, column) {
  const own = row.cells[column];
  if ('v' in own.dataset) return Number(own.dataset.v);
  const text = own.textContent.trim();
  if (text === ABSENT || text === '') return null;
  return isNaN(Number(text)) ? text : Number(text);
}

function order(one, other) {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return String(one).localeCompare(String(other), undefined, { numeric: true });
}

function sort(made, column, descending) {
  const rows = Array.from(made.tBodies[0].rows, row => ({ row, value: sortValue(row, column) }));
  rows.sort((one, other) => {
    if (one.value === null || other.value === null) {
      return (one.value === null) - (other.value === null);
    }
    return descending ? order(other.value, one.value) : order(one.value, other.value);
  });
  made.tBodies[0].append(...rows.map(one => one.row));
}

function sortable(made) {
  const headings = Array.from(made.tHead.rows[0].cells);
  headings.forEach((own, column) => {
    const button = el('button', { type: 'button' }, Array.from(own.childNodes));
    own.append(button);
    button.addEventListener('click', () => {
      // Figures are most often looked at from the largest on.
      const before = own.getAttribute('aria-sort');
      const descending = before ? before === 'ascending' : column > 0;
      headings.forEach(other => other.removeAttribute('aria-sort'));
      own.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      sort(made, column, descending);
    });
  });
}
