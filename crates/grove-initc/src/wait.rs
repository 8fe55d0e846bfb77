//! Waits, and says what for.

use std::{io, time::Duration};

use crate::arguments::Parent;

/// Between two looks at the file. The kubelet replaces it through symbolic links, which nothing but a look at the path
/// follows reliably, and one small file costs nothing to read.
const POLL: Duration = Duration::from_millis(200);
/// Between two lines of the log that say that it still waits.
const REMIND: Duration = Duration::from_secs(30);

/// What is around the program.
pub trait Surroundings {
    /// What the file says.
    fn read(&mut self) -> io::Result<String>;
    /// Whether a signal asks for the end.
    fn told_to_end(&self) -> bool;
    /// Time since the start.
    fn elapsed(&self) -> Duration;
    /// Lets time pass.
    fn pause(&mut self, time: Duration);
    /// Writes a line to the log.
    fn say(&mut self, line: &str);
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The pod may start.
    MayStart,
    /// A signal came.
    ToldToEnd,
}

/// Whether the pod may start, by what the file says: it is not empty, or there is nothing to wait for.
pub fn may_start(parents: &[Parent], file: &str) -> bool {
    parents.is_empty() || !file.trim().is_empty()
}

/// Waits until the file is not empty. Where there is nothing to wait for it does not.
pub fn wait(parents: &[Parent], around: &mut impl Surroundings) -> Ending {
    if parents.is_empty() {
        around.say("nothing to wait for: the pod starts");
        return Ending::MayStart;
    }
    let names: Vec<String> = parents.iter().map(ToString::to_string).collect();
    let names = names.join(", ");
    around.say(&format!("the pod starts after {names}"));
    let mut remind = REMIND;
    loop {
        let unread = match around.read() {
            Ok(text) if may_start(parents, &text) => {
                around
                    .say(&format!("all of them are ready after {}: the pod starts", words(around.elapsed())));
                return Ending::MayStart;
            }
            Ok(_) => None,
            Err(error) => Some(error),
        };
        if around.told_to_end() {
            around.say(&format!("told to end after {}; still not ready: {names}", words(around.elapsed())));
            return Ending::ToldToEnd;
        }
        if around.elapsed() >= remind {
            remind = around.elapsed() + REMIND;
            // A file that is not there is somebody's mistake, and would otherwise look like patience.
            let but = unread.map(|it| format!("; but cannot read {it}")).unwrap_or_default();
            around.say(&format!("still waiting after {} for {names}{but}", words(around.elapsed())));
        }
        around.pause(POLL);
    }
}

fn words(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, _) => format!("{:.1} s", time.as_secs_f64()),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A world in which time passes only in pauses.
    struct Scripted {
        /// From when on the file has this content.
        contents: Vec<(Duration, io::Result<&'static str>)>,
        signal_at: Duration,
        now: Duration,
        log: Vec<String>,
    }

    impl Scripted {
        fn new(contents: Vec<(u64, io::Result<&'static str>)>) -> Self {
            let contents = contents.into_iter().map(|(at, it)| (Duration::from_secs(at), it)).collect();
            Self { contents, signal_at: Duration::MAX, now: Duration::ZERO, log: Vec::new() }
        }
    }

    impl Surroundings for Scripted {
        fn read(&mut self) -> io::Result<String> {
            match &self.contents.iter().rfind(|it| it.0 <= self.now).unwrap().1 {
                Ok(text) => Ok((*text).to_owned()),
                Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
            }
        }

        fn told_to_end(&self) -> bool {
            self.now >= self.signal_at
        }

        fn elapsed(&self) -> Duration {
            self.now
        }

        fn pause(&mut self, time: Duration) {
            assert!(self.now < Duration::from_hours(24), "it waits for ever: {:?}", self.log);
            self.now += time;
        }

        fn say(&mut self, line: &str) {
            self.log.push(line.to_owned());
        }
    }

    fn parents() -> Vec<Parent> {
        let parent =
            |name: &str, minimum| Parent { name: name.to_owned(), minimum: u32::try_into(minimum).unwrap() };
        vec![parent("inf-0-a", 2), parent("inf-0-b", 1)]
    }

    #[test]
    fn waits_until_the_file_is_not_empty() {
        let mut around = Scripted::new(vec![(0, Ok("")), (1, Ok(" \n")), (2, Ok("true"))]);
        assert_eq!(wait(&parents(), &mut around), Ending::MayStart);
        assert_eq!(around.now, Duration::from_secs(2));
        assert_eq!(
            around.log,
            [
                "the pod starts after inf-0-a (at least 2 ready), inf-0-b (at least 1 ready)",
                "all of them are ready after 2.0 s: the pod starts"
            ]
        );
    }

    #[test]
    fn who_may_start_does_not_pause() {
        let mut around = Scripted::new(vec![(0, Ok("true"))]);
        assert_eq!(wait(&parents(), &mut around), Ending::MayStart);
        let mut nobody = Scripted::new(vec![(0, Ok(""))]);
        assert_eq!(wait(&[], &mut nobody), Ending::MayStart);
        assert_eq!((around.now, nobody.now), (Duration::ZERO, Duration::ZERO));
    }

    #[test]
    fn says_every_half_minute_that_it_waits() {
        let missing = io::Error::new(io::ErrorKind::NotFound, "/f: missing");
        let mut around = Scripted::new(vec![(0, Ok("")), (80, Err(missing)), (100, Ok("true"))]);
        assert_eq!(wait(&parents(), &mut around), Ending::MayStart);
        let names = "inf-0-a (at least 2 ready), inf-0-b (at least 1 ready)";
        let want = [
            format!("still waiting after 30.0 s for {names}"),
            format!("still waiting after 1 min 0 s for {names}"),
            format!("still waiting after 1 min 30 s for {names}; but cannot read /f: missing"),
        ];
        assert_eq!(around.log[1..4], want);
        assert_eq!(around.log.len(), 5);
    }

    #[test]
    fn a_signal_ends_it_at_once() {
        let mut around = Scripted::new(vec![(0, Ok(""))]);
        around.signal_at = Duration::from_secs(4000);
        assert_eq!(wait(&parents(), &mut around), Ending::ToldToEnd);
        assert_eq!(around.now, around.signal_at);
        let last = around.log.last().unwrap();
        assert!(last.starts_with("told to end after 1 h 6 min; still not ready: inf-0-a"), "{last}");
    }
}
