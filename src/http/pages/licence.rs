//! Names of licences, which exports identify by URL.

use super::links::web_address;

/// Licences' names by URL, in lower case and without the scheme, `www.` and whatever else [`bare`]
/// removes. The URLs are the `seeAlso` URLs in the SPDX list and each licence's own page.
const NAMES: [(&str, &str); 35] = [
    ("apache.org/licenses/license-2.0", "Apache-2.0"),
    ("cdla.dev/permissive-1-0", "CDLA-Permissive-1.0"),
    ("cdla.dev/permissive-2-0", "CDLA-Permissive-2.0"),
    ("cdla.dev/sharing-1-0", "CDLA-Sharing-1.0"),
    ("cdla.io/permissive-1-0", "CDLA-Permissive-1.0"),
    ("cdla.io/sharing-1-0", "CDLA-Sharing-1.0"),
    ("data.norge.no/nlod/en/2.0", "NLOD 2.0"),
    ("etalab.gouv.fr/licence-ouverte-open-licence", "Etalab Open Licence"),
    ("github.com/disic/politique-de-contribution-open-source/blob/master/license", "Etalab Open Licence 2.0"),
    ("gnu.org/licenses/agpl-3.0", "AGPL-3.0"),
    ("gnu.org/licenses/fdl-1.3", "GFDL-1.3"),
    ("gnu.org/licenses/gpl-3.0", "GPL-3.0"),
    ("govdata.de/dl-de/by-2-0", "DL-DE BY 2.0"),
    ("govdata.de/dl-de/zero-2-0", "DL-DE Zero 2.0"),
    ("mozilla.org/mpl/2.0", "MPL-2.0"),
    ("nationalarchives.gov.uk/doc/open-government-licence/version/1", "OGL 1.0"),
    ("nationalarchives.gov.uk/doc/open-government-licence/version/2", "OGL 2.0"),
    ("nationalarchives.gov.uk/doc/open-government-licence/version/3", "OGL 3.0"),
    ("open.canada.ca/en/open-government-licence-canada", "OGL Canada 2.0"),
    ("opendatacommons.org/licenses/by", "ODC-By 1.0"),
    ("opendatacommons.org/licenses/by/1-0", "ODC-By 1.0"),
    ("opendatacommons.org/licenses/by/1.0", "ODC-By 1.0"),
    ("opendatacommons.org/licenses/odbl", "ODbL 1.0"),
    ("opendatacommons.org/licenses/odbl/1-0", "ODbL 1.0"),
    ("opendatacommons.org/licenses/odbl/1.0", "ODbL 1.0"),
    ("opendatacommons.org/licenses/pddl", "PDDL 1.0"),
    ("opendatacommons.org/licenses/pddl/1-0", "PDDL 1.0"),
    ("opendatacommons.org/licenses/pddl/1.0", "PDDL 1.0"),
    ("opensource.org/license/apache-2-0", "Apache-2.0"),
    ("opensource.org/license/mit", "MIT"),
    ("opensource.org/licenses/apache-2.0", "Apache-2.0"),
    ("opensource.org/licenses/bsd-2-clause", "BSD-2-Clause"),
    ("opensource.org/licenses/bsd-3-clause", "BSD-3-Clause"),
    ("opensource.org/licenses/mit", "MIT"),
    ("unlicense.org", "Unlicense"),
];

/// The name of a well-known licence; for any other, the host. Anything that isn't a web URL is
/// shown unchanged.
pub(super) fn name(address: &str) -> String {
    let Some(web) = web_address(address) else { return address.to_owned() };
    let Some(place) = bare(address) else { return web.host.to_owned() };
    let lower = place.to_lowercase();
    if let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == lower) {
        return (*name).to_owned();
    }
    let spdx =
        || lower.starts_with("spdx.org/licenses/").then(|| place.rsplit('/').next()).flatten().map(str::to_owned);
    creative_commons(&lower).or_else(spdx).unwrap_or_else(|| web.host.to_owned())
}

/// The host and path, without the parts that don't distinguish licences.
fn bare(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("://")?;
    let place = rest.split(['?', '#']).next().unwrap_or(rest);
    let place = place.strip_prefix("www.").unwrap_or(place);
    let place = place.strip_suffix('/').unwrap_or(place);
    let place = [".html", ".txt", ".pdf", ".md"].iter().find_map(|end| place.strip_suffix(end)).unwrap_or(place);
    Some(place.strip_suffix("-standalone").unwrap_or(place))
}

/// Creative Commons URLs contain the licence in their path, optionally followed by a jurisdiction
/// and the kind of page.
fn creative_commons(place: &str) -> Option<String> {
    let mut parts = place.split('/');
    if parts.next() != Some("creativecommons.org") {
        return None;
    }
    let (kind, name, version) = (parts.next()?, parts.next()?, parts.next()?);
    let is_version = version.len() == 3 && version.bytes().zip(*b"0.0").all(|(is, of)| (is == b'.') == (of == b'.'));
    let name = match (kind, name) {
        ("licenses", name) => format!("CC {}", name.to_uppercase()),
        ("publicdomain", "zero") => "CC0".to_owned(),
        ("publicdomain", "mark") => "Public Domain Mark".to_owned(),
        _ => return None,
    };
    let jurisdiction = parts.next().filter(|part| !part.starts_with("legalcode") && !part.starts_with("deed"));
    let jurisdiction = jurisdiction.map(|of| format!(" {}", of.to_uppercase())).unwrap_or_default();
    is_version.then(|| format!("{name} {version}{jurisdiction}"))
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn well_known_licences_have_names() {
        for (address, shown) in [
            ("https://creativecommons.org/licenses/by-sa/4.0/", "CC BY-SA 4.0"),
            ("http://www.creativecommons.org/licenses/by/3.0/de/deed.en", "CC BY 3.0 DE"),
            ("https://creativecommons.org/publicdomain/zero/1.0/legalcode", "CC0 1.0"),
            ("https://opensource.org/licenses/MIT", "MIT"),
            ("https://www.gnu.org/licenses/gpl-3.0-standalone.html", "GPL-3.0"),
            ("https://spdx.org/licenses/EUPL-1.2.html", "EUPL-1.2"),
            ("https://licence.example/terms", "licence.example"),
            ("urn:licence:own", "urn:licence:own"),
            ("javascript:alert(1)", "javascript:alert(1)"),
            ("https://creativecommons.org/about", "creativecommons.org"),
        ] {
            assert_eq!(name(address), shown, "{address}");
        }
    }
}
