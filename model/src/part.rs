//! Parameters of a part, from its TOML file: each with a unit and the source of the figure.
//!
//! Times are kept in hundredths of a core cycle, so that two decimals of a parameter are exact and a
//! sum never depends on the order of its terms.

use std::fmt::Write as _;

use serde::Deserialize;

/// Hundredths of a core cycle.
pub type Centi = u64;
/// One core cycle.
pub const CYCLE: Centi = 100;

/// Way to a memory, as the Cortex-R52 has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Port {
    /// Tightly coupled: never cached.
    Tcm,
    /// The flash interface (AXIF).
    Flash,
    /// The main interface (AXIM).
    Axim,
    /// Device registers: never cached.
    Device,
}

/// What a data cache does with stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Write {
    /// Every store goes to the memory; a miss allocates nothing; no line is ever dirty.
    Through,
    /// A hit makes the line dirty; a miss fills a line first.
    Back,
}

/// How the victim of a full set is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// The way used longest ago.
    Lru,
    /// One way after the other, whatever is used.
    RoundRobin,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Quantity {
    value: f64,
    unit: Option<String>,
    source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    value: String,
    source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    part: String,
    guest: GuestFile,
    pipeline: PipelineFile,
    instruction_cache: CacheFile,
    data_cache: CacheFile,
    memory: Vec<MemoryFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GuestFile {
    machine: String,
    console: u32,
    data_ccsidr: u32,
    instruction_ccsidr: u32,
    source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PipelineFile {
    fetch_group: Quantity,
    fetch_ahead: Quantity,
    fetch_rate: Quantity,
    queue: Quantity,
    issue: Quantity,
    result: Quantity,
    load_use: Quantity,
    store_to_load: Quantity,
    system_read: Quantity,
    mode_change: Quantity,
    branch: Quantity,
    mispredict: Quantity,
    exception: Quantity,
    store_buffer: Quantity,
    maintenance: Quantity,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CacheFile {
    size: Quantity,
    ways: Quantity,
    line: Quantity,
    replacement: Text,
    write: Option<Text>,
    flash_ways: Quantity,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemoryFile {
    name: String,
    base: u32,
    size: u32,
    plays: String,
    port: Port,
    source: Option<String>,
    clock_ratio: Quantity,
    wait_states: Quantity,
    fetch: Quantity,
    fetch_next: Quantity,
    read: Quantity,
    fill: Quantity,
    drain: Quantity,
    write_back: Quantity,
}

/// Costs of the core itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Bytes of a fetch group, a power of two.
    pub fetch_group: u32,
    /// Groups that are requested ahead of the one in use.
    pub fetch_ahead: usize,
    /// From one instruction leaving a fetched group to the next.
    pub fetch_rate: Centi,
    /// Instructions between fetch and issue.
    pub queue: usize,
    /// From one issue to the next.
    pub issue: Centi,
    /// From the issue of an arithmetic instruction to that of one which uses its result.
    pub result: Centi,
    /// The same for a load that hits.
    pub load_use: Centi,
    /// From a store to the issue of a load of the same doubleword.
    pub store_to_load: Centi,
    /// From a read of a system register or the status word to an instruction that uses it.
    pub system_read: Centi,
    /// CPS and MSR beyond the refetch that they cause.
    pub mode_change: Centi,
    /// From the fetch of a predicted branch to the request of its target.
    pub branch: Centi,
    /// From the issue of a branch that was predicted wrong to the request of its target.
    pub mispredict: Centi,
    /// From the last instruction before an exception to the request of the vector.
    pub exception: Centi,
    /// Doublewords that the store buffer holds.
    pub store_buffer: usize,
    /// One cache maintenance operation, without write-back.
    pub maintenance: Centi,
}

/// Shape and policy of a first-level cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheShape {
    /// Sets, a power of two.
    pub sets: u32,
    /// Ways, at most 8.
    pub ways: u32,
    /// Bytes of a line, a power of two.
    pub line: u32,
    /// Choice of the victim.
    pub replacement: Replacement,
    /// What stores do.
    pub write: Write,
    /// Ways that belong to the flash interface at reset; the rest belong to the main interface.
    pub flash_ways: u32,
}

/// A memory of the guest's machine and the memory of the part whose costs it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Name on the guest's machine.
    pub name: String,
    /// First address on the guest's machine.
    pub base: u32,
    /// Last address.
    pub last: u32,
    /// Name of the part's memory.
    pub plays: String,
    /// Way to it.
    pub port: Port,
    /// From the request of a fetch group to its arrival.
    pub fetch: Centi,
    /// From one group of a stream to the next.
    pub fetch_next: Centi,
    /// Uncached read beyond the load-use time.
    pub read: Centi,
    /// What a load waits for a line beyond the load-use time.
    pub fill: Centi,
    /// From one doubleword leaving the store buffer to the next.
    pub drain: Centi,
    /// Writing a dirty line back.
    pub write_back: Centi,
}

/// All parameters of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name of the part.
    pub name: String,
    /// Machine whose memories the file maps.
    pub machine: String,
    /// Address of the console's data register on that machine.
    pub console: u32,
    /// CCSIDR of the data cache as the guest's machine states it.
    pub data_ccsidr: u32,
    /// The same of the instruction cache.
    pub instruction_ccsidr: u32,
    /// Costs of the core.
    pub pipeline: Pipeline,
    /// The instruction cache.
    pub instruction: CacheShape,
    /// The data cache.
    pub data: CacheShape,
    /// Memories in ascending order, none overlaps another.
    pub memories: Vec<Memory>,
}

