// A field that acts as one types: not at each letter, but at each pause.

/** Long enough to type two letters, short enough to feel at once. */
const PAUSE_MS = 120;

/** Calls `act` when the text has changed and the typing pauses, and with `true` when it is sent off. */
export function typing(input, act) {
  let timer = 0;
  let last = input.value.trim();
  const now = (sent) => {
    clearTimeout(timer);
    timer = 0;
    last = input.value.trim();
    act(sent);
  };
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = 0;
    if (input.value.trim() !== last) timer = setTimeout(() => now(false), PAUSE_MS);
  });
  return {
    /** Acts at once. */
    now: () => now(true),
    /** Forgets what was typed since the last pause. */
    stop() {
      clearTimeout(timer);
      timer = 0;
    },
    /** Shows a text that came from elsewhere, unless someone is typing another one right now. */
    show(text) {
      if (timer || input.value.trim() === text.trim()) return;
      input.value = text;
      last = text.trim();
    },
  };
}
