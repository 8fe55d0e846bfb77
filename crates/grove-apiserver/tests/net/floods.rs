//! HTTP/2 clients that ask for more than anybody answers. Each shows that the server ends the connection, or refuses the
//! streams, and that others are served.

use std::time::Duration;

use crate::frames::{ENHANCE_YOUR_CALM, begin, get, listen, more_headers, open_headers, reset};
use crate::support::{ADMIN, CONFIG_MAPS, Stage};

/// Long enough on a busy machine; the server takes moments.
const DEADLINE: Duration = Duration::from_mins(1);

/// What a server says to a client that sends these frames one after the other. Meanwhile somebody else is served.
async fn flooded(frames: impl Iterator<Item = Vec<u8>> + Send + 'static) -> crate::frames::Heard {
    let stage = Stage::plain().await;
    let (mut talk, read) = begin(stage.connect().await).await;
    let sending = tokio::spawn(async move {
        for frame in frames {
            if !talk.say(&frame).await {
                return talk;
            }
        }
        talk
    });
    let heard = tokio::time::timeout(DEADLINE, listen(read, |it| it.goaway.is_none())).await;
    assert_eq!(stage.get(ADMIN, "/version").await.0, 200);
    sending.abort();
    heard.expect("the connection is still open")
}

/// Streams that are opened and reset at once, so that none counts as open (CVE-2023-44487).
#[tokio::test]
async fn streams_that_are_reset_at_once() {
    let watch = format!("{CONFIG_MAPS}?watch=true");
    let streams = (0..20_000_u32).map(move |it| [get(2 * it + 1, &watch, ADMIN), reset(2 * it + 1)].concat());
    // Many at a time, as one who wants to do harm sends them.
    let heaps: Vec<Vec<u8>> = streams.collect::<Vec<_>>().chunks(500).map(<[_]>::concat).collect();
    assert_eq!(flooded(heaps.into_iter()).await.goaway, Some(ENHANCE_YOUR_CALM));
}

/// Headers that never end (CVE-2024-27316).
#[tokio::test]
async fn headers_that_never_end() {
    let frames = std::iter::once(open_headers(1)).chain((0..200_000).map(|_| more_headers(1)));
    let heaps = frames.collect::<Vec<_>>();
    let heaps: Vec<Vec<u8>> = heaps.chunks(1_000).map(<[_]>::concat).collect();
    assert_eq!(flooded(heaps.into_iter()).await.goaway, Some(ENHANCE_YOUR_CALM));
}

/// A client that does not keep to the number of streams that it was told.
#[tokio::test]
async fn more_streams_than_there_may_be() {
    let stage = Stage::plain().await;
    let most = usize::try_from(grove_apiserver::Limits::default().streams).unwrap();
    let watch = format!("{CONFIG_MAPS}?watch=true");
    let (mut talk, read) = begin(stage.connect().await).await;
    stage.create(CONFIG_MAPS, crate::support::config_map("a")).await;
    let streams: Vec<u8> = (0..500_u32).flat_map(|it| get(2 * it + 1, &watch, ADMIN)).collect();
    assert!(talk.say(&streams).await);
    let all = |it: &crate::frames::Heard| it.answers + it.refused < 500 && it.goaway.is_none();
    let heard = tokio::time::timeout(DEADLINE, listen(read, all)).await.unwrap();
    assert_eq!((heard.answers, heard.refused, heard.goaway), (most, 500 - most, None));
    assert_eq!(stage.get(ADMIN, "/version").await.0, 200);
}
