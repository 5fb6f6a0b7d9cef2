//! What a process writes to standard error, read while it runs.

use std::io::{BufRead as _, BufReader};
use std::process::ChildStderr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

pub(crate) struct Log {
    text: Arc<Mutex<String>>,
    /// The thread that reads it.
    reader: Option<JoinHandle<()>>,
}

impl Log {
    pub(crate) fn of(stderr: ChildStderr) -> Self {
        let text = Arc::<Mutex<String>>::default();
        let log = Arc::clone(&text);
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines() {
                let line = line.expect("text");
                let mut log = log.lock().expect("no panic");
                log.push_str(&line);
                log.push('\n');
            }
        });
        Self { text, reader: Some(reader) }
    }

    /// The text so far.
    pub(crate) fn text(&self) -> String {
        self.text.lock().expect("no panic").clone()
    }

    /// Waits until the process can't write any more, for example because it has exited.
    pub(crate) fn complete(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("no panic");
        }
    }
}
