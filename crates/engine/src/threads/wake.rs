//! Jobs of waking somebody, and what ends them.

use serde_json::Value;
use understory_model::Id;
use understory_model::error::Result;
use understory_model::thread::WakeResult;
use understory_storage::threads;

use crate::Work;
use crate::kernel::work::Edit;

/// Somebody has read up to a message: what was to wake it for that is done.
pub fn has_read(work: &mut Work<'_, '_>, thread: Id, read: i64) -> Result<()> {
    let ws = work.ws();
    for id in threads::open_wakes(work.tx, ws, thread, &work.caller.agent)? {
        let data = &work.thing(id)?.data;
        let up_to = data.get("up_to").and_then(Value::as_i64);
        if read >= up_to.unwrap_or_default() {
            end(work, id, WakeResult::Read)?;
        }
    }
    Ok(())
}

/// A thread is closed: nobody has to be woken for it.
pub fn not_needed(work: &mut Work<'_, '_>, thread: Id) -> Result<()> {
    let ws = work.ws();
    for id in threads::all_open_wakes(work.tx, ws, thread)? {
        end(work, id, WakeResult::NotNeeded)?;
    }
    Ok(())
}

/// Ends a job with what came of it.
fn end(work: &mut Work<'_, '_>, id: Id, result: WakeResult) -> Result<()> {
    let mut data = work.thing(id)?.data.clone();
    data.insert("result".into(), result.as_str().into());
    let edit = Edit {
        action: result.as_str(),
        data: Some(data),
        ..Edit::default()
    };
    work.change(id, edit).map(drop)
}
