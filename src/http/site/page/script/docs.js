// The documentation's small helps: examples that name this host, and a button to copy them.

const base = document.querySelector('meta[name="directory-base"]').content;

for (const host of document.querySelectorAll('[data-host]')) host.textContent = location.origin + base;

for (const code of document.querySelectorAll('pre > code')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(code.textContent.trimEnd());
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = 'Press Ctrl+C';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  const frame = document.createElement('div');
  frame.className = 'code';
  code.parentElement.before(frame);
  frame.append(code.parentElement, button);
  if (code.parentElement.scrollWidth > code.parentElement.clientWidth) code.parentElement.tabIndex = 0;
}
