//! Parses the command line and calls the library, nothing more.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    // Enables the faults listed in `FAILPOINTS`.
    #[cfg(feature = "failpoints")]
    let _scenario = fail::FailScenario::setup();
    software_directory::command::run(software_directory::cli::parse())
}
