//! Environment variables that look like options but aren't.

use crate::cli::{ENVIRONMENT_PREFIX, environment_variables};

/// The largest edit distance between a misspelled name and the one that was probably meant.
const MAX_DISTANCE: usize = 3;

/// Logs a warning for each environment variable with the program's prefix that nothing reads.
/// Values aren't shown.
pub(super) fn warn_of_unknown() {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for warning in warnings(names) {
        tracing::warn!("{warning}");
    }
}

fn warnings(names: impl Iterator<Item = String>) -> Vec<String> {
    let known = environment_variables();
    let unknown = names.filter(|name| name.starts_with(ENVIRONMENT_PREFIX) && !known.contains(name));
    let mut warnings: Vec<_> = unknown
        .map(|name| {
            let nearest = known.iter().min_by_key(|known| strsim::osa_distance(known, &name));
            let nearest = nearest.filter(|known| strsim::osa_distance(known, &name) <= MAX_DISTANCE);
            let hint = nearest.map(|known| format!("; did you mean {known}?")).unwrap_or_default();
            format!("the environment variable {name} isn't used{hint}")
        })
        .collect();
    warnings.sort_unstable();
    warnings
}

#[cfg(test)]
mod tests {
    use super::warnings;

    #[test]
    fn an_unknown_variable_causes_a_warning_that_suggests_the_closest_name() {
        let names = ["SOFTWARE_DIRECTORY_LISTN", "SOFTWARE_DIRECTORY_LISTEN", "SOFTWARE_DIRECTORY_COLOUR", "PATH"];
        assert_eq!(
            warnings(names.map(str::to_owned).into_iter()),
            [
                "the environment variable SOFTWARE_DIRECTORY_COLOUR isn't used",
                "the environment variable SOFTWARE_DIRECTORY_LISTN isn't used; \
                 did you mean SOFTWARE_DIRECTORY_LISTEN?",
            ]
        );
    }
}
