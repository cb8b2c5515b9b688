//! The built-in JavaScript interpreter behind the protocol: QuickJS, without files, network and packages.
//!
//! Each call has an interpreter of its own. A script defines `main`, or exports it in one of the ways that people write:
//! `module.exports = { main }`, `exports.main`, `export function main`, `export default`.

use std::cell::RefCell;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use easel_core::Value;
use rquickjs::function::Rest;
use rquickjs::{
    CatchResultExt as _, CaughtError, Context, Ctx, Function, Module, Object, Promise, Runtime,
};

use super::serve::Interpreter;
use crate::protocol::{Call, Failure, FailureKind, Opening, Reply};

/// Stack that scripts may use: some thousand calls.
const STACK: usize = 4 << 20;

/// What a script finds beside the language.
const PRELUDE: &str = include_str!("javascript/prelude.js");

/// Runs scripts.
pub(super) struct JavaScript(Opening);

/// What was printed, cut to its limit.
#[derive(Default)]
struct Printed {
    kept: String,
    most: usize,
    dropped: u64,
}

impl Printed {
    fn push(&mut self, text: &str) {
        let room = self.most.saturating_sub(self.kept.len());
        let kept = match self.dropped {
            0 => text.floor_char_boundary(room.min(text.len())),
            _ => 0,
        };
        self.kept.push_str(text.get(..kept).unwrap_or_default());
        self.dropped += (text.len() - kept) as u64;
    }
}

impl Interpreter for JavaScript {
    fn open(opening: Opening) -> JavaScript {
        JavaScript(opening)
    }

    fn call(&mut self, call: &Call) -> Reply {
        let printed = Rc::new(RefCell::new(Printed {
            most: call.printed,
            ..Printed::default()
        }));
        let mut reply = match self.run(call, &printed) {
            Ok(value) => Reply {
                value,
                ..Reply::default()
            },
            Err(failure) => Reply {
                failure: Some(failure),
                ..Reply::default()
            },
        };
        let printed = printed.borrow();
        reply.printed.clone_from(&printed.kept);
        reply.dropped = printed.dropped;
        reply
    }
}

impl JavaScript {
    fn run(&self, call: &Call, printed: &Rc<RefCell<Printed>>) -> Result<Value, Failure> {
        let deadline = Instant::now() + Duration::from_millis(call.time);
        let text = call.file.as_ref().and_then(|file| self.0.files.get(file));
        let script = text.map(|text| &**text).unwrap_or_default();
        let began = runtime(self.0.memory, deadline).and_then(|runtime| Context::full(&runtime));
        let context = began.map_err(|error| plain(FailureKind::Memory, error.to_string()))?;
        context.with(|ctx| {
            let json = result(&ctx, script, call, printed, deadline)
                .catch(&ctx)
                .map_err(|caught| failure(&caught, deadline))?;
            let Some(json) = json else {
                return Err(plain(
                    FailureKind::Result,
                    "nothing: main() must return a value, null for an empty result".to_owned(),
                ));
            };
            if json.len() > call.result {
                return Err(plain(FailureKind::TooLarge, json.len().to_string()));
            }
            serde_json::from_str(&json)
                .map_err(|error| plain(FailureKind::Result, format!("what is no JSON ({error})")))
        })
    }
}

fn runtime(memory: u64, deadline: Instant) -> rquickjs::Result<Runtime> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(usize::try_from(memory).unwrap_or(usize::MAX));
    runtime.set_max_stack_size(STACK);
    runtime.set_interrupt_handler(Some(Box::new(move || Instant::now() >= deadline)));
    Ok(runtime)
}

/// What `main` returns, as JSON; `None` for what has none.
fn result<'js>(
    ctx: &Ctx<'js>,
    script: &str,
    call: &Call,
    printed: &Rc<RefCell<Printed>>,
    deadline: Instant,
) -> rquickjs::Result<Option<String>> {
    let print = printed.clone();
    let print = move |parts: Rest<String>| {
        for part in &*parts {
            print.borrow_mut().push(part);
        }
    };
    ctx.globals()
        .set("__print", Function::new(ctx.clone(), print)?)?;
    ctx.eval::<(), _>(PRELUDE)?;
    let timers = Timers::take(ctx)?;
    let main = main(ctx, script, &timers, deadline)?;
    let arguments = Value::from(call.arguments.clone()).to_json_text();
    let returned: rquickjs::Value<'js> = main.call((ctx.json_parse(arguments)?,))?;
    let returned = match Promise::from_value(returned.clone()) {
        Ok(promise) => settled(ctx, &promise, &timers, deadline)?,
        Err(_) => returned,
    };
    let json = ctx.json_stringify(returned)?;
    json.map(|json| json.to_string()).transpose()
}

