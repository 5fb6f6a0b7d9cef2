// Starts the viewer of the OpenAPI document, with the key that this tab has.

import * as key from './key.js';

const place = document.getElementById('viewer');

key.takeFromAddress();

// The viewer's dark colours go by a class of the document's element.
const dark = matchMedia('(prefers-color-scheme: dark)');
const colour = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', colour);
colour();

const viewer = window.SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  deepLinking: true,
  validatorUrl: null,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  supportedSubmitMethods: ['get'],
  syntaxHighlight: { activated: false },
  onComplete() {
    const current = key.current();
    if (current) viewer.preauthorizeApiKey('apiKey', current);
    place.dataset.ready = 'yes';
  },
});
