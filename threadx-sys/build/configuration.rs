//! How the kernel is configured: by what its headers really define, which is a `tx_user.h`, the port's
//! header and the compiler's flags together.

use std::{collections::HashMap, path::PathBuf};

use crate::{
    Failure,
    bindings::Bound,
    compiler::Compiler,
    generated::{Generated, MINIMUM_STACK, users_own},
};

/// Options that this crate, `threadx` or a board cannot do with, and why.
const REFUSED: &[(&str, &str)] = &[
    ("TX_DISABLE_NOTIFY_CALLBACKS", "the end of a thread is known by its entry/exit notification"),
    ("TX_NO_TIMER", "sleeping, timers and waits with a limit need the tick"),
    ("TX_NOT_INTERRUPTABLE", "sections without preemption are counted by services that can be interrupted"),
    ("TX_TIMER_PROCESS_IN_ISR", "a timer's closure runs in a thread, with that thread's stack"),
    ("TX_DISABLE_PREEMPTION_THRESHOLD", "threads are created with preemption-thresholds"),
    ("TX_DISABLE_STACK_FILLING", "a stack's high-water mark is where the fill pattern ends"),
    ("TX_ENABLE_RANDOM_NUMBER_STACK_FILLING", "a stack's high-water mark is where the one fill pattern ends"),
    ("TX_ENABLE_FIQ_SUPPORT", "FIQ belongs to nobody: the board masks and unmasks IRQ only"),
    ("TX_ENABLE_IRQ_NESTING", "the board nests interrupts itself"),
    ("TX_ENABLE_EXECUTION_CHANGE_NOTIFY", "nobody defines the functions that it calls"),
    ("TX_EXECUTION_PROFILE_ENABLE", "nobody defines the functions that it calls"),
];

pub type Macros = HashMap<String, String>;

/// What the headers define, if this crate can work with it.
pub fn check(compiler: &Compiler, include: &[PathBuf], generated: &Generated) -> Result<Macros, Failure> {
    let macros = compiler.macros(include, &generated.configuration)?;
    compiler.watch(include, &generated.configuration, &generated.out);
    for (name, why) in REFUSED {
        if macros.contains_key(*name) {
            return Err(refuse(&format!("{name} is defined, but {why}")));
        }
    }
    // The port's assembly saves floating-point registers where this is defined.
    if !macros.contains_key("TX_ENABLE_VFP_SUPPORT") {
        return Err(refuse("TX_ENABLE_VFP_SUPPORT is not defined, but hard-float code uses floating point anywhere"));
    }
    Ok(macros)
}

fn refuse(what: &str) -> Failure {
    let whose = users_own().map_or_else(|| String::from("CFLAGS"), |path| path.display().to_string());
    format!("this configuration does not fit: {what} (look into {whose})")
}

/// The configuration in words, for a banner, with the keys that the bundled kernel has.
pub fn describe(macros: &Macros, bound: &Bound, optimisation: &str) -> Result<String, Failure> {
    if bound.minimum_stack < u64::from(MINIMUM_STACK) {
        return Err(refuse(&format!(
            "TX_MINIMUM_STACK is {}, but an interrupted thread's registers alone take up to {MINIMUM_STACK} bytes",
            bound.minimum_stack
        )));
    }
    if !(1..=10_000).contains(&bound.tick) {
        return Err(refuse(&format!("TX_TIMER_TICKS_PER_SECOND is {}, not 1 to 10000", bound.tick)));
    }
    let defined = |name: &str| macros.contains_key(name);
    let on_off = |on: bool| if on { "on" } else { "off" };
    let search = macros.get("TX_LOWEST_SET_BIT_CALCULATE").map(|text| text.to_lowercase());
    let counted = match macros.keys().filter(|name| name.ends_with("_ENABLE_PERFORMANCE_INFO")).count() {
        0 => "off",
        8 => "on",
        _ => "in part",
    };
    if defined("TX_ENABLE_STACK_CHECKING") {
        println!("cargo::rustc-cfg=threadx_stack_checking");
    }
    Ok([
        format!("error checking {}", on_off(!defined("TX_DISABLE_ERROR_CHECKING"))),
        format!("stack checking {}", on_off(defined("TX_ENABLE_STACK_CHECKING"))),
        format!("tick {} Hz", bound.tick),
        format!("ready search {}", if search.is_some_and(|text| text.contains("clz")) { "clz" } else { "loop" }),
        format!("floating point {}", on_off(defined("TX_ENABLE_VFP_SUPPORT"))),
        format!("notify callbacks {}", on_off(!defined("TX_DISABLE_NOTIFY_CALLBACKS"))),
        format!("timers in {}", if defined("TX_TIMER_PROCESS_IN_ISR") { "interrupt" } else { "thread" }),
        format!("inline suspension {}", on_off(defined("TX_INLINE_THREAD_RESUME_SUSPEND"))),
        format!("performance info {counted}"),
        format!("trace {}", on_off(defined("TX_ENABLE_EVENT_TRACE"))),
        format!("optimisation {optimisation}"),
    ]
    .join(", "))
}
