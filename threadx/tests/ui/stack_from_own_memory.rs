static MEMORY: threadx::StackMemory<1024> = threadx::StackMemory::new();
static STACK: threadx::Stack<Anywhere, 1024> = threadx::Stack::from_memory(&MEMORY);

pub struct Anywhere;
impl threadx::Region for Anywhere {
    const NAME: &'static str = "ANYWHERE";
    fn range() -> core::ops::Range<usize> {
        0..usize::MAX
    }
}

fn main() {
    let _ = STACK.take();
}
