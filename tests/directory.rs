//! From exports to results: checking, importing and comparing exports, building and keeping
//! generations, and searching them, in this process. Also the rules for the source code itself.

mod common;
mod diff;
mod export;
mod generations;
mod hostile;
mod import;
mod layers;
mod memory;
mod report;
mod search;
