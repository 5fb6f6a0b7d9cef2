// A highlighted text of the API as nodes. Only `<mark>` of its HTML has a meaning here; all else is text.

import { h } from '../dom.js';

const ENTITIES = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&#x27;': "'", '&apos;': "'" };

export function marked(html) {
  const parts = html.split(/(<\/?mark>)/);
  const nodes = [];
  let inside = false;
  for (const part of parts) {
    if (part === '<mark>') inside = true;
    else if (part === '</mark>') inside = false;
    else if (part) nodes.push(inside ? h('mark', null, unescaped(part)) : unescaped(part));
  }
  return h('bdi', null, nodes);
}

function unescaped(text) {
  return text.replace(/&(?:amp|lt|gt|quot|#39|#x27|apos);/g, (entity) => ENTITIES[entity]);
}
