// Status messages for screen readers, where the page changes.

const status = document.getElementById('status');

/** Says it once nothing else is being said. */
export function tell(text) {
  status.textContent = text;
}
