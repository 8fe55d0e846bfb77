//! The layer in paused time: rate, order, cancellation, and that nothing stays in flight.

use std::time::Duration;

use http::Method;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::*;

/// What the inner service got, to be answered when the test likes.
struct Got {
    path: String,
    answer: oneshot::Sender<Result<(), &'static str>>,
}

type Inner = mpsc::UnboundedReceiver<Got>;
type Call = JoinHandle<Result<(), &'static str>>;

/// A way to send through `throttle`, and what arrives behind it.
fn stack(throttle: &Throttle) -> (impl Fn(Method, &'static str) -> Call + use<>, Inner) {
    let (sender, got) = mpsc::unbounded_channel();
    let inner = tower::service_fn(move |request: Request<()>| {
        let (answer, answered) = oneshot::channel();
        sender.send(Got { path: request.uri().path().to_owned(), answer }).unwrap();
        async move { answered.await.unwrap_or(Err("never answered")) }
    });
    let service = throttle.layer(inner);
    let send = move |method, path| {
        let request = Request::builder().method(method).uri(path).body(()).unwrap();
        tokio::spawn(service.clone().oneshot(request))
    };
    (send, got)
}

/// Lets every task run that can.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

fn arrived(got: &mut Inner) -> Vec<String> {
    std::iter::from_fn(|| got.try_recv().ok()).map(|got| got.path).collect()
}

#[tokio::test(start_paused = true)]
async fn a_burst_and_then_the_rate() {
    let (send, mut got) = stack(&Throttle::new(10.0, 2, 0));
    let started = Instant::now();
    let _calls: Vec<_> = (0..5).map(|_| send(Method::POST, "/pods")).collect();
    let mut times = Vec::new();
    for _ in 0..5 {
        got.recv().await.unwrap();
        times.push(started.elapsed().as_millis());
    }
    assert_eq!(times, [0, 0, 100, 200, 300]);
}

#[tokio::test(start_paused = true)]
async fn no_rate_is_no_rate() {
    let (send, mut got) = stack(&Throttle::new(0.0, 0, 0));
    let _calls: Vec<_> = (0..100).map(|_| send(Method::POST, "/pods")).collect();
    settle().await;
    assert_eq!(arrived(&mut got).len(), 100);
}

#[tokio::test(start_paused = true)]
async fn reads_and_leases_never_wait() {
    let (send, mut got) = stack(&Throttle::new(0.001, 1, 1));
    let _write = send(Method::POST, "/pods");
    let _waits = send(Method::POST, "/pods");
    let _read = send(Method::GET, "/pods");
    let _lease = send(Method::PUT, "/apis/coordination.k8s.io/v1/leases/x");
    settle().await;
    let mut paths = arrived(&mut got);
    paths.sort();
    assert_eq!(paths, ["/apis/coordination.k8s.io/v1/leases/x", "/pods", "/pods"]);
}

#[tokio::test(start_paused = true)]
async fn a_free_slot_goes_to_the_most_urgent() {
    let (send, mut got) = stack(&Throttle::new(0.0, 0, 1));
    let _first = send(Method::POST, "/api/v1/events/first");
    let holder = got.recv().await.unwrap();
    let _others = [
        send(Method::POST, "/api/v1/events/e"),
        send(Method::PATCH, "/pods/x/status"),
        send(Method::PATCH, "/pods/m"),
        send(Method::POST, "/pods"),
    ];
    settle().await;
    assert!(arrived(&mut got).is_empty(), "one at a time");
    let mut order = Vec::new();
    let mut holder = Some(holder);
    while let Some(done) = holder.take() {
        done.answer.send(Ok(())).unwrap();
        settle().await;
        holder = got.try_recv().ok();
        order.extend(holder.as_ref().map(|got| got.path.clone()));
    }
    assert_eq!(order, ["/pods", "/pods/m", "/pods/x/status", "/api/v1/events/e"]);
}

#[tokio::test(start_paused = true)]
async fn nothing_starves_behind_what_is_more_urgent() {
    let (send, mut got) = stack(&Throttle::new(100.0, 1, 0));
    let _fill = send(Method::POST, "/pods");
    let _event = send(Method::POST, "/api/v1/events/e");
    // More creates than the rate lets pass, for ever.
    let flood = tokio::spawn(async move {
        let mut calls = Vec::new();
        loop {
            calls.push(send(Method::POST, "/pods"));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let started = Instant::now();
    while got.recv().await.unwrap().path != "/api/v1/events/e" {}
    let waited = started.elapsed();
    flood.abort();
    assert!((line::OLD..=line::OLD + Duration::from_millis(50)).contains(&waited), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_slot_is_free_again_after_success_error_and_cancellation() {
    let (send, mut got) = stack(&Throttle::new(0.0, 0, 1));
    for end in ["success", "error", "cancelled"] {
        let call = send(Method::POST, "/pods");
        let holder = got.recv().await.unwrap();
        match end {
            "success" => holder.answer.send(Ok(())).unwrap(),
            "error" => holder.answer.send(Err("no")).unwrap(),
            _ => call.abort(),
        }
        let next = send(Method::POST, "/next");
        let holder = got.recv().await.expect(end);
        holder.answer.send(Ok(())).unwrap();
        next.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn who_gives_up_is_skipped() {
    let (send, mut got) = stack(&Throttle::new(10.0, 1, 0));
    let _first = send(Method::POST, "/first");
    let gone = send(Method::POST, "/gone");
    let _last = send(Method::POST, "/last");
    settle().await;
    gone.abort();
    let started = Instant::now();
    assert_eq!(got.recv().await.unwrap().path, "/first");
    assert_eq!(got.recv().await.unwrap().path, "/last");
    assert_eq!(started.elapsed().as_millis(), 100, "no token is spent on one who left");
}

/// The clock stops when nobody waits and must start again for the next one.
#[tokio::test(start_paused = true)]
async fn the_clock_starts_again() {
    let (send, mut got) = stack(&Throttle::new(10.0, 1, 0));
    for _ in 0..3 {
        let _calls = [send(Method::POST, "/a"), send(Method::POST, "/b")];
        got.recv().await.unwrap();
        got.recv().await.unwrap();
        settle().await;
    }
    let cancelled = send(Method::POST, "/c");
    settle().await;
    cancelled.abort();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let _calls = [send(Method::POST, "/a"), send(Method::POST, "/b")];
    got.recv().await.unwrap();
    got.recv().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn limits_hold_between_threads() {
    let throttle = Throttle::new(0.0, 0, 3);
    let busy = Arc::new(Mutex::new((0_u32, 0_u32)));
    let counted = busy.clone();
    let service = throttle.layer(tower::service_fn(move |_: Request<()>| {
        let busy = counted.clone();
        async move {
            {
                let mut busy = busy.lock();
                busy.0 += 1;
                busy.1 = busy.1.max(busy.0);
            }
            tokio::task::yield_now().await;
            busy.lock().0 -= 1;
            Ok::<_, &str>(())
        }
    }));
    let calls: Vec<_> = (0..500)
        .map(|_| tokio::spawn(service.clone().oneshot(Request::post("/pods").body(()).unwrap())))
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    let (now, most) = *busy.lock();
    assert!(now == 0 && (1..=3).contains(&most), "{now} now, {most} at most");
}
