//! The open connections: how many there may be, and which of them is closed to make room.
//!
//! Anybody can open a connection, so one counts for little until a request on it came from a caller
//! who was recognised. Unauthenticated connections have half of the places, and the oldest of them
//! is closed when one more arrives: clients that only hold connections lose them, and a short request
//! is still answered. Some places are never taken by callers either, so that there is always one to
//! give.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::Extensions;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use understory_model::{Caller, limits};

/// Files that the process opens for other purposes: the store's, the log's, the keys'.
#[cfg(unix)]
const OTHER_FILES: usize = 128;

/// The open connections of a server.
pub struct Connections {
    /// Places in all, for unauthenticated connections, and for those of callers.
    most: usize,
    unauthenticated: usize,
    of_callers: usize,
    room: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: u64,
    open: BTreeMap<u64, Open>,
    by_network: HashMap<IpAddr, usize>,
    by_agent: HashMap<(String, String), usize>,
    unauthenticated: usize,
    of_callers: usize,
}

struct Open {
    network: IpAddr,
    standing: Standing,
    close: CancellationToken,
}

/// What is known of a connection.
enum Standing {
    /// No request on it came from a caller who was recognised.
    Unauthenticated,
    /// The first caller who was recognised on it: workspace and agent.
    Callers(String, String),
    /// It is being closed to make room.
    Closing,
}

/// A connection's place, held while it is served.
pub struct Place {
    number: u64,
    close: CancellationToken,
    connections: Arc<Connections>,
    _permit: OwnedSemaphorePermit,
}

/// A connection as its requests know it. It may be kept for longer than the connection is open.
#[derive(Clone)]
pub struct Mark {
    number: u64,
    connections: Arc<Connections>,
}

impl Connections {
    pub fn new(most: usize) -> Arc<Connections> {
        let most = most.max(8);
        Arc::new(Connections {
            most,
            unauthenticated: most / 2,
            of_callers: most - most / 8,
            room: Arc::new(Semaphore::new(most)),
            state: Mutex::default(),
        })
    }

    /// Takes a place for a connection, closing another if it must; none if the address has too
    /// many.
    pub async fn enter(self: &Arc<Connections>, from: IpAddr) -> Option<Place> {
        let network = network(from);
        {
            let mut state = self.state();
            let same = state.by_network.get(&network).copied().unwrap_or_default();
            // A proxy on this machine has the connections of all its callers.
            if !network.is_loopback() && same >= limits::HTTP_CONNECTIONS_PER_ADDRESS.min(self.most)
            {
                return None;
            }
            if state.unauthenticated >= self.unauthenticated {
                state.make_room();
            }
        }
        let permit = match Arc::clone(&self.room).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                self.state().make_room();
                // What is being closed gives its place back at once.
                Arc::clone(&self.room).acquire_owned().await.ok()?
            }
        };
        let close = CancellationToken::new();
        let number = self.state().add(network, close.clone());
        Some(Place {
            number,
            close,
            connections: Arc::clone(self),
            _permit: permit,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, network: IpAddr, close: CancellationToken) -> u64 {
        self.last += 1;
        self.unauthenticated += 1;
        *self.by_network.entry(network).or_default() += 1;
        let standing = Standing::Unauthenticated;
        let open = Open {
            network,
            standing,
            close,
        };
        self.open.insert(self.last, open);
        self.last
    }

    /// Closes the oldest of the unauthenticated connections, of the address that has most of them.
    fn make_room(&mut self) {
        let mut counts: HashMap<IpAddr, (usize, u64)> = HashMap::new();
        for (number, open) in &self.open {
            if matches!(open.standing, Standing::Unauthenticated) {
                counts.entry(open.network).or_insert((0, *number)).0 += 1;
            }
        }
        let most = counts.into_values().max_by_key(|(count, _)| *count);
        let oldest = most.and_then(|(_, number)| self.open.get_mut(&number));
        if let Some(open) = oldest {
            open.standing = Standing::Closing;
            open.close.cancel();
            self.unauthenticated -= 1;
        }
    }

    fn remove(&mut self, number: u64) {
        let Some(open) = self.open.remove(&number) else {
            return;
        };
        less(&mut self.by_network, &open.network);
        match open.standing {
            Standing::Unauthenticated => self.unauthenticated -= 1,
            Standing::Closing => {}
            Standing::Callers(workspace, agent) => {
                self.of_callers -= 1;
                less(&mut self.by_agent, &(workspace, agent));
            }
        }
    }
}

fn less<K: Eq + std::hash::Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

impl Place {
    pub fn mark(&self) -> Mark {
        Mark {
            number: self.number,
            connections: Arc::clone(&self.connections),
        }
    }

    /// Waits until the connection has to be closed to make room.
    pub fn closed(&self) -> WaitForCancellationFutureOwned {
        self.close.clone().cancelled_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.state().remove(self.number);
    }
}

impl Mark {
    /// Notes that a caller was recognised on the connection. From now on it is not closed to make
    /// room, unless the agent or all callers have too many already.
    pub fn recognised(&self, caller: &Caller) {
        let mut state = self.connections.state();
        let agent = (caller.workspace.clone(), caller.agent.clone());
        let own = state.by_agent.get(&agent).copied().unwrap_or_default();
        let full = own >= limits::HTTP_CONNECTIONS_PER_AGENT
            || state.of_callers >= self.connections.of_callers;
        let Some(open) = state.open.get_mut(&self.number).filter(|_| !full) else {
            return;
        };
        if !matches!(open.standing, Standing::Unauthenticated) {
            return;
        }
        open.standing = Standing::Callers(agent.0.clone(), agent.1.clone());
        state.unauthenticated -= 1;
        state.of_callers += 1;
        *state.by_agent.entry(agent).or_default() += 1;
    }
}

