//! An observer that ignores everything.

use std::ops::ControlFlow;

use software_directory::export::Report;
use software_directory::generation::{Observer, Phase, RenderedReport};

pub(crate) struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: Phase, _: u64, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn report(&mut self, _: &Report) {}

    fn relay(&mut self, _: RenderedReport) {}
}
