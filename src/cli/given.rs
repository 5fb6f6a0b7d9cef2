//! Options with an optional value: a path or a string.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, StringValueParser, TypedValueParser};

/// The value of an option whose default is empty. An empty value counts as unset, because a
/// container can't unset a variable that its image sets. The type isn't called `Option`, because
/// clap treats a type with that name specially.
pub type Given<T> = Option<T>;

/// Parses a path.
pub(super) fn path() -> impl TypedValueParser<Value = Given<PathBuf>> {
    OsStringValueParser::new().map(|path| (!path.is_empty()).then(|| path.into()))
}

/// Parses text.
pub(super) fn text() -> impl TypedValueParser<Value = Given<String>> {
    StringValueParser::new().map(non_empty)
}

/// Parses text that `check` accepts.
pub(super) fn checked<E>(
    check: impl Fn(&str) -> Result<String, E> + Clone,
) -> impl Fn(&str) -> Result<Given<String>, E> + Clone {
    move |text| check(text).map(non_empty)
}

fn non_empty(text: String) -> Given<String> {
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use crate::cli::Cli;

    #[test]
    fn an_empty_option_counts_as_unset() {
        const OPTIONS: [&str; 8] = [
            "--data",
            "--empty-queries",
            "--engine-ca-file",
            "--engine-key-file",
            "--engine-password-file",
            "--engine-user",
            "--public-url",
            "--site-title",
        ];
        let parsed = |value: Option<&str>| {
            let options = OPTIONS.iter().filter_map(|option| value.map(|value| [option, value]));
            let serve = Cli::parse_from(["software-directory"].into_iter().chain(options.flatten())).serve;
            let engine = serve.engine;
            [
                serve.data.data,
                serve.empty_queries,
                engine.engine_ca_file,
                engine.engine_key_file,
                engine.engine_password_file,
                engine.engine_user.map(Into::into),
                serve.public_url.map(Into::into),
                serve.site_title.map(Into::into),
            ]
        };
        assert_eq!(parsed(Some("")), [const { None }; 8]);
        assert_eq!(parsed(Some("x")), [const { Some("x") }; 8].map(|value| value.map(Into::into)));
    }
}
