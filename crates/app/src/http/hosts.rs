//! Under which names this server may be called, and from which pages.
//!
//! A page anywhere on the web can make its visitor's browser call this machine, and can make its
//! own name lead here. So a request must name a host that is this server's, and if a page sent it,
//! that page must be this server's own. On loopback too: that is where such pages aim.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, Uri};
use understory_model::{Code, Fault};

use crate::loopback::is_loopback;

/// This server's names.
#[derive(Debug, Clone)]
pub struct Hosts {
    listen: SocketAddr,
    /// Whether this server itself speaks TLS.
    tls: bool,
    public: Option<Public>,
}

/// What others call it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Public {
    https: bool,
    host: String,
    port: u16,
}

/// A host and a port, as they stand in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Authority {
    host: String,
    port: Option<u16>,
}

impl Authority {
    fn parse(text: &str) -> Option<Authority> {
        let (host, port) = match text.strip_prefix('[') {
            Some(six) => {
                let (host, rest) = six.split_once(']')?;
                host.parse::<std::net::Ipv6Addr>().ok()?;
                (
                    host,
                    rest.strip_prefix(':').or(rest.is_empty().then_some("")),
                )
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, Some("")),
            },
        };
        let port = match port? {
            "" if text.ends_with(':') => return None,
            "" => None,
            port => Some(port.parse().ok()?),
        };
        let right = |letter: char| letter.is_ascii_alphanumeric() || ".-_:".contains(letter);
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        (!host.is_empty() && host.chars().all(right)).then_some(Authority { host, port })
    }
}

impl Hosts {
    /// `url` is the setting of that name.
    pub fn new(listen: SocketAddr, url: Option<&str>) -> Result<Hosts, Fault> {
        let public = url.map(public).transpose()?;
        Ok(Hosts {
            listen,
            tls: false,
            public,
        })
    }

    /// The same for a server that speaks TLS.
    #[must_use]
    pub fn over_tls(self) -> Hosts {
        Hosts { tls: true, ..self }
    }

    fn scheme(&self) -> &'static str {
        if self.tls { "https" } else { "http" }
    }

    /// Whether only this machine can call.
    pub fn is_private(&self) -> bool {
        let public = self.public.as_ref();
        self.listen.ip().is_loopback() && public.is_none_or(|public| is_loopback(&public.host))
    }

    /// Whether nothing that is sent to where this listens can be read on its way.
    pub fn is_encrypted(&self) -> bool {
        self.tls || self.listen.ip().is_loopback()
    }

    /// Whether browsers may keep the cookie from unencrypted connections.
    pub fn is_secure(&self) -> bool {
        match &self.public {
            _ if self.tls => true,
            Some(public) => public.https || !is_loopback(&public.host),
            None => !self.listen.ip().is_loopback(),
        }
    }

    /// The address that callers should use: what was set, else what this one used.
    pub fn base(&self, headers: &HeaderMap) -> String {
        match &self.public {
            Some(public) => public.base(),
            None => match one(headers, HOST).and_then(Authority::parse) {
                Some(_) => {
                    let host = one(headers, HOST).unwrap_or_default();
                    format!("{}://{host}", self.scheme())
                }
                None => self.here(),
            },
        }
    }

    pub fn port(&self) -> u16 {
        self.listen.port()
    }

    /// Where it listens, and what it is called where that is something else.
    pub fn both(&self) -> String {
        match &self.public {
            Some(public) => {
                let base = public.base();
                format!("{}://{} (as {base})", self.scheme(), self.listen)
            }
            None => format!("{}://{}", self.scheme(), self.listen),
        }
    }

    /// The address for a person at this machine.
    pub fn here(&self) -> String {
        if let Some(public) = &self.public {
            return public.base();
        }
        let (scheme, port) = (self.scheme(), self.listen.port());
        match self.listen.ip() {
            ip if ip.is_unspecified() => format!("{scheme}://localhost:{port}"),
            ip => format!("{scheme}://{}", SocketAddr::new(ip, port)),
        }
    }

    /// Refuses a request that names another host, or that another's page sent.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Fault> {
        let named = match uri.authority() {
            // A request line may name the host, too; then that is what counts.
            Some(authority) => Authority::parse(authority.as_str()),
            None => one(headers, HOST).and_then(Authority::parse),
        };
        let Some(named) = named else {
            return Err(Fault::new(Code::Validation, "exactly one host is required"));
        };
        if !self.knows(&named.host) {
            return Err(forbidden("unknown host name")
                .hint("To accept it, set `url` to the address that callers use."));
        }
        if !headers.contains_key(ORIGIN) {
            return Ok(());
        }
        let origin = one(headers, ORIGIN).and_then(origin);
        if origin.is_some_and(|(https, from)| self.is_own(https, &from, &named)) {
            return Ok(());
        }
        Err(forbidden("another app's page may not call this server")
            .hint("If the page is this server's own, set `url` to the address that callers use."))
    }

    fn knows(&self, host: &str) -> bool {
        if is_loopback(host) || self.public.as_ref().is_some_and(|own| own.host == host) {
            return true;
        }
        // A name can be made to lead anywhere; an address is only itself.
        match host.parse::<IpAddr>() {
            Ok(ip) => !self.listen.ip().is_loopback() || ip == self.listen.ip(),
            Err(_) => false,
        }
    }

    fn is_own(&self, https: bool, from: &Authority, named: &Authority) -> bool {
        let port = |authority: &Authority, https: bool| {
            authority.port.unwrap_or(if https { 443 } else { 80 })
        };
        if let Some(public) = &self.public
            && https == public.https
            && from.host == public.host
            && port(from, https) == public.port
        {
            return true;
        }
        https == self.tls && from.host == named.host && port(from, https) == port(named, https)
    }
}

