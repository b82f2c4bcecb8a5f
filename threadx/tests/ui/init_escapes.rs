fn main() {
    let mut kept = None;
    let _ = threadx::try_start(|init| kept = Some(init));
}
