//! One call of a tool: who calls, with which common arguments, and the two ways to the engine.
//!
//! The arguments that many tools take and none reads itself (`idempotency_key`, `caused_by`,
//! `max_chars`) are taken off here, once. A tool sees its own `Input`, and answers its own `Output`.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use understory_engine::{Engine, Request, View, Work};
use understory_model::answer::{self, Answer, Fit, Written};
use understory_model::budget::Budget;
use understory_model::{Caller, Fault};

use crate::args::decode;
use crate::tool::{CAUSED_BY, Common, Context, Tool, request};

/// What a tool has at hand while it runs.
pub struct Call<'a> {
    pub engine: &'a Engine,
    pub caller: &'a Caller,
    pub request_id: &'a str,
    /// How large the answer may be.
    pub budget: Budget,
    /// `max_chars`, if the caller named one.
    max_chars: Option<i64>,
    request: Request,
}

impl<'a> Call<'a> {
    /// Takes the common arguments off the others: those that the tool declares, and `caused_by`.
    pub(crate) fn new(context: &Context<'a>, tool: &Tool, args: &mut Value) -> Call<'a> {
        let request = request(tool.name, args);
        take(args, CAUSED_BY);
        let mut declared = |common: Common| {
            let found = tool.takes.contains(&common).then_some(common.name())?;
            take(args, found)
        };
        declared(Common::Key);
        let mut count = |common: Common| declared(common)?.as_i64();
        let max_chars = count(Common::MaxChars);
        let budget = Budget::new(max_chars, count(Common::MaxBytes), count(Common::MaxLines));
        Call {
            engine: context.engine,
            caller: context.caller,
            request_id: context.request_id,
            budget,
            max_chars,
            request,
        }
    }

    /// How large the answer may be, for a tool with a default of its own.
    pub fn budget_or(&self, chars: i64) -> Budget {
        match self.max_chars {
            Some(_) => self.budget,
            None => Budget::new(Some(chars), None, None),
        }
    }

    /// What makes two calls of this write the same.
    pub fn request(&self) -> Request {
        self.request.clone()
    }

    /// Reads from one snapshot, which has no rows before the workspace's first write.
    pub fn read<T>(
        &self,
        rule: impl FnOnce(&mut View<'_, '_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.engine.view(self.caller, rule)
    }

    /// As [`Call::read`], with the answer fitted into the caller's budget.
    pub fn read_fit<T: Fit>(
        &self,
        rule: impl FnOnce(&mut View<'_, '_>) -> Result<T, Fault>,
    ) -> Result<Answer<T>, Fault> {
        answer::fit(self.read(rule)?, &self.budget)
    }

    /// Writes in one transaction, and answers after its commit. The rule may run more than once.
    pub fn write<T, F>(&self, rule: F) -> Result<Answer<T>, Fault>
    where
        T: Serialize + Send + 'static,
        F: Fn(&mut Work<'_, '_>) -> Result<T, Fault> + Send + 'static,
    {
        self.engine.write(self.caller, self.request(), rule)
    }

    /// As [`Call::write`], with the answer fitted into the caller's budget, as a retry gets it too.
    pub fn write_fit<T, F>(&self, rule: F) -> Result<Answer<T>, Fault>
    where
        T: Fit + Send + 'static,
        F: Fn(&mut Work<'_, '_>) -> Result<T, Fault> + Send + 'static,
    {
        let budget = self.budget;
        let answer = self.write(move |work| answer::fit(rule(work)?, &budget))?;
        Ok(answer.flatten())
    }
}

/// Takes the common arguments of a waiting call off the others; its answer has this budget.
pub(crate) fn take_common(args: &mut Value) -> Budget {
    take(args, CAUSED_BY);
    let chars = take(args, Common::MaxChars.name());
    Budget::new(chars.as_ref().and_then(Value::as_i64), None, None)
}

fn take(args: &mut Value, name: &str) -> Option<Value> {
    args.as_object_mut()?.remove(name)
}

/// Runs a tool on its own types.
pub(crate) fn typed<I: DeserializeOwned, O: Serialize>(
    call: &Call<'_>,
    args: Value,
    run: fn(&Call<'_>, I) -> Result<Answer<O>, Fault>,
) -> Result<Written, Fault> {
    run(call, decode(args)?)?.written()
}
