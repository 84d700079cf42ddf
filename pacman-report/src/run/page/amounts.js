// Amounts as people read them, as the text report has them.

const ABSENT = '–';

function threeDigits(value) {
  return value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

function seconds(value) {
  if (value >= 1) return threeDigits(value) + ' s';
  if (value >= 1e-3) return threeDigits(value * 1e3) + ' ms';
  if (value >= 1e-6) return threeDigits(value * 1e6) + ' µs';
  return (value * 1e9).toFixed(0) + ' ns';
}

function share(value) {
  const percent = 100 * value;
  if (percent === 0) return '0 %';
  if (percent < 0.1) return '<0.1 %';
  return percent.toFixed(percent >= 10 ? 0 : 1) + ' %';
}

function grouped(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

function scaled(value) {
  if (value >= 1e9) return threeDigits(value / 1e9) + ' G';
  if (value >= 1e6) return threeDigits(value / 1e6) + ' M';
  if (value >= 1e3) return threeDigits(value / 1e3) + ' k';
  return threeDigits(value);
}

function metricOf(value) {
  return value >= 1e5 ? scaled(value) : value.toFixed(3);
}

function withPrefix(value, unit) {
  if (value >= 1e3) return threeDigits(value / 1e3) + ' k' + unit;
  if (value >= 1) return threeDigits(value) + ' ' + unit;
  if (value >= 1e-3) return threeDigits(value * 1e3) + ' m' + unit;
  return value === 0 ? '0 ' + unit : threeDigits(value * 1e6) + ' µ' + unit;
}

function difference(value) {
  return value === 0 ? '0' : (value < 0 ? '-' : '+') + seconds(Math.abs(value));
}

// `1 region`, `1,200 regions`.
function number(count, noun) {
  return grouped(count) + ' ' + noun + (count === 1 ? '' : noun.endsWith('process') ? 'es' : 's');
}

// The count of an event; a lower bound, an estimate or a count that is mostly of the readings has a mark.
function quantity(count, event, figures) {
  const amount = value => event.unit === 'ns' ? seconds(value * 1e-9) : grouped(value);
  const of = member => (figures[member] || {})[event.name];
  const isReadings = of('reading_shares') > 0.5;
  const counted = of('counted_shares'), margin = of('margins');
  return (figures.complete === false ? '>=' : '') + amount(count) + (isReadings ? '!' : '') +
    (margin > 0 ? ' ±' + amount(Math.ceil(margin)) : '') +
    (counted < 1 ? ' (' + (100 * counted).toFixed(1) + '%)' : '');
}

function rateOf(rate, unit) {
  return unit === 'ns' ? share(rate * 1e-9) : scaled(rate) + ' / s';
}

// A figure in the unit that the document names.
function ofUnit(value, unit) {
  if (unit === 's') return seconds(value);
  return unit === 'share' ? share(value) : value.toFixed(2);
}

// 1, 2 or 5 of a power of ten.
function roundStep(rough) {
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  return [1, 2, 5, 10].map(factor => factor * power).find(step => step >= rough * 0.999);
}

// A time on the axis, with no more digits than it needs.
function tickTime(time) {
  const [unit, factor] = time >= 1 ? ['s', 1] : time >= 1e-3 ? ['ms', 1e3] : ['µs', 1e6];
  return Number((time * factor).toPrecision(4)) + ' ' + unit;
}
