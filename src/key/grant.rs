//! The rights of a caller: of a key, or of a visitor of the page without one.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use super::{AddressQuotas, Decision, Network, Origin, Quota, Rate};

/// The id of all visitors in the log. No key has it: it is shorter.
const VISITOR: &str = "page";

/// The rights of an accepted caller. Contains no secret.
#[derive(Debug, Clone)]
pub struct Grant {
    /// The key's id, which may be logged; `page` for a visitor.
    pub id: Box<str>,
    pub name: Box<str>,
    /// Requests a minute.
    pub rate: Rate,
    /// Web origins that may use the key; empty means any.
    pub origins: Vec<Origin>,
    /// Whether it may pull the generations of the index, as followers do.
    pub may_replicate: bool,
    /// The requests that are spent.
    pub allowance: Allowance,
    /// Requests authenticated with the key; they survive a reload of the key file.
    pub requests: Arc<AtomicU64>,
}

/// The count of requests that a grant spends from.
#[derive(Debug, Clone)]
pub enum Allowance {
    /// The key's; it survives a reload of the key file.
    Key(Arc<Quota>),
    /// The client address's.
    Address(Arc<AddressQuotas>, Network),
}

/// The holder of a grant, for limits other than the quota.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Holder {
    /// The key with this id.
    Key(Box<str>),
    /// The visitor at this address.
    Address(Network),
}

impl Grant {
    /// The grant of a visitor without a key.
    pub fn for_visitor(network: Network, rate: Rate, quotas: Arc<AddressQuotas>) -> Self {
        Self {
            id: VISITOR.into(),
            name: "visitors of the page".into(),
            rate,
            origins: Vec::new(),
            may_replicate: false,
            allowance: Allowance::Address(quotas, network),
            requests: Arc::default(),
        }
    }

    /// Whether this is the grant of a visitor without a key.
    pub fn is_visitor(&self) -> bool {
        matches!(self.allowance, Allowance::Address(..))
    }

    /// The holder of the grant.
    pub fn holder(&self) -> Holder {
        match self.allowance {
            Allowance::Key(_) => Holder::Key(self.id.clone()),
            Allowance::Address(_, network) => Holder::Address(network),
        }
    }

    /// Spends one request of the quota; `None` without a limit.
    pub fn spend(&self, now: Instant) -> Option<Decision> {
        let limit = self.rate.per_minute()?;
        Some(match &self.allowance {
            Allowance::Key(quota) => quota.spend(limit, now),
            Allowance::Address(quotas, network) => quotas.spend(*network, limit, now),
        })
    }

    /// Spends further requests for one that was allowed, which may put the quota in debt; `None` without a
    /// limit.
    pub fn charge(&self, requests: u32, now: Instant) -> Option<Decision> {
        let limit = self.rate.per_minute()?;
        Some(match &self.allowance {
            Allowance::Key(quota) => quota.charge(limit, requests, now),
            Allowance::Address(quotas, network) => quotas.charge(*network, limit, requests, now),
        })
    }

    /// Takes back a request that was spent then and isn't carried out.
    pub fn give_back(&self, spent: Instant) {
        let Some(limit) = self.rate.per_minute() else { return };
        match &self.allowance {
            Allowance::Key(quota) => quota.give_back(spent),
            Allowance::Address(quotas, network) => quotas.give_back(*network, limit, spent),
        }
    }

    /// Looks at the quota without spending; `None` without a limit.
    pub fn peek(&self, now: Instant) -> Option<Decision> {
        let limit = self.rate.per_minute()?;
        Some(match &self.allowance {
            Allowance::Key(quota) => quota.peek(limit, now),
            Allowance::Address(quotas, network) => quotas.peek(*network, limit, now),
        })
    }

    /// Whether a request with this `Origin` header may use the key. Only browsers send one; a request without it isn't
    /// restricted.
    pub fn allows_origin(&self, origin: &str) -> bool {
        self.origins.is_empty() || self.origins.iter().any(|allowed| allowed.matches(origin))
    }
}
