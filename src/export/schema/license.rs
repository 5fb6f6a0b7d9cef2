//! URLs of licences that are commonly named by their SPDX identifier.

/// Returns the URL of a licence, given its SPDX identifier in any case, with hyphens or spaces.
pub(super) fn address(name: &str) -> Option<String> {
    // Longer than any identifier.
    if name.len() > 40 {
        return None;
    }
    let id = name.trim().to_ascii_lowercase().replace([' ', '_'], "-");
    if matches!(&*id, "cc0" | "cc0-1.0") {
        return Some("https://creativecommons.org/publicdomain/zero/1.0/".to_owned());
    }
    if let Some((kind, version)) = id.strip_prefix("cc-").and_then(|rest| rest.rsplit_once('-')) {
        let is_known = matches!(kind, "by" | "by-sa" | "by-nd" | "by-nc" | "by-nc-sa" | "by-nc-nd")
            && matches!(version, "1.0" | "2.0" | "2.5" | "3.0" | "4.0");
        return is_known.then(|| format!("https://creativecommons.org/licenses/{kind}/{version}/"));
    }
    let spdx = match &*id {
        "mit" => "MIT",
        "apache-2.0" => "Apache-2.0",
        "bsd-2-clause" => "BSD-2-Clause",
        "bsd-3-clause" => "BSD-3-Clause",
        "isc" => "ISC",
        "mpl-2.0" => "MPL-2.0",
        "gpl-2.0" | "gpl-2.0-only" => "GPL-2.0-only",
        "gpl-2.0-or-later" => "GPL-2.0-or-later",
        "gpl-3.0" | "gpl-3.0-only" => "GPL-3.0-only",
        "gpl-3.0-or-later" => "GPL-3.0-or-later",
        "agpl-3.0" | "agpl-3.0-only" => "AGPL-3.0-only",
        "agpl-3.0-or-later" => "AGPL-3.0-or-later",
        "odbl-1.0" => "ODbL-1.0",
        "odc-by-1.0" => "ODC-By-1.0",
        "pddl-1.0" => "PDDL-1.0",
        "unlicense" => "Unlicense",
        _ => return None,
    };
    Some(format!("https://spdx.org/licenses/{spdx}.html"))
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn spdx_identifiers_are_resolved_to_urls() {
        for (name, url) in [
            ("CC-BY-4.0", "https://creativecommons.org/licenses/by/4.0/"),
            ("CC BY-SA 3.0", "https://creativecommons.org/licenses/by-sa/3.0/"),
            ("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
            ("mit", "https://spdx.org/licenses/MIT.html"),
            ("GPL-3.0", "https://spdx.org/licenses/GPL-3.0-only.html"),
        ] {
            assert_eq!(address(name).as_deref(), Some(url), "{name}");
        }
        for other in ["CC-BY-9.0", "CC-XX-4.0", "example.org", "All rights reserved", ""] {
            assert_eq!(address(other), None, "{other}");
        }
    }
}
