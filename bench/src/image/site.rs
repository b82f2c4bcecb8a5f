//! How an image relinquishes: by call or in place, what one switch moves, what one place takes.

use measure::a32;
use serde::{Deserialize, Serialize};

use super::Image;
use super::decode::State;

/// The function that safe Rust calls: of the bundled kernel, and of upstream's as `threadx-sys` builds it.
const BUNDLED: &str = "_tx_thread_relinquish";
const UPSTREAM: &str = "threadx_sys_relinquish";

/// Places of one kind, as the image's instructions have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Places {
    /// How many there are.
    pub count: u32,
    /// Bytes of code at each.
    pub bytes: u32,
    /// Words that a switch stores; unknown where the kernel's path has branches.
    pub stored: Option<u32>,
    /// Words that a switch loads.
    pub loaded: Option<u32>,
}

/// What an image says about its relinquish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Relinquish {
    /// Calls.
    pub called: Places,
    /// The bundled kernel's sequence in place of a call.
    pub inlined: Places,
}

/// Reads it from the file of a linked image.
///
/// # Errors
/// What is wrong with the file.
pub fn relinquish(data: &[u8]) -> Result<Relinquish, String> {
    Ok(of(&Image::parse(data)?))
}

fn of(image: &Image) -> Relinquish {
    let a32: Vec<(u32, u32)> =
        image.code.iter().filter(|i| i.state == State::A32).map(|i| (i.address, i.bits)).collect();
    let from = |address: u32| {
        let at = a32.partition_point(|&(at, _)| at < address);
        a32[at..].iter().map(|&(_, bits)| bits)
    };
    let mut seen = Relinquish::default();
    // Upstream's function is there under both names, the one that Rust calls under its own.
    let (function, straight) =
        if image.symbol(UPSTREAM).is_some() { (UPSTREAM, false) } else { (BUNDLED, image.symbol(BUNDLED).is_some()) };
    let mut own = 0..0;
    if let Some(symbol) = image.symbol(function) {
        seen.called.count = a32.iter().filter(|&&(at, bits)| target(at, bits) == Some(symbol.address)).count() as u32;
        seen.called.bytes = 4;
        own = symbol.address..symbol.address + symbol.size.max(4);
        if straight && let Ok(decoded) = a32::decode(from(symbol.address), a32::CALLED_LAST) {
            (seen.called.stored, seen.called.loaded) = (Some(decoded.stored), Some(decoded.loaded));
        }
    }
    for &(at, _) in a32.iter().filter(|&&(at, bits)| bits == a32::INLINED_FIRST && !own.contains(&at)) {
        // Other code that asks for the running context goes on in another way.
        let Ok(decoded) = a32::decode(from(at), a32::INLINED_LAST) else { continue };
        let places = &mut seen.inlined;
        places.count += 1;
        // All places are one sequence; were they not, the most costly would stand for them.
        places.bytes = places.bytes.max(4 * decoded.instructions as u32);
        places.stored = places.stored.max(Some(decoded.stored));
        places.loaded = places.loaded.max(Some(decoded.loaded));
    }
    seen
}

/// Where a branch or call to a fixed address goes.
fn target(address: u32, bits: u32) -> Option<u32> {
    let branch = bits >> 25 & 7 == 0b101 && bits >> 28 != 0xf;
    // 24 bits of words, signed, from two instructions on.
    branch.then(|| address.wrapping_add(8).wrapping_add_signed((bits << 8) as i32 >> 6))
}

#[cfg(test)]
mod tests {
    use super::super::Symbol;
    use super::super::decode::Instruction;
    use super::*;

    const START: u32 = 0x1000_0000;

    fn image(code: &[u32], symbols: &[(&str, u32, u32)]) -> Image {
        let instruction = |(n, &bits): (usize, &u32)| Instruction {
            address: START + 4 * n as u32,
            state: State::A32,
            bits,
            wide: true,
        };
        let symbol = |&(name, at, size): &(&str, u32, u32)| Symbol { name: name.into(), address: START + at, size };
        Image {
            entry: START,
            flags: 0,
            hard_float_arguments: true,
            sections: Vec::new(),
            loads: Vec::new(),
            symbols: symbols.iter().map(symbol).collect(),
            code: code.iter().enumerate().map(instruction).collect(),
        }
    }

    const CPSID: u32 = 0xf10c_0080;
    const LDM_2: u32 = 0xe890_0006;
    const STM_14: u32 = 0xe980_fffc;
    const MSR: u32 = 0xe123_f003;

    #[test]
    fn calls_and_inlined_places_are_told_apart() {
        // The function, two calls of it, a call of something else, an inlined place, and an MRC that is none.
        let code = [
            [a32::INLINED_FIRST, CPSID, STM_14, LDM_2, MSR, a32::CALLED_LAST].as_slice(),
            &[0xebff_fff8, 0xebff_fff7, 0xebff_fff7],
            &[a32::INLINED_FIRST, CPSID, LDM_2, STM_14, LDM_2, MSR, a32::INLINED_LAST],
            &[a32::INLINED_FIRST, a32::CALLED_LAST],
        ]
        .concat();
        let seen = of(&image(&code, &[(BUNDLED, 0, 24)]));
        assert_eq!(seen.called, Places { count: 2, bytes: 4, stored: Some(14), loaded: Some(2) });
        assert_eq!(seen.inlined, Places { count: 1, bytes: 28, stored: Some(14), loaded: Some(4) });
    }

    #[test]
    fn the_c_kernels_path_is_not_read_and_a_call_that_is_gone_is_seen() {
        let code = [0xe320_f000, a32::CALLED_LAST, 0xebff_fffc];
        let symbols = [(UPSTREAM, 0, 8), (BUNDLED, 4, 4)];
        let called = of(&image(&code, &symbols)).called;
        assert_eq!(called, Places { count: 1, bytes: 4, stored: None, loaded: None });
        assert_eq!(of(&image(&code[..2], &symbols)).called.count, 0);
        assert_eq!(of(&image(&code, &[])), Relinquish::default());
        assert!(relinquish(b"not an image").is_err());
    }
}
