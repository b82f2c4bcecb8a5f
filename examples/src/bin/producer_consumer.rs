//! A producer and a consumer of the same priority: the queue's two places make them take turns.
#![no_std]
#![no_main]

use bsp::memory::Dram0;
use threadx::{Builder, Queue, ThreadCell, Timeout};

threadx::stack! { static PRODUCER_STACK: Stack<Dram0, 4096>; }
threadx::stack! { static CONSUMER_STACK: Stack<Dram0, 4096>; }
static CELLS: [ThreadCell; 2] = [const { ThreadCell::new() }; 2];
/// Room for two messages; `None` ends the conversation.
static QUEUE: Queue<Option<u32>, 2> = Queue::new();

#[bsp::entry]
fn main() -> ! {
    threadx::start(|_init| {
        QUEUE.create("numbers").unwrap();
        let produce = || {
            for number in 1..=5 {
                bsp::println!("produced {}", number);
                QUEUE.send(Some(number), Timeout::Forever).unwrap();
            }
            QUEUE.send(None, Timeout::Forever).unwrap();
        };
        let consume = || {
            while let Some(number) = QUEUE.receive(Timeout::Forever).unwrap() {
                bsp::println!("         consumed {}", number);
            }
            bsp::exit(0)
        };
        Builder::new("producer").spawn(&CELLS[0], PRODUCER_STACK.take().unwrap(), produce).unwrap().detach();
        Builder::new("consumer").spawn(&CELLS[1], CONSUMER_STACK.take().unwrap(), consume).unwrap().detach();
    })
}
