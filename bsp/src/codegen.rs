//! Which `rustc` code-generation flags an image for this processor may be built with.
//!
//! The kernels save D0-D15 and FPSCR. The Cortex-R52 with Advanced SIMD also has D16-D31, and
//! `-C target-cpu=cortex-r52` lets the compiler use them: an interrupt would then corrupt them in the
//! thread it interrupted. Stable `rustc` does not show these features to `cfg`, so the flags
//! themselves are read.

/// The features that may be switched on: they are known not to bring D16-D31 with them. LLVM's floating-point, SIMD and
/// architecture-version features imply one another in ways that change between its versions, so none
/// of those is on the list.
const HARMLESS: &[&str] = &["crc", "strict-align", "no-movt", "long-calls", "trustzone", "hwdiv", "hwdiv-arm"];

/// The sentence a refused build ends with.
pub fn refusal(what: &str) -> String {
    format!(
        "`{what}` may let the compiler use D16-D31, which no ThreadX kernel saves: build for \
         armv8r-none-eabihf without it (or add `-C target-feature=-neon,-d32` after a target-cpu)"
    )
}

/// Reads `rustc` arguments in order and refuses those that turn on D16-D31.
///
/// # Errors
/// The message for the user, naming the flag.
pub fn check<'a>(flags: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut wide: Option<String> = None;
    let mut pending_c = false;
    for flag in flags {
        let option = if pending_c {
            flag
        } else if let Some(rest) = flag.strip_prefix("-C") {
            rest.trim_start()
        } else if let Some(rest) = flag.strip_prefix("--codegen=") {
            rest
        } else {
            pending_c = flag == "--codegen";
            continue;
        };
        if option.is_empty() {
            pending_c = true;
            continue;
        }
        pending_c = false;
        if option.starts_with("llvm-args=") && option.contains("mattr") {
            wide = Some(option.to_owned());
        } else if let Some(cpu) = option.strip_prefix("target-cpu=") {
            if cpu != "generic" {
                wide = Some(option.to_owned());
            }
        } else if let Some(features) = option.strip_prefix("target-feature=") {
            for feature in features.split(',') {
                match feature.split_at_checked(1) {
                    Some(("+", name)) if !HARMLESS.contains(&name) => wide = Some(feature.to_owned()),
                    Some(("-", "d32")) => wide = None,
                    _ => {}
                }
            }
        }
    }
    wide.map_or(Ok(()), |flag| Err(refusal(&flag)))
}

#[cfg(test)]
mod tests {
    use super::check;

    fn ok(flags: &[&str]) -> bool {
        check(flags.iter().copied()).is_ok()
    }

    #[test]
    fn plain_flags_pass() {
        assert!(ok(&[""]));
        assert!(ok(&["-Clinker=ld.lld", "-C", "opt-level=3", "-Ctarget-cpu=generic"]));
        assert!(ok(&["-C", "target-feature=+crc"]));
    }

    #[test]
    fn every_spelling_of_d16_to_d31_is_refused() {
        for flags in [
            &["-C", "target-cpu=cortex-r52"][..],
            &["-Ctarget-cpu=cortex-r52"],
            &["--codegen", "target-cpu=cortex-r52"],
            &["--codegen=target-cpu=native"],
            &["-Ctarget-feature=+d32"],
            &["-Ctarget-feature=+crc,+neon"],
            &["-Ctarget-feature=-d32", "-Ctarget-feature=+vfp3"],
        ] {
            let error = check(flags.iter().copied()).expect_err("refused");
            assert!(error.contains("D16-D31"), "{error}");
        }
    }

    #[test]
    fn a_processor_without_the_upper_half_passes() {
        assert!(ok(&["-Ctarget-cpu=cortex-r52", "-Ctarget-feature=-neon,-d32"]));
    }
}
