// What is said to those who don't see the page change.

const status = document.getElementById('status');

/** Says it once nothing else is being said. */
export function tell(text) {
  status.textContent = text;
}
