// Licences, which exports name by their addresses, under the names that people know.

import { outside, webAddress } from '../dom.js';

/** By address, without scheme, `www.`, letter case, and what `bare` takes off its end: the SPDX list's `seeAlso` and the licence's own page. */
const NAMES = new Map(Object.entries({
  'apache.org/licenses/license-2.0': 'Apache-2.0',
  'cdla.dev/permissive-1-0': 'CDLA-Permissive-1.0',
  'cdla.dev/permissive-2-0': 'CDLA-Permissive-2.0',
  'cdla.dev/sharing-1-0': 'CDLA-Sharing-1.0',
  'cdla.io/permissive-1-0': 'CDLA-Permissive-1.0',
  'cdla.io/sharing-1-0': 'CDLA-Sharing-1.0',
  'data.norge.no/nlod/en/2.0': 'NLOD 2.0',
  'etalab.gouv.fr/licence-ouverte-open-licence': 'Etalab Open Licence',
  'github.com/disic/politique-de-contribution-open-source/blob/master/license': 'Etalab Open Licence 2.0',
  'gnu.org/licenses/agpl-3.0': 'AGPL-3.0',
  'gnu.org/licenses/fdl-1.3': 'GFDL-1.3',
  'gnu.org/licenses/gpl-3.0': 'GPL-3.0',
  'govdata.de/dl-de/by-2-0': 'DL-DE BY 2.0',
  'govdata.de/dl-de/zero-2-0': 'DL-DE Zero 2.0',
  'mozilla.org/mpl/2.0': 'MPL-2.0',
  'nationalarchives.gov.uk/doc/open-government-licence/version/1': 'OGL 1.0',
  'nationalarchives.gov.uk/doc/open-government-licence/version/2': 'OGL 2.0',
  'nationalarchives.gov.uk/doc/open-government-licence/version/3': 'OGL 3.0',
  'open.canada.ca/en/open-government-licence-canada': 'OGL Canada 2.0',
  'opendatacommons.org/licenses/by': 'ODC-By 1.0',
  'opendatacommons.org/licenses/by/1-0': 'ODC-By 1.0',
  'opendatacommons.org/licenses/by/1.0': 'ODC-By 1.0',
  'opendatacommons.org/licenses/odbl': 'ODbL 1.0',
  'opendatacommons.org/licenses/odbl/1-0': 'ODbL 1.0',
  'opendatacommons.org/licenses/odbl/1.0': 'ODbL 1.0',
  'opendatacommons.org/licenses/pddl': 'PDDL 1.0',
  'opendatacommons.org/licenses/pddl/1-0': 'PDDL 1.0',
  'opendatacommons.org/licenses/pddl/1.0': 'PDDL 1.0',
  'opensource.org/license/apache-2-0': 'Apache-2.0',
  'opensource.org/license/mit': 'MIT',
  'opensource.org/licenses/apache-2.0': 'Apache-2.0',
  'opensource.org/licenses/bsd-2-clause': 'BSD-2-Clause',
  'opensource.org/licenses/bsd-3-clause': 'BSD-3-Clause',
  'opensource.org/licenses/mit': 'MIT',
  'unlicense.org': 'Unlicense',
}));

/** A link to a licence. */
export function licence(address) {
  return outside(address, nameOf(address));
}

/** The name of a well-known licence; the host of any other; an address that is not of the web as it is. */
export function nameOf(address) {
  const url = webAddress(address);
  if (!url) return address;
  const place = bare(url);
  return NAMES.get(place) ?? creativeCommons(place) ?? /^spdx\.org\/licenses\/([\w.+-]+)$/.exec(bare(url, (text) => text))?.[1] ?? url.host;
}

function bare(url, fold = (text) => text.toLowerCase()) {
  const place = `${url.hostname.replace(/^www\./, '')}${fold(url.pathname)}`;
  return place.replace(/\/$/, '').replace(/\.(html|txt|pdf|md)$/, '').replace(/-standalone$/, '');
}

/** The pages of Creative Commons tell the licence by themselves; those of a jurisdiction or a language end in more. */
function creativeCommons(place) {
  const [, kind, name, version, jurisdiction] = /^creativecommons\.org\/(licenses|publicdomain)\/([a-z-]+)\/(\d\.\d)(?:\/([a-z]{2,3}(?:-[a-z]+)?))?(?:\/(?:legalcode|deed)(?:\.[a-z-]+)?)?$/.exec(place) ?? [];
  if (!kind) return null;
  const short = kind === 'licenses' ? `CC ${name.toUpperCase()}` : { zero: 'CC0', mark: 'Public Domain Mark' }[name];
  return short ? [short, version, jurisdiction?.toUpperCase()].filter(Boolean).join(' ') : null;
}
