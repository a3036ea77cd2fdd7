//! Which hosts are this machine: what is sent to them in the clear goes over no wire.

use std::net::IpAddr;

/// Whether what follows the scheme of an address names this machine, and nobody's login.
pub fn is_this_machine(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    !authority.contains('@') && is_loopback(host)
}

/// Whether a host is this machine by its name or number.
pub fn is_loopback(host: &str) -> bool {
    let ip = host.parse::<IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is() {
        for (rest, this) in [
            ("127.0.0.1:9/x", true),
            ("127.9.9.9", true),
            ("localhost?x", true),
            ("[::1]:9/x", true),
            ("", false),
            ("[::2]/x", false),
            ("10.0.0.1/x", false),
            ("localhost.example/x", false),
            ("127.0.0.1@example/x", false),
            ("example/127.0.0.1", false),
        ] {
            assert_eq!(is_this_machine(rest), this, "{rest}");
        }
    }
}
