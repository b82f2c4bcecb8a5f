use threadx::{Schedule, Ticks, Timer};

static TIMER: Timer = Timer::new();

fn main() {
    let local = std::rc::Rc::new(1);
    let _ = TIMER.create("not Send", Schedule::once(Ticks::new(1)), move || {
        let _ = &local;
    });
}
