'use strict';
(function () {
  document.documentElement.classList.add('scripted');

  // Choosing a region: its panel is shown, its area in the timeline stands out.
  function choose(where, button) {
    where.querySelectorAll('.region').forEach(function (other) {
      other.setAttribute('aria-pressed', String(other === button));
    });
    where.querySelectorAll('.panel').forEach(function (panel) {
      panel.classList.toggle('chosen', panel.id === button.getAttribute('aria-controls'));
    });
  }

  function colourOf(button) {
    return Array.from(button.querySelector('.swatch').classList).find(function (name) {
      return /^c[0-9x]$/.test(name);
    });
  }

  document.querySelectorAll('.where').forEach(function (where) {
    const timeline = where.parentNode.querySelector('.timeline');
    const light = function (button) {
      if (!timeline) return;
      const areas = timeline.querySelectorAll('.area');
      const lit = button && colourOf(button);
      timeline.classList.toggle('dimmed', Boolean(lit));
      areas.forEach(function (area) { area.classList.toggle('lit', area.classList.contains(lit)); });
    };
    const buttons = where.querySelectorAll('.region');
    buttons.forEach(function (button) {
      button.addEventListener('click', function () { choose(where, button); });
      button.addEventListener('pointerenter', function () { light(button); });
      button.addEventListener('pointerleave', function () { light(null); });
      button.addEventListener('focus', function () {
        if (button.matches(':focus-visible')) light(button);
      });
      button.addEventListener('blur', function () { light(null); });
    });
    if (buttons.length) choose(where, buttons[0]);
  });

  function time(seconds) {
    if (seconds >= 1) return seconds.toFixed(2) + ' s';
    if (seconds >= 1e-3) return (seconds * 1e3).toFixed(2) + ' ms';
    return (seconds * 1e6).toFixed(1) + ' µs';
  }

  // What ran at one moment, under the pointer or the keyboard's cursor.
  document.querySelectorAll('.timeline').forEach(function (timeline) {
    const source = timeline.querySelector('script[type="application/json"]');
    if (!source) return;
    const data = JSON.parse(source.textContent);
    const box = timeline.querySelector('.area-box');
    const cursor = timeline.querySelector('.cursor');
    const readout = timeline.querySelector('.readout');
    const bins = data.threads.length ? data.threads[0].length : 0;
    let current = 0;
    const show = function (bin) {
      current = Math.min(Math.max(bin, 0), bins - 1);
      cursor.hidden = false;
      cursor.style.left = 100 * (current + 0.5) / bins + '%';
      const parts = [];
      data.labels.forEach(function (label, at) {
        const threads = data.threads[at][current];
        if (threads > 0) parts.push(label + ': ' + threads + ' threads');
      });
      const from = time(current * data.bin);
      const what = parts.length ? parts.join('; ') : 'no region';
      readout.textContent = 'From ' + from + ' for ' + time(data.bin) + ': ' + what;
    };
    const hide = function () { cursor.hidden = true; readout.textContent = '\u00a0'; };
    box.addEventListener('pointermove', function (event) {
      const edge = box.getBoundingClientRect();
      show(Math.floor(bins * (event.clientX - edge.left) / edge.width));
    });
    box.addEventListener('pointerleave', hide);
    box.addEventListener('blur', hide);
    box.addEventListener('keydown', function (event) {
      const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -bins, End: bins };
      if (!(event.key in steps)) return;
      event.preventDefault();
      show(cursor.hidden ? current : current + steps[event.key]);
    });
  });

  // On paper nothing can be unfolded.
  window.addEventListener('beforeprint', function () {
    document.querySelectorAll('details').forEach(function (folded) { folded.open = true; });
  });

  document.documentElement.dataset.regions =
    String(document.querySelectorAll('.region').length);
})();
