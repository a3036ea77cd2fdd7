//! The floor over HTTP: the same stack as Understory's, and nothing but an echo on it.

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use serde_json::Value;

use crate::store::Outcome;

/// Reads a JSON object and answers with it, until it is killed.
pub fn serve() -> Outcome {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let router = Router::new().route("/echo", post(echo));
        tell(&format!("http://{}", listener.local_addr()?));
        Ok(axum::serve(
            axum::serve::ListenerExt::tap_io(listener, |stream| {
                let _ = stream.set_nodelay(true);
            }),
            router,
        )
        .await?)
    })
}

async fn echo(body: Bytes) -> ([(axum::http::HeaderName, &'static str); 1], String) {
    let value: Value = serde_json::from_slice(&body).unwrap_or_default();
    ([(CONTENT_TYPE, "application/json")], value.to_string())
}

fn tell(line: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}