/// `main` as the script gives it.
fn main<'js>(
    ctx: &Ctx<'js>,
    script: &str,
    timers: &Timers<'js>,
    deadline: Instant,
) -> rquickjs::Result<Function<'js>> {
    let exports = |line: &str| line.starts_with("export ") || line.starts_with("import ");
    if script.lines().any(|line| exports(line.trim_start())) {
        let module = Module::declare(ctx.clone(), "script.js", script)?;
        let (module, loaded) = module.eval()?;
        settled(ctx, &loaded, timers, deadline)?;
        for name in ["main", "default"] {
            if let Ok(main) = module.get::<_, Function<'js>>(name) {
                return Ok(main);
            }
        }
        return Err(no_main(ctx));
    }
    // On one line with the script, so that its lines keep their numbers.
    let wrapped = format!(
        "(function (module, exports, require) {{ {script}\n; \
         if (typeof main === \"function\") return main; \
         const given = module.exports; \
         return typeof given === \"function\" ? given : given && (given.main || given.default); }})"
    );
    let mut options = rquickjs::context::EvalOptions::default();
    options.strict = false;
    options.filename = Some("script.js".to_owned());
    let load: Function<'js> = ctx.eval_with_options(wrapped, options)?;
    let module = Object::new(ctx.clone())?;
    let exports = Object::new(ctx.clone())?;
    module.set("exports", exports.clone())?;
    let found: rquickjs::Value<'js> = load.call((module, exports, timers.require.clone()))?;
    found.into_function().ok_or_else(|| no_main(ctx))
}

fn no_main(ctx: &Ctx<'_>) -> rquickjs::Error {
    rquickjs::Exception::throw_type(ctx, "the script defines no function main")
}

/// What the prelude leaves to the host.
struct Timers<'js> {
    next: Function<'js>,
    fire: Function<'js>,
    require: Function<'js>,
}

impl<'js> Timers<'js> {
    fn take(ctx: &Ctx<'js>) -> rquickjs::Result<Timers<'js>> {
        let globals = ctx.globals();
        let take = |name: &str| {
            let function: Function<'js> = globals.get(name)?;
            globals.remove(name)?;
            Ok::<_, rquickjs::Error>(function)
        };
        Ok(Timers {
            next: take("__next")?,
            fire: take("__fire")?,
            require: take("__require")?,
        })
    }
}

/// What a promise comes to. Its jobs and timers are run meanwhile.
fn settled<'js>(
    ctx: &Ctx<'js>,
    promise: &Promise<'js>,
    timers: &Timers<'js>,
    deadline: Instant,
) -> rquickjs::Result<rquickjs::Value<'js>> {
    loop {
        if let Some(result) = promise.result() {
            return result;
        }
        if ctx.execute_pending_job() {
            continue;
        }
        let pause: f64 = timers.next.call(())?;
        if pause < 0.0 {
            let waits = "main() waits for something that never comes";
            return Err(rquickjs::Exception::throw_message(ctx, waits));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let pause = Duration::try_from_secs_f64(pause / 1000.0).unwrap_or(Duration::MAX);
        thread::sleep(pause.min(left));
        if pause >= left {
            return Err(rquickjs::Exception::throw_message(ctx, "interrupted"));
        }
        timers.fire.call::<_, ()>(())?;
    }
}

/// Why a script gave no result.
fn failure(caught: &CaughtError<'_>, deadline: Instant) -> Failure {
    if Instant::now() >= deadline {
        return plain(FailureKind::Time, String::new());
    }
    match caught {
        CaughtError::Exception(exception) => {
            let message = exception.message().unwrap_or_default();
            if message == "out of memory" {
                return plain(FailureKind::Memory, message);
            }
            let name = exception.as_object().get::<_, String>("name");
            let name = name.unwrap_or_else(|_| "Error".to_owned());
            let stack = exception.stack().unwrap_or_default();
            Failure {
                traceback: format!("{name}: {message}\n{}", stack.trim_end()),
                kind: FailureKind::Raised,
                exception: name,
                message,
                frames: Vec::new(),
            }
        }
        CaughtError::Value(value) => {
            let text = value.as_string().and_then(|text| text.to_string().ok());
            let text = text.unwrap_or_else(|| format!("a value of type {}", value.type_name()));
            Failure {
                traceback: format!("Uncaught {text}"),
                exception: "Thrown".to_owned(),
                ..plain(FailureKind::Raised, text)
            }
        }
        CaughtError::Error(error) => Failure {
            traceback: error.to_string(),
            exception: "Error".to_owned(),
            ..plain(FailureKind::Raised, error.to_string())
        },
    }
}

fn plain(kind: FailureKind, message: String) -> Failure {
    Failure {
        kind,
        exception: String::new(),
        message,
        frames: Vec::new(),
        traceback: String::new(),
    }
}
