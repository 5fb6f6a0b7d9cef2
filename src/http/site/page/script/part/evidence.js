// How well a record's claims are backed, and since when.

import { h, icon, say } from '../dom.js';

/** Evidence older than this many days is called old. */
const OLD_DAYS = 365;
const DAY_MS = 86_400_000;

const KNOWN = {
  'vendor-sources-reviewed': { label: 'Vendor sources reviewed', drawing: 'checked' },
  'pending-review': { label: 'Pending review', drawing: 'pending' },
};

/** The badge of lists. */
export function evidenceBadge(item) {
  const known = KNOWN[item.evidence_status];
  const age = ageOf(item.evidence_checked_on);
  return h('span', { class: `evidence ${age?.old ? 'is-old' : known?.drawing ?? ''}` },
    known ? icon(known.drawing) : null, known?.label ?? say(item.evidence_status),
    age ? [' ', h('span', { class: 'age' }, age.old ? `${age.text}, old` : age.text)] : null);
}

/** The paragraph of a product's page. */
export function evidenceStatement(item) {
  const { evidence_status: status, evidence_checked_on: date, export: source } = item;
  const age = ageOf(date);
  if (status === 'vendor-sources-reviewed') {
    return [
      'The sources below were read on ', time(date), age ? `, ${age.text}.` : '.',
      age?.old ? h('strong', { class: 'old' }, ' That is old: what they say may have changed since.') : null,
      age?.future ? h('strong', { class: 'old' }, ' That day has yet to come: take the date for a mistake.') : null,
    ];
  }
  if (status === 'pending-review') {
    return [
      'Nobody has reviewed the evidence for this record yet.',
      date ? [' It is dated ', time(date), age ? `, ${age.text}.` : '.', age?.old ? h('strong', { class: 'old' }, ' That is old.') : null] : null,
      !date && source.as_of ? [' It has no date of its own; its export is of ', time(source.as_of), '.'] : null,
    ];
  }
  return ['Its evidence has the status ', say(status), date ? [', dated ', time(date)] : null, '.'];
}

export function time(date) {
  const read = day(date);
  if (read === null) return say(date);
  const text = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(read);
  return h('time', { datetime: date }, text);
}

/** How long ago a day is; null where there is no such day. */
export function ageOf(date, now = Date.now()) {
  const then = day(date);
  if (then === null) return null;
  const days = Math.floor((now - then) / DAY_MS);
  // The day may have begun already further east.
  if (days < -1) return { text: 'in the future', old: false, future: true };
  const say = (count, unit) => `${count} ${unit}${count === 1 ? '' : 's'} ago`;
  if (days < 1) return { text: 'today', old: false };
  if (days < 31) return { text: say(days, 'day'), old: false };
  if (days <= OLD_DAYS) return { text: say(Math.round(days / 30.4), 'month'), old: false };
  const years = Math.floor(days / 365.25);
  return { text: years < 2 ? 'over a year ago' : say(years, 'year'), old: true };
}

function day(date) {
  const match = /^(\d{4})-(\d{2})-(\d{2})/.exec(date ?? '');
  if (!match) return null;
  const [year, month, number] = match.slice(1).map(Number);
  const time = Date.UTC(year, month - 1, number);
  return new Date(time).getUTCDate() === number ? time : null;
}
