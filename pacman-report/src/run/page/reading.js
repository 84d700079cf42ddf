// Reads the document of the page and has `draw` draw it.

// A link to a process unfolds it.
function unfold() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target && target.tagName === 'DETAILS') target.open = true;
}

// Text of the document: JSON itself, or gzip in base64.
async function unpacked(source) {
  const text = atob(source.textContent), bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

function show(text) {
  const report = JSON.parse(text);
  learnStates(report.thread_states);
  draw(report);
  window.addEventListener('hashchange', unfold);
  unfold();
  // On paper nothing can be unfolded.
  window.addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(details => {
    details.open = true;
    details.fill();
  }));
  // Laid out and painted, and not only made.
  requestAnimationFrame(() => setTimeout(() => {
    document.documentElement.dataset.drawn = String(Math.round(performance.now()));
    document.documentElement.dataset.ready = 'yes';
  }));
}

function failed(error) {
  document.getElementById('main').replaceChildren(el('p', { class: 'warning' }, 'The report cannot be drawn: ' + error +
    '. The document is damaged, or the browser is older than 2023.'));
  throw error;
}

const source = document.getElementById('document');
if (source.dataset.form === 'gzip') {
  unpacked(source).then(show).catch(failed);
} else {
  try {
    show(source.textContent);
  } catch (error) {
    failed(error);
  }
}
