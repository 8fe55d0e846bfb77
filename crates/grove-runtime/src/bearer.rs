//! A bearer token that a file holds: who has it may ask.
//!
//! The file is read for every request, so that a token that was rotated counts at once. The token itself is never logged.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};
use tracing::warn;

/// Bytes of a token file, which are few.
const LONGEST: u64 = 4 << 10;

/// The file with the token.
#[derive(Clone, Debug)]
pub struct TokenFile {
    path: PathBuf,
}

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It has no token, or a wrong one.
    Unauthorized,
    /// The token is not known, so that no request can have it.
    Unknown,
}

impl TokenFile {
    /// The token in the file at `path`. Without surrounding white space, it must not be empty.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        read(&path)?;
        Ok(Self { path })
    }

    /// Whether `headers` have the token.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let want = read(&self.path).map_err(|error| {
            warn!(file = %self.path.display(), %error, "the token of metrics cannot be read");
            Refusal::Unknown
        })?;
        let given = headers.get(header::AUTHORIZATION).map(http::HeaderValue::as_bytes).unwrap_or_default();
        let token =
            given.split_first_chunk::<7>().filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"Bearer "));
        let is_same = token.is_some_and(|(_, token)| is_equal(token.trim_ascii(), &want));
        if is_same { Ok(()) } else { Err(Refusal::Unauthorized) }
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(io::Error::other(format!("it has more than {LONGEST} bytes")));
    }
    let token = bytes.trim_ascii();
    if token.is_empty() { Err(io::Error::other("it is empty")) } else { Ok(token.to_owned()) }
}

/// In a time that does not depend on how much of the token is right.
fn is_equal(given: &[u8], want: &[u8]) -> bool {
    let differs = given.iter().zip(want).fold(0, |differs, (left, right)| differs | (left ^ right));
    given.len() == want.len() && std::hint::black_box(differs) == 0
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Unauthorized => {
                let wanted = [(header::WWW_AUTHENTICATE, "Bearer")];
                (StatusCode::UNAUTHORIZED, wanted, "a bearer token is required\n").into_response()
            }
            Self::Unknown => {
                (StatusCode::SERVICE_UNAVAILABLE, "the token file cannot be read\n").into_response()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that is gone after the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str, content: &str) -> Self {
            let path = std::env::temp_dir().join(format!("grove-token-{name}-{}", std::process::id()));
            std::fs::write(&path, content).unwrap();
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn headers(authorization: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::AUTHORIZATION, authorization.parse().unwrap())])
    }

    #[test]
    fn only_the_token_is_let_in() {
        let file = Scratch::new("only", "s3cret\n");
        let token = TokenFile::open(&file.0).unwrap();
        for (authorization, want) in [
            ("Bearer s3cret", Ok(())),
            ("bearer s3cret", Ok(())),
            ("Bearer s3cre", Err(Refusal::Unauthorized)),
            ("Bearer s3cretly", Err(Refusal::Unauthorized)),
            ("Bearer ", Err(Refusal::Unauthorized)),
            ("Basic s3cret", Err(Refusal::Unauthorized)),
            ("s3cret", Err(Refusal::Unauthorized)),
            ("", Err(Refusal::Unauthorized)),
        ] {
            assert_eq!(token.check(&headers(authorization)), want, "{authorization:?}");
        }
        assert_eq!(token.check(&HeaderMap::new()), Err(Refusal::Unauthorized));
    }

    #[test]
    fn a_rotated_token_counts_at_once() {
        let file = Scratch::new("rotated", "old");
        let token = TokenFile::open(&file.0).unwrap();
        std::fs::write(&file.0, "new").unwrap();
        assert_eq!(token.check(&headers("Bearer old")), Err(Refusal::Unauthorized));
        assert_eq!(token.check(&headers("Bearer new")), Ok(()));
        std::fs::write(&file.0, " \n").unwrap();
        assert_eq!(token.check(&headers("Bearer ")), Err(Refusal::Unknown), "an empty token lets no one in");
        std::fs::remove_file(&file.0).unwrap();
        assert_eq!(token.check(&headers("Bearer new")), Err(Refusal::Unknown));
    }

    #[test]
    fn a_file_that_cannot_be_used_is_found_at_the_start() {
        let (empty, long) = (Scratch::new("empty", "\n"), Scratch::new("long", &"a".repeat(5_000)));
        assert_eq!(TokenFile::open(&empty.0).unwrap_err().to_string(), "it is empty");
        assert_eq!(TokenFile::open(&long.0).unwrap_err().to_string(), "it has more than 4096 bytes");
        assert!(TokenFile::open("/nonexistent/token").is_err());
    }
}
