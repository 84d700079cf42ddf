// Zooming and reading the picture over time.

function watchTimeline(timeline, { bin: length, bands, bins, marks }) {
  const find = name => timeline.querySelector(name);
  const box = find('.area-box'), picture = find('svg'), axis = find('.x');
  const cursor = find('.cursor'), tip = find('.tip'), readout = find('.readout');
  const least = Math.min(8, bins);
  let from = 0, to = bins, current = null;

  // The part of the width at which a bin's edge is.
  function x(bin) { return (bin - from) / (to - from); }

  function ticks() {
    const width = to - from, step = roundStep(width * length / (box.clientWidth < 500 ? 3 : 6));
    axis.textContent = '';
    for (let n = Math.ceil(from * length / step - 1e-9); n * step <= to * length * 1.0001; n++) {
      const tick = document.createElement('span');
      tick.textContent = n === 0 ? '0' : tickTime(n * step);
      const place = 100 * x(n * step / length);
      tick.style.left = place + '%';
      if (place < 3) tick.style.transform = 'none';
      if (place > 94) tick.style.transform = 'translateX(-100%)';
      axis.append(tick);
    }
  }

  function look(begin, width) {
    width = Math.min(Math.max(width, least), bins);
    from = Math.min(Math.max(begin, 0), bins - width);
    to = from + width;
    picture.setAttribute('viewBox', from + ' 0 ' + width + ' 100');
    marks.forEach(function (mark) {
      const place = x(mark.at * bins);
      mark.element.hidden = place < 0.01 || place > 0.99;
      mark.element.style.left = 100 * place + '%';
    });
    timeline.dataset.from = from;
    timeline.dataset.to = to;
    ticks();
    if (current !== null) show(current);
  }

  function zoom(factor, center) {
    const width = Math.min(Math.max((to - from) * factor, least), bins);
    look(center - (center - from) * width / (to - from), width);
  }

  function show(bin) {
    current = Math.min(Math.max(bin, 0), bins - 1);
    const place = x(current + 0.5);
    const lines = ['From ' + tickTime(current * length) + ' for ' + tickTime(length)];
    bands.forEach(band => {
      const threads = Math.round(100 * band.threads[current]) / 100;
      if (threads > 0) lines.push(clean(band.label) + ': ' + threads + ' threads');
    });
    if (lines.length === 1) lines.push('no region');
    cursor.hidden = tip.hidden = place < 0 || place > 1;
    cursor.style.left = 100 * place + '%';
    tip.textContent = '';
    lines.forEach(function (line) {
      const part = document.createElement('div');
      part.textContent = line;
      tip.append(part);
    });
    tip.style.left = place < 0.5 ? 100 * place + '%' : 'auto';
    tip.style.right = place < 0.5 ? 'auto' : 100 * (1 - place) + '%';
    readout.textContent = lines[0] + ': ' + lines.slice(1).join('; ');
  }

  function hide() {
    current = null;
    cursor.hidden = tip.hidden = true;
    readout.textContent = '\u00a0';
  }

  function binAt(event) {
    const edge = box.getBoundingClientRect();
    return from + (to - from) * (event.clientX - edge.left) / edge.width;
  }

  const middle = () => { return current === null ? (from + to) / 2 : current + 0.5; };
  const actions = {
    in: () => { zoom(0.5, middle()); },
    out: () => { zoom(2, middle()); },
    left: () => { look(from - (to - from) / 4, to - from); },
    right: () => { look(from + (to - from) / 4, to - from); },
    all: () => { look(0, bins); },
  };
  timeline.querySelectorAll('[data-do]').forEach(function (button) {
    button.addEventListener('click', actions[button.dataset.do]);
  });

  let drag = null;
  box.addEventListener('pointerdown', function (event) {
    if (event.button !== 0) return;
    drag = { at: event.clientX, from: from };
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener('pointermove', function (event) {
    if (drag) {
      look(drag.from - (to - from) * (event.clientX - drag.at) / box.clientWidth, to - from);
    }
    show(Math.floor(binAt(event)));
  });
  const drop = () => { drag = null; };
  box.addEventListener('pointerup', drop);
  box.addEventListener('pointercancel', drop);
  box.addEventListener('pointerleave', () => { if (!drag) hide(); });
  box.addEventListener('blur', hide);
  // Without focus the wheel scrolls the page.
  box.addEventListener('wheel', function (event) {
    if (document.activeElement !== box && !event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, binAt(event));
  }, { passive: false });
  box.addEventListener('keydown', function (event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -bins, End: bins };
    const keys = { '+': 'in', '=': 'in', '-': 'out', 0: 'all', Escape: 'all' };
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in steps) {
      if (event.shiftKey) actions[steps[event.key] < 0 ? 'left' : 'right']();
      else {
        show(current === null ? Math.floor(from) : current + steps[event.key]);
        // The cursor stays in sight.
        if (current < from) look(current, to - from);
        if (current + 1 > to) look(current + 1 - (to - from), to - from);
      }
    } else if (event.key in keys) actions[keys[event.key]]();
    else return;
    event.preventDefault();
  });
  look(0, bins);
  // The axis depends on the width, which the picture has once it is in the page.
  new ResizeObserver(ticks).observe(box);
}
