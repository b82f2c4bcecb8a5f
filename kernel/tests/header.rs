//! The C header of the kernel, `include/tx_api.h`: made from the Rust sources, and checked against them
//! here. After a change of a service, a constant or a control block:
//!
//! ```text
//! UPDATE_HEADER=1 cargo test -p kernel --test header
//! ```

use std::fmt::Write as _;
use std::path::Path;

use kernel::c_header::BLOCKS;

const SERVICES: &str = concat!(
    include_str!("../src/c_api.rs"),
    include_str!("../src/c_api/objects.rs"),
    include_str!("../src/c_api/performance.rs"),
    include_str!("../src/c_api/trace.rs")
);
const TYPES: &str = include_str!("../src/types.rs");

/// Entry points with another documented name than theirs without the underscore.
const RENAMED: &[(&str, &str)] =
    &[("_tx_initialize_kernel_enter", "tx_kernel_enter"), ("_tx_thread_interrupt_control", "tx_interrupt_control")];
/// Entry points that are no services of the documented API.
const INTERNAL: &[&str] = &["_tx_timer_interrupt"];
/// Constants that the preprocessor has to be able to compare.
const PLAIN: &[&str] = &["TX_MAX_PRIORITIES", "TX_MINIMUM_STACK"];

/// Constants that only C code has a use for: sizes of messages, and states of threads that the kernel
/// never gives.
const FOR_C: &[(&str, u32)] = &[
    ("TX_1_ULONG", 1),
    ("TX_2_ULONG", 2),
    ("TX_4_ULONG", 4),
    ("TX_8_ULONG", 8),
    ("TX_16_ULONG", 16),
    ("TX_IO_DRIVER", 10),
    ("TX_FILE", 11),
    ("TX_TCP_IP", 12),
    ("TX_PRIORITY_CHANGE", 14),
    ("TX_LOOP_FOREVER", 1),
    ("TX_NO_SUSPENSIONS", 0),
    ("TX_NO_MESSAGES", 0),
];
/// More of them: what an empty list and an object that does not exist hold, and events of the trace.
const FOR_C_LONG: &[(&str, u32)] = &[
    ("TX_EMPTY", 0),
    ("TX_CLEAR_ID", 0),
    ("TX_TRACE_ALL_EVENTS", 0x7ff),
    ("TX_TRACE_INTERNAL_EVENTS", 0x1),
    ("TX_TRACE_BLOCK_POOL_EVENTS", 0x2),
    ("TX_TRACE_BYTE_POOL_EVENTS", 0x4),
    ("TX_TRACE_EVENT_FLAGS_EVENTS", 0x8),
    ("TX_TRACE_INTERRUPT_CONTROL_EVENT", 0x10),
    ("TX_TRACE_MUTEX_EVENTS", 0x20),
    ("TX_TRACE_QUEUE_EVENTS", 0x40),
    ("TX_TRACE_SEMAPHORE_EVENTS", 0x80),
    ("TX_TRACE_THREAD_EVENTS", 0x100),
    ("TX_TRACE_TIME_EVENTS", 0x200),
    ("TX_TRACE_TIMER_EVENTS", 0x400),
    ("TX_TRACE_USER_EVENTS", 0x8000_0000),
    ("TX_TRACE_USER_EVENT_START", 4096),
    ("TX_TRACE_USER_EVENT_END", 65535),
];
/// A function-like one.
const UNUSED: &str = "#ifndef TX_PARAMETER_NOT_USED\n#define TX_PARAMETER_NOT_USED(p) ((void) (p))\n#endif\n";

struct Service {
    name: String,
    /// C parameters.
    parameters: Vec<String>,
    result: String,
}

/// The text between the first bracket of `text` and its partner, and what follows.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let start = text.find('(')?;
    let mut depth = 0;
    for (at, c) in text[start..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[start + 1..start + at], &text[start + at + 1..]));
        }
    }
    None
}

