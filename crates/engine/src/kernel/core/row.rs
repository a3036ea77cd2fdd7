//! How each cached row is loaded and written.

use understory_model::error::{Code, Fault, Result};
use understory_model::{Id, Ws};
use understory_storage::Tx;
use understory_storage::entities::{self, Entity};
use understory_storage::nodes::{self, Node};
use understory_storage::projects::{self, Project};
use understory_storage::records::{self, Record};
use understory_storage::sessions::{self, Session};

use crate::kernel::core::Thing;
use crate::kernel::core::table::Row;

impl Row for Node {
    const NAME: &'static str = "node";

    fn id(&self) -> Id {
        self.id
    }

    fn load(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Option<Node>> {
        nodes::get(tx, ws, id)
    }

    fn insert(tx: &mut Tx<'_>, ws: Ws, rows: &[&Node]) -> Result<()> {
        nodes::insert(tx, ws, rows)
    }

    fn update(tx: &mut Tx<'_>, ws: Ws, row: &Node) -> Result<()> {
        nodes::update(tx, ws, row)
    }

    fn delete(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<()> {
        nodes::delete(tx, ws, id)
    }
}

impl Row for Project {
    const NAME: &'static str = "project";

    fn id(&self) -> Id {
        self.id
    }

    fn load(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Option<Project>> {
        projects::get(tx, ws, id)
    }

    fn insert(tx: &mut Tx<'_>, ws: Ws, rows: &[&Project]) -> Result<()> {
        rows.iter().try_for_each(|row| projects::put(tx, ws, row))
    }

    fn update(tx: &mut Tx<'_>, ws: Ws, row: &Project) -> Result<()> {
        projects::put(tx, ws, row)
    }
}

impl Row for Record {
    const NAME: &'static str = "record";

    fn id(&self) -> Id {
        self.id
    }

    fn load(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Option<Record>> {
        records::get(tx, ws, id)
    }

    fn insert(tx: &mut Tx<'_>, ws: Ws, rows: &[&Record]) -> Result<()> {
        records::insert(tx, ws, rows)
    }

    fn update(tx: &mut Tx<'_>, ws: Ws, row: &Record) -> Result<()> {
        records::update(tx, ws, row)
    }
}

impl Row for Session {
    const NAME: &'static str = "session";

    fn id(&self) -> Id {
        self.id
    }

    fn load(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Option<Session>> {
        sessions::get(tx, ws, id)
    }

    fn insert(tx: &mut Tx<'_>, ws: Ws, rows: &[&Session]) -> Result<()> {
        rows.iter().try_for_each(|row| sessions::put(tx, ws, row))
    }

    fn update(tx: &mut Tx<'_>, ws: Ws, row: &Session) -> Result<()> {
        sessions::put(tx, ws, row)
    }
}

impl Row for Thing {
    const NAME: &'static str = "entity";

    fn id(&self) -> Id {
        self.entity.id
    }

    fn load(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Option<Thing>> {
        entities::get(tx, ws, id)?.map(Thing::open).transpose()
    }

    fn insert(tx: &mut Tx<'_>, ws: Ws, rows: &[&Thing]) -> Result<()> {
        let closed = rows.iter().map(|row| closed(row));
        let closed = closed.collect::<Result<Vec<Entity>>>()?;
        entities::insert(tx, ws, &closed.iter().collect::<Vec<_>>())
    }

    fn update(tx: &mut Tx<'_>, ws: Ws, row: &Thing) -> Result<()> {
        entities::update(tx, ws, &closed(row)?)
    }
}

/// The entity with its value as it is stored.
fn closed(thing: &Thing) -> Result<Entity> {
    let mut entity = thing.entity.clone();
    entity.data = serde_json::to_string(&thing.data)
        .map_err(|_| Fault::new(Code::Internal, "a value could not be written as JSON"))?;
    Ok(entity)
}