impl Part {
    /// Reads and checks the text of a TOML file.
    ///
    /// # Errors
    /// One line: what is wrong, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|e| {
            let line = e.span().map_or(0, |span| text[..span.start.min(text.len())].lines().count().max(1));
            format!("line {line}: {}", e.message().replace('\n', " "))
        })?;
        if file.schema != 1 {
            return Err(format!("schema {}: this model reads schema 1", file.schema));
        }
        source("guest", file.guest.source.as_deref())?;
        let p = &file.pipeline;
        let pipeline = Pipeline {
            fetch_group: power_of_two("pipeline.fetch_group", &p.fetch_group, "bytes", 4, 64)?,
            fetch_ahead: count("pipeline.fetch_ahead", &p.fetch_ahead, "groups", 1, 4)? as usize,
            fetch_rate: time("pipeline.fetch_rate", &p.fetch_rate, "cycles")?,
            queue: count("pipeline.queue", &p.queue, "instructions", 1, 32)? as usize,
            issue: time("pipeline.issue", &p.issue, "cycles")?,
            result: time("pipeline.result", &p.result, "cycles")?,
            load_use: time("pipeline.load_use", &p.load_use, "cycles")?,
            store_to_load: time("pipeline.store_to_load", &p.store_to_load, "cycles")?,
            system_read: time("pipeline.system_read", &p.system_read, "cycles")?,
            mode_change: time("pipeline.mode_change", &p.mode_change, "cycles")?,
            branch: time("pipeline.branch", &p.branch, "cycles")?,
            mispredict: time("pipeline.mispredict", &p.mispredict, "cycles")?,
            exception: time("pipeline.exception", &p.exception, "cycles")?,
            store_buffer: count("pipeline.store_buffer", &p.store_buffer, "doublewords", 1, 32)? as usize,
            maintenance: time("pipeline.maintenance", &p.maintenance, "cycles")?,
        };
        let instruction = shape("instruction_cache", &file.instruction_cache)?;
        let data = shape("data_cache", &file.data_cache)?;
        let mut memories = file.memory.iter().map(memory).collect::<Result<Vec<_>, _>>()?;
        if memories.is_empty() {
            return Err("no [[memory]]: nothing to model".into());
        }
        memories.sort_by_key(|m| m.base);
        for pair in memories.windows(2) {
            if pair[1].base <= pair[0].last {
                return Err(format!(
                    "memories {} and {} overlap at {:#010x}: correct base or size",
                    pair[0].name, pair[1].name, pair[1].base
                ));
            }
        }
        let part = Self {
            name: file.part,
            machine: file.guest.machine,
            console: file.guest.console,
            data_ccsidr: file.guest.data_ccsidr,
            instruction_ccsidr: file.guest.instruction_ccsidr,
            pipeline,
            instruction,
            data,
            memories,
        };
        part.agrees()?;
        Ok(part)
    }

    /// Refuses caches for which maintenance as the guest was told to do it would miss lines. By set and way
    /// that takes the same line, the same ways, and a multiple of the sets, of which the low bits choose the
    /// modelled one. The instruction cache has no such operation: there only the line counts.
    fn agrees(&self) -> Result<(), String> {
        for (table, ccsidr, shape, walked) in [
            ("data_cache", self.data_ccsidr, &self.data, true),
            ("instruction_cache", self.instruction_ccsidr, &self.instruction, false),
        ] {
            let (line, ways, sets) = (16 << (ccsidr & 7), (ccsidr >> 3 & 0x3ff) + 1, (ccsidr >> 13 & 0x7fff) + 1);
            let walk = ways == shape.ways && sets.is_multiple_of(shape.sets);
            if line != shape.line || (walked && !walk) {
                return Err(format!(
                    "{table}: the guest is told {sets} sets of {ways} ways of {line} bytes (CCSIDR {ccsidr:#010x}), the \
                     part has {} of {} of {}: cache maintenance would miss lines",
                    shape.sets, shape.ways, shape.line
                ));
            }
        }
        Ok(())
    }

    /// One line a memory: what stands for what.
    pub fn mapping(&self) -> Vec<String> {
        self.memories
            .iter()
            .map(|m| {
                let mut line = format!("{:#010x}..{:#010x} {} plays {}", m.base, m.last, m.name, m.plays);
                let port = match m.port {
                    Port::Tcm => "tightly coupled",
                    Port::Flash => "flash port",
                    Port::Axim => "main port",
                    Port::Device => "device",
                };
                let _ = write!(line, ", {port}");
                line
            })
            .collect()
    }
}

