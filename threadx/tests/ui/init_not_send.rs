fn needs_send<T: Send>(_: T) {}
fn needs_sync<T: Sync>(_: &T) {}

fn main() {
    let _ = threadx::try_start(|init| {
        needs_sync(init);
        needs_send(init);
    });
}
