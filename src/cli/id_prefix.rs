//! The value of `--id-prefix`.

use crate::export::is_id_prefix;

/// An export's id, and the prefix for the ids in it.
pub type ExportPrefix = (Box<str>, Box<str>);

/// Parses `export=prefix`. An empty prefix means none. An empty string yields an empty pair,
/// because a container can't unset a variable that its image sets.
pub(super) fn id_prefix(text: &str) -> Result<ExportPrefix, String> {
    if text.is_empty() {
        return Ok(ExportPrefix::default());
    }
    let example = "write an export's id and the prefix for the ids in it, such as dpg=dpg:";
    let (export, prefix) = text.rsplit_once('=').ok_or(example)?;
    if export.is_empty() {
        return Err(example.to_owned());
    }
    if !prefix.is_empty() && !is_id_prefix(prefix) {
        return Err("a prefix is 1 to 32 ASCII letters, digits and . _ : ~ -, such as dpg:".to_owned());
    }
    Ok((export.into(), prefix.into()))
}

#[cfg(test)]
mod tests {
    use super::id_prefix;

    #[test]
    fn the_prefix_follows_the_last_equals_sign() {
        let pair = |export: &str, prefix: &str| Ok((export.into(), prefix.into()));
        assert_eq!(id_prefix("dpg=dpg:"), pair("dpg", "dpg:"));
        assert_eq!(id_prefix("a=b=x."), pair("a=b", "x."));
        assert_eq!(id_prefix("dpg="), pair("dpg", ""));
        assert_eq!(id_prefix(""), pair("", ""));
        for wrong in ["dpg", "=x", "dpg=a/b", "dpg=a b", "dpg.json"] {
            assert!(id_prefix(wrong).is_err(), "{wrong}");
        }
    }
}
