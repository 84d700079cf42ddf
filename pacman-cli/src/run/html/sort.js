(function () {
  // Numbers are in `data-v`; text sorts by the language's rules, and what is absent comes last.
  function value(row, column) {
    const cell = row.cells[column];
    if ('v' in cell.dataset) return Number(cell.dataset.v);
    const text = cell.textContent.trim();
    if (text === '–' || text === '') return null;
    return isNaN(Number(text)) ? text : Number(text);
  }

  function compare(one, other) {
    if (typeof one === 'number' && typeof other === 'number') return one - other;
    return String(one).localeCompare(String(other), undefined, { numeric: true });
  }

  function sort(table, column, descending) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows).map(function (row) {
      return { row: row, value: value(row, column) };
    });
    rows.sort(function (one, other) {
      if (one.value === null || other.value === null) {
        return (one.value === null) - (other.value === null);
      }
      const order = compare(one.value, other.value);
      return descending ? -order : order;
    });
    rows.forEach(function (one) { body.appendChild(one.row); });
  }

  document.querySelectorAll('table.sortable').forEach(function (table) {
    const headings = Array.from(table.tHead.rows[0].cells);
    headings.forEach(function (heading, column) {
      const button = document.createElement('button');
      button.type = 'button';
      button.append.apply(button, Array.from(heading.childNodes));
      heading.append(button);
      button.addEventListener('click', function () {
        // Figures are most often looked at from the largest on.
        const before = heading.getAttribute('aria-sort');
        const descending = before ? before === 'ascending' : column > 0;
        headings.forEach(function (other) { other.removeAttribute('aria-sort'); });
        heading.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
        sort(table, column, descending);
      });
    });
  });
})();
