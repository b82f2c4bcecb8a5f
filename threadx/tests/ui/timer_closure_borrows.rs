use threadx::{Schedule, Ticks, Timer};

static TIMER: Timer = Timer::new();

fn main() {
    let local = 1;
    let _ = TIMER.create("borrows", Schedule::once(Ticks::new(1)), || {
        let _ = &local;
    });
}
