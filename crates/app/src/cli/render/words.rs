//! Numbers and values as people read them.

use serde_json::Value;

/// `1 item`, `2 items`.
pub fn count(number: i64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// Bytes as people say them.
pub fn size(bytes: i64) -> String {
    let mut amount = bytes as f64;
    for unit in ["bytes", "KiB", "MiB", "GiB"] {
        if amount < 1024.0 {
            return match unit {
                "bytes" => format!("{bytes} bytes"),
                _ if amount < 10.0 => format!("{amount:.1} {unit}"),
                _ => format!("{amount:.0} {unit}"),
            };
        }
        amount /= 1024.0;
    }
    format!("{amount:.1} TiB")
}

/// A value without the signs that only programs need.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(plain).collect::<Vec<_>>().join(", "),
        value => value.to_string(),
    }
}
