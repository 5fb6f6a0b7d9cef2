//! Parses the command line and calls the library; nothing else.

fn main() -> std::process::ExitCode {
    software_directory::command::run(software_directory::cli::parse())
}