/// `name: Type` of Rust as a C declaration.
fn declaration(name: &str, ty: &str) -> String {
    let ty = ty.trim();
    if let Some(callback) = ty.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
        let definition = format!("pub type {callback} = unsafe extern \"C-unwind\" fn");
        let at = TYPES.find(&definition).unwrap_or_else(|| panic!("no type {callback} in types.rs"));
        let (arguments, _) = bracketed(&TYPES[at + definition.len()..]).unwrap();
        let arguments: Vec<String> =
            arguments.split(", ").enumerate().map(|(n, ty)| declaration(&format!("a{}", n + 1), ty)).collect();
        let arguments = arguments.join(", ");
        return format!("VOID (*{name})({arguments})");
    }
    let mut stars = String::new();
    let mut ty = ty;
    while let Some(rest) = ty.strip_prefix("*mut ").or(ty.strip_prefix("*const ")) {
        stars.push('*');
        ty = rest.trim();
    }
    let ty = ty.trim_start_matches("crate::");
    assert!(ty.chars().all(|c| c.is_ascii_uppercase() || c == '_'), "this test does not know the type {ty}");
    format!("{ty} {stars}{name}")
}

fn services() -> Vec<Service> {
    let mut found: Vec<Service> = Vec::new();
    for (at, _) in SERVICES.match_indices("fn _tx") {
        let text = &SERVICES[at + 3..];
        let name = &text[..text.find('(').unwrap()];
        if found.iter().any(|service| service.name == name) {
            continue;
        }
        let (parameters, rest) = bracketed(text).unwrap();
        let parameters = parameters
            .split(',')
            .filter_map(|parameter| parameter.trim().split_once(':'))
            .map(|(name, ty)| declaration(name.trim().trim_start_matches('_'), ty))
            .collect();
        let rest = rest.trim_start();
        let result = match rest.strip_prefix("->") {
            Some(rest) => declaration("", &rest[..rest.find(['{', ';']).unwrap()]).trim_end().to_owned(),
            None => String::from("VOID"),
        };
        found.push(Service { name: name.to_owned(), parameters, result });
    }
    found
}

/// `NAME = value, "doc";` inside `constants! { TYPE: ... }`.
fn constants() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let mut found = Vec::new();
    for block in TYPES.split("constants! {").skip(1) {
        let (ty, block) = block.split_once(':').unwrap();
        for line in block[..block.find("\n}").unwrap()].lines() {
            let Some((name, rest)) = line.trim().split_once(" = ") else { continue };
            let (value, doc) = rest.split_once(", \"").unwrap();
            found.push((ty.trim(), name, value, doc.trim_end_matches("\";")));
        }
    }
    found
}

