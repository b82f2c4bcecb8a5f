//! Links the images as every firmware package does; some of them start in a first stage of their own.

#[path = "../build.rs"]
mod image;

/// Images and where they begin instead of `_start`; see `src/first_stage.rs`.
const ENTRIES: &[(&str, &str)] = &[
    ("boot", "first_stage_rough"),
    ("fault_boot_hypervisor_call", "first_stage_rough"),
    ("fault_boot_svc", "first_stage_rough"),
    ("fault_boot_undefined", "first_stage_rough"),
    ("fault_boot_data_abort", "first_stage_rough"),
    ("fault_boot_cntfrq", "first_stage_no_frequency"),
    ("boot_guest", "first_stage_monitor"),
];

fn main() {
    image::main();
    for (image, entry) in ENTRIES {
        println!("cargo::rustc-link-arg-bin={image}=--entry={entry}");
    }
}
