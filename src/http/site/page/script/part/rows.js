// Lists of rows for the arrow keys. A row is an element with `data-row`.

/** The row before or after the focused one gets the focus; above the first is `above`. */
export function walk(event, list, above) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const rows = [...list.querySelectorAll('[data-row]')];
  const at = rows.indexOf(document.activeElement);
  if (at < 0) return;
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (next === undefined || next >= rows.length) return;
  event.preventDefault();
  if (next < 0) above?.focus();
  else rows[next].focus();
}

/** Focuses the first row, if there is one. */
export function first(list) {
  const row = list?.querySelector('[data-row]');
  row?.focus();
  return Boolean(row);
}

/** Grey lines where rows will be, about as tall. */
export function placeholders(element, count) {
  element.replaceChildren(...Array.from({ length: count }, () => {
    const row = document.createElement('div');
    row.className = 'placeholder';
    row.setAttribute('aria-hidden', 'true');
    return row;
  }));
}