fn source(name: &str, source: Option<&str>) -> Result<(), String> {
    match source {
        Some(text) if !text.trim().is_empty() => Ok(()),
        _ => Err(format!(
            "{name} has no source: say where the figure is from (a manual's section, a pull request, \"fitted to ...\" or \"assumed: ...\")"
        )),
    }
}

fn value(name: &str, q: &Quantity, unit: &str) -> Result<f64, String> {
    match q.unit.as_deref() {
        None => return Err(format!("{name} has no unit: add unit = \"{unit}\"")),
        Some(given) if given != unit => return Err(format!("{name} is in \"{given}\", expected \"{unit}\"")),
        Some(_) => {}
    }
    source(name, q.source.as_deref())?;
    if !(0.0..=1e6).contains(&q.value) {
        return Err(format!("{name} is {}: expected 0 to 1000000 {unit}", shown(q.value)));
    }
    Ok(q.value)
}

/// A figure in few characters, whatever its size.
fn shown(value: f64) -> String {
    if value == 0.0 || (1e-4..1e9).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

fn time(name: &str, q: &Quantity, unit: &str) -> Result<Centi, String> {
    let centi = value(name, q, unit)? * CYCLE as f64;
    if (centi - centi.round()).abs() > 1e-6 {
        return Err(format!("{name} is {}: two decimals at most", shown(q.value)));
    }
    Ok(centi.round() as Centi)
}

fn count(name: &str, q: &Quantity, unit: &str, least: u32, most: u32) -> Result<u32, String> {
    let n = value(name, q, unit)?;
    if n.fract() != 0.0 || !(f64::from(least)..=f64::from(most)).contains(&n) {
        return Err(format!("{name} is {}: expected a whole number from {least} to {most}", shown(n)));
    }
    Ok(n as u32)
}

fn power_of_two(name: &str, q: &Quantity, unit: &str, least: u32, most: u32) -> Result<u32, String> {
    let n = count(name, q, unit, least, most)?;
    if n.is_power_of_two() { Ok(n) } else { Err(format!("{name} is {n}: expected a power of two")) }
}

fn shape(table: &str, file: &CacheFile) -> Result<CacheShape, String> {
    let size = power_of_two(&format!("{table}.size"), &file.size, "bytes", 256, 1 << 20)?;
    let ways = count(&format!("{table}.ways"), &file.ways, "ways", 1, 8)?;
    let line = power_of_two(&format!("{table}.line"), &file.line, "bytes", 16, 256)?;
    let sets = size / (ways * line);
    if sets * ways * line != size || !sets.is_power_of_two() {
        return Err(format!("{table}: {size} bytes in {ways} ways of {line}-byte lines is no power of two of sets"));
    }
    let choose = |key: &str, text: &Text| {
        source(&format!("{table}.{key}"), text.source.as_deref())?;
        Ok::<_, String>(toml::Value::String(text.value.clone()))
    };
    let says = |key: &str, e: toml::de::Error| format!("{table}.{key}: {}", e.message());
    let replacement = choose("replacement", &file.replacement)?.try_into().map_err(|e| says("replacement", e))?;
    let write = match &file.write {
        Some(text) => choose("write", text)?.try_into().map_err(|e| says("write", e))?,
        None => Write::Through,
    };
    let flash_ways = count(&format!("{table}.flash_ways"), &file.flash_ways, "ways", 0, ways)?;
    Ok(CacheShape { sets, ways, line, replacement, write, flash_ways })
}

fn memory(file: &MemoryFile) -> Result<Memory, String> {
    let name = |key: &str| format!("memory {}: {key}", file.name);
    source(&format!("memory {}", file.name), file.source.as_deref())?;
    if file.size == 0 || !file.size.is_multiple_of(64) || !file.base.is_multiple_of(64) {
        return Err(format!("{} is not on 64-byte bounds, or empty", name("base or size")));
    }
    let last = file.base.checked_add(file.size - 1).ok_or_else(|| format!("{} ends beyond 4 GB", name("size")))?;
    let ratio = count(&name("clock_ratio"), &file.clock_ratio, "cycles per memory cycle", 1, 16)?;
    let wait = time(&name("wait_states"), &file.wait_states, "memory cycles")?;
    let ratio = Centi::from(ratio);
    // What passes the memory waits its wait states, and all of it is in the memory's clock.
    let cost = |key: &str, q: &Quantity| Ok::<_, String>((time(&name(key), q, "memory cycles")? + wait) * ratio);
    Ok(Memory {
        name: file.name.clone(),
        base: file.base,
        last,
        plays: file.plays.clone(),
        port: file.port,
        fetch: cost("fetch", &file.fetch)?,
        fetch_next: cost("fetch_next", &file.fetch_next)?,
        read: cost("read", &file.read)?,
        fill: cost("fill", &file.fill)?,
        drain: cost("drain", &file.drain)?,
        write_back: cost("write_back", &file.write_back)?,
    })
}
