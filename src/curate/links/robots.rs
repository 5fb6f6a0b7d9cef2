//! A robots.txt's rules for this program, as defined in RFC 9309.

use std::time::Duration;

use memchr::memmem;

/// How many bytes of a robots.txt are read; the rest is ignored.
pub(super) const MAX_BYTES: usize = 500 * 1024;
/// The name that rules use for this program.
const NAME: &str = "software-directory";
/// The longest `Crawl-delay` that is honoured.
const LONGEST_DELAY: f64 = 30.0;

/// The rules for one origin.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Robots {
    rules: Vec<Rule>,
    /// The requested pause between requests. RFC 9309 doesn't define it, but many files include it.
    pub(super) delay: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq)]
struct Rule {
    allows: bool,
    pattern: Vec<u8>,
}

impl Robots {
    /// Reads the groups for this program, or else the groups for all programs.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let (mut own, mut general) = (None::<Self>, Self::default());
        let (mut is_own, mut is_general, mut in_names) = (false, false, false);
        for line in bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).split(|byte| matches!(byte, b'\n' | b'\r')) {
            let line = String::from_utf8_lossy(line.split(|byte| *byte == b'#').next().unwrap_or_default());
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            if key == "user-agent" {
                if !std::mem::replace(&mut in_names, true) {
                    (is_own, is_general) = (false, false);
                }
                let name = value.split(['/', ' ']).next().unwrap_or_default();
                is_own |= name.eq_ignore_ascii_case(NAME);
                is_general |= name == "*";
                if is_own {
                    own.get_or_insert_default();
                }
                continue;
            }
            let is_rule = matches!(&*key, "allow" | "disallow");
            if !is_rule && key != "crawl-delay" {
                continue;
            }
            in_names = false;
            for group in own.as_mut().filter(|_| is_own).into_iter().chain(is_general.then_some(&mut general)) {
                if is_rule {
                    let pattern = normal(value.as_bytes());
                    group.rules.extend((!pattern.is_empty()).then_some(Rule { allows: key == "allow", pattern }));
                } else if let Some(seconds) = value.parse().ok().filter(|seconds: &f64| *seconds > 0.0) {
                    group.delay = Some(Duration::from_secs_f64(seconds.min(LONGEST_DELAY)));
                }
            }
        }
        own.unwrap_or(general)
    }

    /// Whether a path with its query may be requested. The longest matching rule decides; if two
    /// are equally long, the one that allows it.
    pub(super) fn allows(&self, path: &str) -> bool {
        let path = normal(path.as_bytes());
        let fitting = self.rules.iter().filter(|rule| fits(&rule.pattern, &path));
        fitting.max_by_key(|rule| (rule.pattern.len(), rule.allows)).is_none_or(|rule| rule.allows)
    }

    /// Roughly how many bytes of memory the rules take up.
    pub(super) fn weight(&self) -> usize {
        self.rules.iter().map(|rule| rule.pattern.capacity() + size_of::<Rule>()).sum()
    }
}

/// Normalises a path: decodes letters, digits and marks that didn't need to be escaped, and escapes
/// other special bytes with upper-case digits.
fn normal(path: &[u8]) -> Vec<u8> {
    let mut normal = Vec::with_capacity(path.len());
    let mut rest = path;
    while let [first, after @ ..] = rest {
        rest = after;
        let hex = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let escaped = match after {
            [high, low, tail @ ..] if *first == b'%' => {
                hex(*high).zip(hex(*low)).map(|(high, low)| (high * 16 + low, tail))
            }
            _ => None,
        };
        let byte = match escaped {
            Some((byte, tail)) => {
                rest = tail;
                byte
            }
            None => *first,
        };
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if is_plain || escaped.is_none() && byte.is_ascii_graphic() {
            normal.push(byte);
        } else {
            normal.extend(format!("%{byte:02X}").bytes());
        }
    }
    normal
}

/// Whether a pattern matches the beginning of a path. `*` stands for any bytes, and a final `$` for
/// the end. Takes time proportional to both lengths.
fn fits(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, to_end) = pattern.strip_suffix(b"$").map_or((pattern, false), |pattern| (pattern, true));
    let mut parts = pattern.split(|byte| *byte == b'*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return !to_end || rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if to_end && parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = memmem::find(rest, part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(text: &str, path: &str) -> bool {
        Robots::parse(text.as_bytes()).allows(path)
    }

    #[test]
    fn the_longest_rule_wins_and_ties_allow_the_path() {
        let text = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c\nAllow: /x\nDisallow: /x\nDisallow:";
        for (path, expected) in [("/", true), ("/a", false), ("/a/b", true), ("/a/b/c?d", false), ("/x", true)] {
            assert_eq!(allows(text, path), expected, "{path}");
        }
    }

    #[test]
    fn groups_for_this_program_are_merged_and_override_the_general_ones() {
        let text = "user-agent: *\ndisallow: /\n\nUser-Agent: other\nUser-Agent: Software-Directory/2.0\n# note\nDisallow: /a # why\n\
                    User-agent: third\nDisallow: /c\nUser-agent: software-directory\nSitemap: x\nDisallow: /b\rCrawl-delay: 2.5";
        for (path, expected) in [("/", true), ("/a", false), ("/b", false), ("/c", true)] {
            assert_eq!(allows(text, path), expected, "{path}");
        }
        assert_eq!(Robots::parse(text.as_bytes()).delay, Some(Duration::from_millis(2500)));
        assert!(!allows("User-agent: other\nUser-agent: *\nDisallow: /", "/"));
        assert!(allows("User-agent: software-directory\nUser-agent: *\nAllow: /\nDisallow: /\n", "/"));
        assert!(!allows("User-agent: software-directory\n\nUser-agent: other\nDisallow: /", "/"), "one group");
        assert!(allows("Disallow: /", "/"), "a rule outside any group");
    }

    #[test]
    fn wildcards_and_end_anchors_match_as_the_standard_says() {
        for (pattern, path, expected) in [
            ("/*.pdf$", "/a/b.pdf", true),
            ("/*.pdf$", "/a.pdf?x", false),
            ("/*.pdf", "/a.pdf?x", true),
            ("/a*b*c", "/a--b--c--", true),
            ("/a*b*c", "/a--c--b", false),
            ("/a*a$", "/a", false),
            ("*", "/", true),
            ("/$", "/", true),
            ("/$", "/a", false),
            ("/%61", "/a", true),
            ("/é", "/%c3%a9", true),
            ("/a%2fb", "/a/b", false),
            ("a", "/a", false),
        ] {
            assert_eq!(!allows(&format!("User-agent: *\nDisallow: {pattern}"), path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn hostile_patterns_are_matched_quickly() {
        let text = format!("User-agent: *\nDisallow: /{}b", "a*".repeat(200_000));
        assert!(allows(&text, &format!("/{}", "a".repeat(60_000))));
        assert_eq!(
            Robots::parse(&b"\xff:\0\n:::\nuser-agent\ncrawl-delay: nan\nUser-agent:*\nCrawl-delay: 1e999"[..]).delay,
            Some(Duration::from_secs(30))
        );
    }
}
