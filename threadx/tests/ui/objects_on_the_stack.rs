use threadx::{Schedule, Semaphore, Ticks, Timer};

fn main() {
    let semaphore = Semaphore::new();
    let _ = semaphore.create("semaphore", 0);
    let timer = Timer::new();
    let _ = timer.create("timer", Schedule::once(Ticks::new(1)), || ());
}