fn header() -> String {
    let mut text = String::from(
        "/* The C API of the bundled kernel. Made by kernel/tests/header.rs, which also checks it: do not edit. */\n\n\
         #ifndef TX_API_H\n#define TX_API_H\n\n\
         #if defined(TX_INCLUDE_USER_DEFINE_FILE) && defined(__has_include)\n#if __has_include(\"tx_user.h\")\n\
         #include \"tx_user.h\"\n#endif\n#endif\n\n\
         #if defined(__has_include)\n#if __has_include(<stdlib.h>) && __has_include(<string.h>)\n\
         #include <stdlib.h>\n#include <string.h>\n#endif\n#endif\n\n\
         #ifdef __cplusplus\nextern \"C\" {\n#endif\n\n\
         #define VOID void\ntypedef char CHAR;\ntypedef unsigned char UCHAR;\ntypedef int INT;\ntypedef unsigned int UINT;\n\
         typedef long LONG;\ntypedef unsigned long ULONG;\ntypedef short SHORT;\ntypedef unsigned short USHORT;\n\
         typedef unsigned long long ULONG64;\n\n\
         #if !defined(__arm__) || __SIZEOF_LONG__ != 4\n\
         #error \"the bundled kernel's control blocks have the sizes below on 32-bit Arm only\"\n#endif\n\n\
         /* Control blocks: the memory is the application's, what is in it the kernel's. They are larger where the\n\
         \x20  kernel has its feature performance-info, which threadx-sys tells C code by TX_KERNEL_PERFORMANCE_INFO. */\n\
         #ifdef TX_KERNEL_PERFORMANCE_INFO\n#define TX_KERNEL_BLOCK(plain, counting) (counting)\n\
         #else\n#define TX_KERNEL_BLOCK(plain, counting) (plain)\n#endif\n",
    );
    for (name, word, count, counting) in BLOCKS {
        let _ = writeln!(
            text,
            "typedef struct {name}_STRUCT {{ {word} tx_reserved[TX_KERNEL_BLOCK({count}, {counting})]; }} {name};"
        );
    }
    text += "\n/* Constants. */\n#define TX_NULL ((void *) 0)\n";
    for (ty, name, value, doc) in constants() {
        let value = value.replace('_', "");
        let value = if PLAIN.contains(&name) { value } else { format!("(({ty}) {value})") };
        let _ = writeln!(text, "#define {name} {value} /* {doc} */");
    }
    for (name, value) in FOR_C {
        let _ = writeln!(text, "#define {name} ((UINT) {value})");
    }
    for (name, value) in FOR_C_LONG {
        let _ = writeln!(text, "#define {name} ((ULONG) {value})");
    }
    text += UNUSED;
    text += "#ifndef TX_TIMER_TICKS_PER_SECOND\n#define TX_TIMER_TICKS_PER_SECOND ((ULONG) 100)\n#endif\n";

    text += "\n/* The application's part: called once, before the first thread runs. */\n\
             VOID tx_application_define(VOID *first_unused_memory);\n\n/* Entry points. */\n";
    let services = services();
    for Service { name, parameters, result } in &services {
        let parameters = if parameters.is_empty() { String::from("VOID") } else { parameters.join(", ") };
        let space = if result.ends_with('*') { "" } else { " " };
        let _ = writeln!(text, "{result}{space}{name}({parameters});");
    }

    text += "\n/* Their documented names. TX_DISABLE_ERROR_CHECKING leaves out the checks. */\n";
    let (mut unchecked, mut checked, mut plain) = (String::new(), String::new(), String::new());
    for Service { name, .. } in services.iter().filter(|service| service.name.starts_with("_tx_")) {
        if INTERNAL.contains(&name.as_str()) {
            continue;
        }
        let documented =
            RENAMED.iter().find(|(entry, _)| entry == name).map_or(&name[1..], |(_, documented)| documented);
        let checking = services.iter().find(|service| service.name == name.replacen("_tx_", "_txe_", 1));
        let Some(checking) = checking else {
            let _ = writeln!(plain, "#define {documented} {name}");
            continue;
        };
        let _ = writeln!(unchecked, "#define {documented} {name}");
        match checking.parameters.last().filter(|last| last.ends_with("_control_block_size")) {
            // The checked create services want to know the size that the application reserved.
            Some(_) => {
                let (object, _) = checking.parameters[0].split_once(' ').unwrap();
                let arguments: Vec<String> = (1..checking.parameters.len()).map(|n| format!("a{n}")).collect();
                let passed: Vec<String> = arguments.iter().map(|a| format!("({a})")).collect();
                let _ = writeln!(
                    checked,
                    "#define {documented}({}) {}({}, sizeof({object}))",
                    arguments.join(", "),
                    checking.name,
                    passed.join(", ")
                );
            }
            None => {
                let _ = writeln!(checked, "#define {documented} {}", checking.name);
            }
        }
    }
    text + &plain
        + "#ifdef TX_DISABLE_ERROR_CHECKING\n"
        + &unchecked
        + "#else\n"
        + &checked
        + "#endif\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"
}

#[test]
fn the_header_is_what_the_sources_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/tx_api.h");
    let expected = header();
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    let line = there.lines().zip(expected.lines()).position(|(a, b)| a != b);
    assert!(
        there == expected,
        "include/tx_api.h is not up to date, first difference in line {}: run UPDATE_HEADER=1 cargo test -p kernel --test header",
        line.map_or_else(|| there.lines().count().min(expected.lines().count()) + 1, |line| line + 1)
    );
}

#[test]
fn everything_is_in_it() {
    let header = header();
    assert!(header.contains("#define tx_byte_pool_create(a1, a2, a3, a4) _txe_byte_pool_create((a1), (a2), (a3), (a4), sizeof(TX_BYTE_POOL))"));
    for name in [
        "tx_kernel_enter",
        "tx_thread_create",
        "tx_thread_relinquish",
        "tx_semaphore_get",
        "tx_timer_change",
        "tx_time_get",
    ] {
        assert!(header.contains(&format!("#define {name}")), "{name}");
    }
    assert!(services().len() > 50 && constants().len() > 40);
    assert!(header.contains("#define TX_WAIT_FOREVER ((ULONG) 0xFFFFFFFF)"));
    assert!(header.contains("UINT _tx_thread_sleep(ULONG timer_ticks);"));
    assert!(header.contains("TX_THREAD *_tx_thread_identify(VOID);"));
}
