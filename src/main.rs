//! Parses the command line and calls the library; nothing else.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    // What `FAILPOINTS` says is to go wrong.
    #[cfg(feature = "failpoints")]
    let _scenario = fail::FailScenario::setup();
    software_directory::command::run(software_directory::cli::parse())
}
