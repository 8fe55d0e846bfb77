//! Floods: as many slow connections to each port of the operator as it takes at once, and one honest client, who has to be
//! answered. On loopback, for seconds.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    time::{Instant, sleep, timeout},
};

use super::tenants::{BOUND, Tenants, options};
use crate::{
    operator::{OperatorOptions, Port},
    scenario::Context,
    scenarios::backends::stage::until_answered,
};

/// Slow connections at once.
const CONNECTIONS: usize = 255;
/// Between two bytes of a client that is slow.
const DRIP: Duration = Duration::from_millis(100);
/// How long health and metrics may take to answer the honest client.
const ANSWER: Duration = Duration::from_secs(1);
/// How long all ports together may, admission by way of the API server among them.
const HONEST: Duration = Duration::from_secs(5);

/// One flood: the port, what each connection says at once, and what it says again and again.
struct Flood {
    name: &'static str,
    port: Port,
    first: &'static [u8],
    then: &'static [u8],
}

const SILENT: &[u8] = b"";
const HALF_A_LINE: &[u8] = b"GET /metr";
const HEADERS: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n";
const BODY: &[u8] = b"POST /readyz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n";
/// The beginning of a ClientHello of 512 bytes.
const HALF_A_HELLO: &[u8] = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";

const FLOODS: &[Flood] = &[
    Flood { name: "silent connections to health", port: Port::Health, first: SILENT, then: SILENT },
    Flood { name: "half a request line to health", port: Port::Health, first: HALF_A_LINE, then: SILENT },
    Flood { name: "headers byte by byte to health", port: Port::Health, first: HEADERS, then: b"x" },
    Flood { name: "a body byte by byte to health", port: Port::Health, first: BODY, then: b"x" },
    Flood { name: "silent connections to metrics", port: Port::Metrics, first: SILENT, then: SILENT },
    Flood { name: "half a request line to metrics", port: Port::Metrics, first: HALF_A_LINE, then: SILENT },
    Flood { name: "headers byte by byte to metrics", port: Port::Metrics, first: HEADERS, then: b"x" },
    Flood {
        name: "requests to metrics whose answers are not read",
        port: Port::Metrics,
        first: b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
        then: b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    },
    Flood { name: "silent connections to admission", port: Port::Webhooks, first: SILENT, then: SILENT },
    Flood {
        name: "half a TLS handshake to admission",
        port: Port::Webhooks,
        first: HALF_A_HELLO,
        then: SILENT,
    },
    Flood { name: "a TLS handshake byte by byte", port: Port::Webhooks, first: HALF_A_HELLO, then: b"x" },
    Flood { name: "plain HTTP to admission", port: Port::Webhooks, first: HEADERS, then: b"x" },
];

/// The names of all floods.
#[cfg(test)]
pub(super) fn names() -> Vec<String> {
    FLOODS.iter().map(|it| it.name.to_owned()).collect()
}

/// One flood after the other; while each lasts, every port answers an honest client.
pub(super) async fn scenario(context: &mut Context) -> Result<()> {
    let options = OperatorOptions { webhooks: true, ..options() };
    let mut tenants = Tenants::begin(context, options).await?;
    tenants.tail.more()?;
    let mut succeeded = Vec::new();
    for flood in FLOODS {
        let began = Instant::now();
        let result = carry_out(context, flood).await;
        let took = began.elapsed().as_secs_f64();
        match result {
            Ok(()) => anstream::println!("     {}: answered in {took:.1} s", flood.name),
            Err(error) => {
                succeeded.push(format!("{}: {error:#}", flood.name));
                // The next one is tried on an operator that is well.
                let operator = context.operator()?;
                operator.kill().await?;
                operator.start_again().await?;
                until_answered(context).await?;
            }
        }
    }
    let (all, some) = (FLOODS.len(), succeeded.len());
    ensure!(succeeded.is_empty(), "{some} of {all} floods succeeded:\n    {}", succeeded.join("\n    "));
    timeout(BOUND, tenants.victim_is_well(context)).await.context("the victim")??;
    Ok(())
}

async fn carry_out(context: &mut Context, flood: &Flood) -> Result<()> {
    let port = context.operator()?.port(flood.port);
    let mut open = Vec::new();
    for _ in 0..CONNECTIONS {
        let connecting = timeout(HONEST, TcpStream::connect(("127.0.0.1", port)));
        let mut stream = connecting.await.context("no connection for the flood")??;
        stream.write_all(flood.first).await?;
        open.push(stream);
    }
    // It may have closed some by now, which is its right.
    let dripping = async {
        loop {
            for stream in &open {
                let _ = stream.try_write(flood.then);
            }
            sleep(DRIP).await;
        }
    };
    tokio::select! {
        () = dripping => Ok(()),
        answer = timeout(HONEST, honest(context)) => answer.with_context(|| format!("no answer within {HONEST:?}"))?,
    }
}

/// Asks every port.
async fn honest(context: &Context) -> Result<()> {
    let operator = context.operator_ref()?;
    timeout(ANSWER, operator.metrics()).await.with_context(|| format!("no metrics within {ANSWER:?}"))??;
    timeout(ANSWER, operator.until_ready())
        .await
        .with_context(|| format!("not ready within {ANSWER:?}"))??;
    until_answered(context).await
}
