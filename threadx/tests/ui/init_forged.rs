fn main() {
    let _ = threadx::Init { first_unused_memory: core::ptr::null_mut() };
}