impl Public {
    fn base(&self) -> String {
        let (scheme, usual) = if self.https {
            ("https", 443)
        } else {
            ("http", 80)
        };
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        if self.port == usual {
            format!("{scheme}://{host}")
        } else {
            format!("{scheme}://{host}:{}", self.port)
        }
    }
}

fn public(url: &str) -> Result<Public, Fault> {
    let (https, authority) = origin(url.trim_end_matches('/')).ok_or_else(|| {
        Fault::invalid("url", "takes an address such as https://memory.example.com")
    })?;
    let port = authority.port.unwrap_or(if https { 443 } else { 80 });
    Ok(Public {
        https,
        host: authority.host,
        port,
    })
}

/// `https://host:port`, and no more.
fn origin(text: &str) -> Option<(bool, Authority)> {
    let (scheme, rest) = text.split_once("://")?;
    let https = match scheme {
        "https" => true,
        "http" => false,
        _ => return None,
    };
    Some((https, Authority::parse(rest)?))
}

/// The only value of a header.
pub fn one(headers: &HeaderMap, name: impl axum::http::header::AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

fn forbidden(problem: &str) -> Fault {
    Fault::new(Code::Forbidden, problem)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn asked(hosts: &Hosts, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        hosts.check(&Uri::from_static("/v1/x"), &headers).is_ok()
    }

    #[test]
    fn only_this_servers_names_are_answered() {
        let private = Hosts::new("127.0.0.1:7878".parse().unwrap(), None).unwrap();
        let open = Hosts::new("0.0.0.0:7878".parse().unwrap(), None).unwrap();
        let named = Hosts::new(
            "127.0.0.1:7878".parse().unwrap(),
            Some("https://memory.example.com"),
        )
        .unwrap();
        for (host, in_private, in_open, in_named) in [
            ("127.0.0.1:7878", true, true, true),
            ("localhost:9000", true, true, true),
            ("LOCALHOST.", true, true, true),
            ("[::1]:7878", true, true, true),
            ("192.168.1.5:7878", false, true, false),
            ("memory.example.com", false, false, true),
            ("evil.example", false, false, false),
            ("127.0.0.1.evil.example", false, false, false),
            ("localhost@evil.example", false, false, false),
            ("localhost:7878:1", false, false, false),
            ("", false, false, false),
            ("[::1", false, false, false),
        ] {
            assert_eq!(asked(&private, host, None), in_private, "{host}");
            assert_eq!(asked(&open, host, None), in_open, "{host}");
            assert_eq!(asked(&named, host, None), in_named, "{host}");
        }
        assert!(private.is_private() && !open.is_private() && !named.is_private());
        assert!(!private.is_secure() && open.is_secure() && named.is_secure());
        assert!(private.is_encrypted() && !open.is_encrypted() && named.is_encrypted());
        let tls = open.over_tls();
        assert!(tls.is_encrypted() && tls.is_secure() && !tls.is_private());
        assert_eq!(tls.here(), "https://localhost:7878");
        assert!(asked(&tls, "10.0.0.1:7878", Some("https://10.0.0.1:7878")));
        assert!(!asked(&tls, "10.0.0.1:7878", Some("http://10.0.0.1:7878")));
    }

    #[test]
    fn only_this_servers_pages_may_call() {
        let private = Hosts::new("127.0.0.1:7878".parse().unwrap(), None).unwrap();
        let host = "127.0.0.1:7878";
        for (origin, good) in [
            ("http://127.0.0.1:7878", true),
            ("http://127.0.0.1:3000", false),
            ("http://localhost:7878", false),
            ("https://127.0.0.1:7878", false),
            ("http://evil.example", false),
            ("null", false),
            ("", false),
            ("http://127.0.0.1:7878/x", false),
        ] {
            assert_eq!(asked(&private, host, Some(origin)), good, "{origin}");
        }
        let named = Hosts::new(
            "127.0.0.1:7878".parse().unwrap(),
            Some("https://memory.example.com/"),
        )
        .unwrap();
        assert!(asked(
            &named,
            "memory.example.com",
            Some("https://memory.example.com")
        ));
        assert!(!asked(
            &named,
            "memory.example.com",
            Some("https://other.example.com")
        ));
    }

    #[test]
    fn a_request_names_one_host() {
        let hosts = Hosts::new("127.0.0.1:7878".parse().unwrap(), None).unwrap();
        let mut headers = HeaderMap::new();
        let uri = Uri::from_static("/");
        assert_eq!(
            hosts.check(&uri, &headers).unwrap_err().code,
            Code::Validation
        );
        headers.append(HOST, HeaderValue::from_static("localhost"));
        headers.append(HOST, HeaderValue::from_static("localhost"));
        assert!(hosts.check(&uri, &headers).is_err());
        assert!(Hosts::new("127.0.0.1:1".parse().unwrap(), Some("example.com")).is_err());
    }
}
