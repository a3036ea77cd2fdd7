//! The check-up for those who look at the pages of a server. It tries nothing out: it makes no file and asks
//! no other machine, and what reads the whole store is left to a proof.

use understory_engine::kernel::clock::{Clock as _, System};
use understory_page::Finding;

use super::{Check, Verdict, clock, fail, folder_of, permissions, quotas, room, warn, workspace};
use crate::config::{Settings, Surroundings};
use crate::http::care::Examine;

pub fn without_a_trace(settings: Settings, around: &Surroundings) -> Examine {
    let around = Surroundings {
        env: Box::new(|name| std::env::var_os(name)),
        folder: around.folder.clone(),
        home: around.home.clone(),
        config_dir: around.config_dir.clone(),
        data_dir: around.data_dir.clone(),
    };
    Box::new(move |engine, caller| {
        let ignored = settings.ignored.iter();
        let mut checks: Vec<Check> = ignored
            .map(|one| warn("settings", one.to_string(), one.advice()))
            .collect();
        checks.extend(folder_of(&settings).and_then(room));
        checks.extend(permissions::check(&settings, &around, false));
        checks.extend(quotas(engine, caller));
        match engine.state() {
            Ok(Some(state)) => {
                checks.push(workspace(engine, caller, &state));
                checks.push(clock(System.now(), Some(&state)));
            }
            Ok(None) => checks.push(clock(System.now(), None)),
            Err(fault) => checks.push(fail("store", &fault)),
        }
        checks.into_iter().map(shown).collect()
    })
}

fn shown(check: Check) -> Finding {
    Finding {
        check: check.name.to_owned(),
        verdict: match check.verdict {
            Verdict::Ok => understory_page::Verdict::Ok,
            Verdict::Warn => understory_page::Verdict::Warn,
            Verdict::Fail => understory_page::Verdict::Fail,
        },
        found: check.found,
        advice: check.advice,
    }
}
