//! Parts shared by several pages.

pub(super) mod attribute;
pub(super) mod call;
pub(in crate::http) mod evidence;
pub(super) mod licence;
pub(super) mod pager;
pub(super) mod properties;
pub(super) mod rating;
pub(super) mod row;
pub(super) mod terms;
pub(super) mod text_budget;