/// Notes that a request's caller was recognised.
pub fn recognised(request: &Extensions, caller: &Caller) {
    if let Some(mark) = request.get::<Mark>() {
        mark.recognised(caller);
    }
}

/// Those who have an address of version 6 have the whole network that it is in.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) if !six.is_loopback() => {
            let mut octets = six.octets();
            octets[8..].fill(0);
            IpAddr::from(octets)
        }
        other => other,
    }
}

/// How many connections the process may have: each is an open file, and so are others. The system's
/// limit is raised as far as that allows.
#[cfg(unix)]
pub fn most() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = (limits::HTTP_CONNECTIONS + OTHER_FILES) as u64;
    let now = getrlimit(Resource::Nofile);
    let current = now.current.unwrap_or(u64::MAX);
    let mut files = current;
    if current < wanted {
        let raised = now.maximum.unwrap_or(u64::MAX).min(wanted);
        let limit = Rlimit {
            current: Some(raised),
            maximum: now.maximum,
        };
        if raised > current && setrlimit(Resource::Nofile, limit).is_ok() {
            files = raised;
        }
    }
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    let others = OTHER_FILES.min(files / 2);
    (files - others).min(limits::HTTP_CONNECTIONS)
}

#[cfg(not(unix))]
pub fn most() -> usize {
    limits::HTTP_CONNECTIONS
}

#[cfg(test)]
mod tests {
    use understory_model::Role;

    use super::*;

    fn caller(agent: &str) -> Caller {
        Caller {
            workspace: "w".into(),
            origin: None,
            agent: agent.into(),
            session: "s".into(),
            role: Role::Worker,
            project: "default".into(),
            via: understory_model::Via::Token,
        }
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[tokio::test]
    async fn the_oldest_unauthenticated_makes_room_and_callers_stay() {
        let connections = Connections::new(16);
        let here = address("127.0.0.1");
        let known = connections.enter(here).await.unwrap();
        known.mark().recognised(&caller("ada"));
        let mut held = Vec::new();
        for _ in 0..8 {
            held.push(connections.enter(here).await.unwrap());
        }
        assert!(held.iter().all(|place| !place.close.is_cancelled()));
        let next = connections.enter(here).await.unwrap();
        assert!(held[0].close.is_cancelled(), "the oldest");
        assert!(held[1..].iter().all(|place| !place.close.is_cancelled()));
        assert!(!known.close.is_cancelled() && !next.close.is_cancelled());
        drop((known, held, next));
        let state = connections.state();
        assert_eq!((state.unauthenticated, state.of_callers), (0, 0));
        assert!(state.open.is_empty() && state.by_network.is_empty() && state.by_agent.is_empty());
    }

    #[tokio::test]
    async fn whoever_holds_most_loses_first() {
        let connections = Connections::new(16);
        let first = connections.enter(address("10.0.0.1")).await.unwrap();
        let mut held = Vec::new();
        for _ in 0..7 {
            held.push(connections.enter(address("10.0.0.2")).await.unwrap());
        }
        let _next = connections.enter(address("10.0.0.1")).await.unwrap();
        assert!(!first.close.is_cancelled() && held[0].close.is_cancelled());
    }

    #[tokio::test]
    async fn callers_never_have_every_place() {
        let connections = Connections::new(16);
        let here = address("127.0.0.1");
        let mut held = Vec::new();
        for agent in 0..16 {
            let place = connections.enter(here).await.unwrap();
            place.mark().recognised(&caller(&agent.to_string()));
            held.push(place);
        }
        assert_eq!(connections.state().of_callers, 14);
        // All places are taken; one of the unauthenticated connections is closed, and gives its own.
        let entering = {
            let connections = Arc::clone(&connections);
            tokio::spawn(async move { connections.enter(here).await.is_some() })
        };
        held[14].closed().await;
        held.remove(14);
        assert!(entering.await.unwrap());
    }

    #[tokio::test]
    async fn an_address_elsewhere_has_a_limit() {
        let connections = Connections::new(limits::HTTP_CONNECTIONS_PER_ADDRESS * 4);
        let mut held = Vec::new();
        for at in 0..limits::HTTP_CONNECTIONS_PER_ADDRESS {
            let six = address(&format!("2001:db8::{:x}", at + 1));
            held.push(connections.enter(six).await.unwrap());
        }
        assert!(connections.enter(address("2001:db8::1")).await.is_none());
        assert!(
            connections
                .enter(address("2001:db8:0:1::1"))
                .await
                .is_some()
        );
        assert!(connections.enter(address("::1")).await.is_some());
    }

    #[tokio::test]
    async fn a_mark_outlives_its_connection() {
        let connections = Connections::new(16);
        let place = connections.enter(address("::1")).await.unwrap();
        let mark = place.mark();
        drop(place);
        mark.recognised(&caller("ada"));
        assert_eq!(connections.state().of_callers, 0);
    }
}
