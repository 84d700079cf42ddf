'use strict';
(function () {
  const page = document.documentElement;
  page.classList.add('scripted');

  // Choosing a region: its panel and its threads are shown, its area in the timeline stands out.
  function choose(content, at) {
    content.querySelectorAll('[data-of]').forEach(function (part) {
      part.classList.toggle('chosen', part.dataset.of === at);
    });
    content.querySelectorAll('.chooser select').forEach(function (list) { list.value = at; });
    content.querySelectorAll('[data-choose]').forEach(function (link) {
      if (link.dataset.choose === at) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    });
  }

  document.querySelectorAll('.content').forEach(function (content) {
    const light = function (link) {
      const colour = link && Array.from(link.closest('th').querySelector('.swatch').classList)
        .find(function (name) { return /^c[0-9x]$/.test(name); });
      content.querySelectorAll('.timeline').forEach(function (timeline) {
        timeline.classList.toggle('dimmed', Boolean(colour));
        timeline.querySelectorAll('.area').forEach(function (area) {
          area.classList.toggle('lit', area.classList.contains(colour));
        });
      });
    };
    content.querySelectorAll('[data-choose]').forEach(function (link) {
      link.addEventListener('click', function (event) {
        event.preventDefault();
        choose(content, link.dataset.choose);
        content.querySelector('.panel.chosen').scrollIntoView({ block: 'nearest' });
      });
      link.addEventListener('pointerenter', function () { light(link); });
      link.addEventListener('pointerleave', function () { light(null); });
      link.addEventListener('focus', function () { light(link); });
      link.addEventListener('blur', function () { light(null); });
    });
    const list = content.querySelector('.chooser select');
    if (!list) return;
    list.addEventListener('change', function () { choose(content, list.value); });
    if (list.options.length) choose(content, list.options[0].value);
  });

  // A link to a process unfolds it.
  function unfold() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target && target.tagName === 'DETAILS') target.open = true;
  }
  window.addEventListener('hashchange', unfold);
  unfold();

  // On paper nothing can be unfolded.
  window.addEventListener('beforeprint', function () {
    document.querySelectorAll('details').forEach(function (folded) { folded.open = true; });
  });
})();
