//! Lists of products in a stored order.

use std::ops::Range;

use super::{Columns, Filter, Order, Ordinal, read_while};

impl Columns {
    /// A page of the products that pass a filter, in a stored order, and the total number that
    /// pass. Ends early if `pays` refuses to read more products.
    pub fn page(
        &self,
        filter: &Filter,
        order: Order,
        page: Range<usize>,
        pays: impl FnMut(usize) -> bool,
    ) -> (Vec<Ordinal>, u64) {
        let order = self.order(order);
        let slice = |ordinals: &[Ordinal]| {
            let end = page.end.min(ordinals.len());
            ordinals[page.start.min(end)..end].to_vec()
        };
        if let Some(some) = &filter.ordinals {
            // There are only a few products, so sort them by rank instead of walking through the
            // whole order.
            let exists = |ordinal: &Ordinal| (*ordinal as usize) < order.ranks.len();
            let admitted = some.iter().copied().filter(exists);
            let mut admitted: Vec<_> = admitted.filter(|ordinal| filter.admit(self, *ordinal).passed()).collect();
            admitted.sort_unstable_by_key(|ordinal| order.ranks[*ordinal as usize]);
            return (slice(&admitted), admitted.len() as u64);
        }
        if filter.is_open() {
            return (slice(&order.ordinals), order.ordinals.len() as u64);
        }
        let mut ordinals = Vec::new();
        let mut total = 0;
        let read = read_while(&order.ordinals, pays);
        for ordinal in read.filter(|ordinal| filter.admit(self, **ordinal).passed()) {
            if page.contains(&total) {
                ordinals.push(*ordinal);
            }
            total += 1;
        }
        (ordinals, total as u64)
    }
}
