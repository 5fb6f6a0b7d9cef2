//! The rights of a caller, who either has a key or is a page visitor.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use super::quota::Debt;
use super::{AddressQuotas, Decision, Network, Origin, Quota, Rate};

/// The id that stands for all visitors in the log. It's too short to be a key's id.
const VISITOR: &str = "page";

/// The permissions of an authenticated caller. Contains no secrets.
#[derive(Debug, Clone)]
pub struct Grant {
    /// The key's id, which may be logged; `page` for a visitor.
    pub id: Arc<str>,
    pub name: Box<str>,
    /// Requests per minute.
    pub rate: Rate,
    /// Web origins that may use the key; empty means any.
    pub origins: Vec<Origin>,
    pub allowance: Allowance,
    /// The number of requests authenticated with the key. It survives a reload of the key file.
    pub requests: Arc<AtomicU64>,
}

/// The quota from which a grant's requests are spent.
#[derive(Debug, Clone)]
pub enum Allowance {
    /// The key's own quota; survives a reload of the key file.
    Key(Arc<Quota>),
    /// The quota for the client's address.
    Address(Arc<AddressQuotas>, Network),
}

/// Who holds a grant, for limits other than the quota.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Holder {
    Key(Arc<str>),
    Address(Network),
}

impl Holder {
    /// The holder that stands for all callers without a grant.
    pub fn none() -> Self {
        Self::Key("".into())
    }
}

impl Grant {
    pub fn for_visitor(network: Network, rate: Rate, quotas: Arc<AddressQuotas>) -> Self {
        Self {
            id: VISITOR.into(),
            name: "page visitors".into(),
            rate,
            origins: Vec::new(),
            allowance: Allowance::Address(quotas, network),
            requests: Arc::default(),
        }
    }

    pub fn is_visitor(&self) -> bool {
        matches!(self.allowance, Allowance::Address(..))
    }

    pub fn holder(&self) -> Holder {
        match self.allowance {
            Allowance::Key(_) => Holder::Key(Arc::clone(&self.id)),
            Allowance::Address(_, network) => Holder::Address(network),
        }
    }

    /// Spends one request; `None` if there's no limit.
    pub fn spend(&self, now: Instant) -> Option<Decision> {
        self.with_debt(now, Debt::spend)
    }

    /// Charges extra requests for one that was allowed, which may put the quota in debt; `None` if
    /// there's no limit.
    pub fn charge(&self, requests: u64, now: Instant) -> Option<Decision> {
        self.with_debt(now, |debt, limit| debt.charge(limit, requests))
    }

    /// Refunds a request that was spent at `spent` but not carried out.
    pub fn give_back(&self, spent: Instant) {
        self.with_debt(spent, Debt::give_back);
    }

    /// Looks at the quota without spending any of it; `None` if there's no limit.
    pub fn peek(&self, now: Instant) -> Option<Decision> {
        self.with_debt(now, |debt, limit| debt.peek(limit))
    }

    fn with_debt<T>(&self, now: Instant, change: impl FnOnce(&mut Debt, u32) -> T) -> Option<T> {
        let limit = self.rate.per_minute()?;
        let change = |debt: &mut Debt| change(debt, limit);
        Some(match &self.allowance {
            Allowance::Key(quota) => quota.with_debt(now, change),
            Allowance::Address(quotas, network) => quotas.with_debt(*network, now, change),
        })
    }

    /// Whether the key may be used to sign in to the pages, which don't check origins.
    pub fn may_sign_in(&self) -> bool {
        self.origins.is_empty()
    }

    /// Whether a request with this `Origin` header may use the key. Only browsers send the header;
    /// requests without it aren't restricted.
    pub fn allows_origin(&self, origin: &str) -> bool {
        self.origins.is_empty() || self.origins.iter().any(|allowed| allowed.matches(origin))
    }
}
