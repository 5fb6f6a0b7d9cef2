//! The `--log` filter. A mistyped level must not silence the log: `tracing` would mistake `inf` for
//! a target.

use tracing_subscriber::EnvFilter;

use super::Failure;
use crate::http::ACCESS_LOG;

/// The levels, which are case-insensitive.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
/// The root target of this program's lines.
const TARGET: &str = "software_directory";

/// Parses a filter, and adds the access log to it.
///
/// # Errors
/// If it's invalid, contains a word that is neither a level nor one of this program's targets, or
/// matches none of this program's lines. The exit code is 2.
pub(super) fn parse(filter: &str, access_log: bool) -> Result<EnvFilter, Failure> {
    let wrong = |reason: &str| Failure::usage(format!("--log `{filter}`: {reason}"));
    let mut is_of_program = false;
    for directive in filter.split(',').map(str::trim).filter(|directive| !directive.is_empty()) {
        let target = directive.split(['=', '[']).next().unwrap_or_default();
        let is_level = LEVELS.iter().any(|level| target.eq_ignore_ascii_case(level));
        let is_target = is_target(target);
        if target == directive && !is_level && !is_target {
            let nearest = LEVELS.iter().min_by_key(|level| strsim::osa_distance(level, target)).unwrap_or(&"info");
            return Err(wrong(&format!(
                "`{target}` isn't a level; did you mean `{nearest}`? The levels are {}; to filter another part of \
                 the program, give it one, such as \
                 `hyper=debug`",
                LEVELS.join(", ")
            )));
        }
        // A directive without a target, such as `[span]=debug`, matches all targets.
        is_of_program |= is_level || is_target || target.is_empty();
    }
    if !is_of_program {
        return Err(wrong(&format!(
            "it doesn't match any of this program's log lines; add a level such as `info`, or `{TARGET}=debug`"
        )));
    }
    // rmcp logs each message at `info`, with text from the client. The access log already has a
    // line for it.
    let is_quieter =
        |directive: &str| ["off", "error"].iter().any(|level| directive.trim().eq_ignore_ascii_case(level));
    let rmcp = if filter.split(',').any(is_quieter) { "" } else { "rmcp=warn," };
    let access = if access_log { format!(",{ACCESS_LOG}=debug") } else { String::new() };
    EnvFilter::try_new(format!("{rmcp}{filter}{access}")).map_err(|error| wrong(&format!("{error}; try `info`")))
}

/// Whether a target belongs to this program.
fn is_target(target: &str) -> bool {
    target.strip_prefix(TARGET).is_some_and(|part| part.is_empty() || part.starts_with("::"))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn levels_and_targets_are_valid_filters() {
        for filter in [
            "info",
            "INFO",
            "off",
            "software_directory",
            "software_directory=debug",
            "info,software_directory::http::access=debug",
            "warn,hyper=trace",
            "hyper=trace,software_directory=off",
        ] {
            assert!(parse(filter, false).is_ok(), "{filter}");
        }
    }

    #[test]
    fn a_filter_that_would_silence_the_log_is_rejected_with_a_fix() {
        for (filter, remedy) in [
            ("inf", "did you mean `info`?"),
            ("debgu", "did you mean `debug`?"),
            ("info,debgu", "did you mean `debug`?"),
            ("softwar_directory=debug", "any of this program's log lines"),
            ("", "any of this program's log lines"),
            ("software_directory=inf", "try `info`"),
        ] {
            let failure = parse(filter, true).expect_err(filter);
            assert!(failure.code == 2 && failure.text.contains(remedy), "{filter}: {}", failure.text);
        }
    }
}
