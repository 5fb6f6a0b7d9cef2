//! Links to a list's pages.

use askama::Template;

use super::language::Texts;
use super::links::Address;
use crate::catalogue::resource::Pagination;
use crate::service::MAX_QUERY_OFFSET;

#[derive(Debug, Template)]
#[template(path = "parts/pager.html")]
pub(super) struct Pager {
    t: &'static Texts,
    links: Vec<PageLink>,
    previous: Option<String>,
    next: Option<String>,
}

#[derive(Debug)]
struct PageLink {
    number: u64,
    href: String,
    is_current: bool,
    /// Whether some of the pages before this one have no link.
    is_after_gap: bool,
}

impl Pager {
    /// `None` if there's only one page. A list with a query ends where the API would reject further
    /// pages.
    pub(super) fn new(t: &'static Texts, page: Pagination, address: &Address, is_queried: bool) -> Option<Self> {
        let limit = u64::from(page.limit);
        let reachable = if is_queried { page.total.min(MAX_QUERY_OFFSET + limit) } else { page.total };
        let (current, last) = (page.offset / limit + 1, reachable.div_ceil(limit).max(1));
        if last == 1 && current == 1 {
            return None;
        }
        let near = current.min(last);
        let mut shown = vec![1, near.saturating_sub(1).max(1), near, (near + 1).min(last), last];
        shown.dedup();
        let mut links: Vec<PageLink> = Vec::new();
        for number in shown {
            let before = links.last().map_or(0, |link| link.number);
            let (href, is_current) = (address.at_page(number), number == current);
            links.push(PageLink { number, href, is_current, is_after_gap: number > before + 1 });
        }
        let previous = (current > 1).then(|| address.at_page((current - 1).min(last)));
        let next = (current < last).then(|| address.at_page(current + 1));
        Some(Self { t, links, previous, next })
    }
}

/// A page's items; none past the end.
pub(super) fn part<T>(items: &[T], page: Pagination) -> &[T] {
    let start = usize::try_from(page.offset).unwrap_or(usize::MAX).min(items.len());
    &items[start..items.len().min(start + page.limit as usize)]
}

/// The offset at which a page of a list starts, given its number, counted from 1.
pub(super) fn offset(page: u64, limit: u32) -> u64 {
    page.saturating_sub(1).saturating_mul(limit.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::pages::language::Language;

    #[test]
    fn pager_links_to_the_neighbouring_first_and_last_pages() {
        let address = Address::new("/".to_owned());
        let numbers = |page: u64, total, is_queried| {
            let page = Pagination { limit: 20, offset: offset(page, 20), total };
            let pager = Pager::new(Language::English.texts(), page, &address, is_queried)?;
            Some(pager.links.iter().map(|link| link.number).collect::<Vec<_>>())
        };
        assert_eq!(numbers(1, 20, false), None);
        assert_eq!(numbers(1, 21, false), Some(vec![1, 2]));
        assert_eq!(numbers(2, 60, false), Some(vec![1, 2, 3]));
        assert_eq!(numbers(5, 1000, false), Some(vec![1, 4, 5, 6, 50]));
        assert_eq!(numbers(50, 1000, false), Some(vec![1, 49, 50]));
        assert_eq!(numbers(9, 60, false), Some(vec![1, 2, 3]), "past the end");
        assert_eq!(numbers(1, 1_000_000, true), Some(vec![1, 2, 501]), "no link to a page that would be refused");
    }
}
