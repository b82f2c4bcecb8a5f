//! Who runs: priorities, preemption-threshold, time-slices, critical sections, interrupts.

mod common;
use common::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// A thread that logs `name` each time it is resumed, and suspends itself again.
fn echo(log: &Log, name: &'static str, options: Options) -> Thread {
    let log = log.clone();
    Thread::spawn(options.suspended(), move || {
        loop {
            log.push(name);
            identify().suspend();
        }
    })
}

/// A thread that logs `name` once.
fn once(log: &Log, name: &'static str, options: Options) -> Thread {
    let log = log.clone();
    Thread::spawn(options, move || log.push(name))
}

// ---- start -------------------------------------------------------------------------------------

#[test]
fn the_highest_thread_starts_first_whatever_the_thresholds() {
    let log = Log::new();
    run(|| {
        once(&log, "20", at(20).threshold(0));
        once(&log, "25", at(25).threshold(0));
        once(&log, "5", at(5));
        once(&log, "5b", at(5).threshold(0));
        once(&log, "10", at(10).threshold(3));
        log.push("defined");
    });
    log.expect("defined 5 5b 10 20 25");
}

#[test]
fn interrupts_stay_off_during_initialization_and_are_on_in_the_first_thread() {
    let log = Log::new();
    let l = log.clone();
    run(move || {
        let l2 = l.clone();
        isr(move || l2.push("interrupt"));
        let l2 = l.clone();
        Thread::spawn(at(5), move || {
            l2.push("thread");
            assert_eq!(interrupt_control(TX_INT_ENABLE), TX_INT_ENABLE);
            l2.push("on");
        });
        l.push("defined");
    });
    // It was pending when the thread started: nothing of the thread runs before it.
    log.expect("defined interrupt thread on");
}

#[test]
fn equals_run_in_the_order_in_which_they_became_ready() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let [a, b, c] = ["a", "b", "c"].map(|name| echo(&l, name, at(20)));
        for thread in [c, a, b] {
            thread.resume();
        }
        sleep(1);
        a.resume();
        b.resume();
        a.suspend();
        a.resume();
        sleep(1);
    });
    log.expect("c a b b a");
}

// ---- K22 ---------------------------------------------------------------------------------------

#[test]
fn k22_the_smaller_number_runs_first() {
    let log = Log::new();
    run(|| {
        once(&log, "low", at(20));
        once(&log, "high", at(10));
    });
    log.expect("high low");
}

#[test]
fn k22_threshold_equal_to_priority_is_off_and_zero_is_total() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let me = identify();
        let high = echo(&l, "high", at(1));
        high.resume();
        l.push("after1");
        me.preemption_change(0).unwrap();
        high.resume();
        l.push("after2");
        me.preemption_change(16).unwrap();
        l.push("after3");
    });
    log.expect("high after1 after2 high after3");
}

#[test]
fn k22_relinquish_under_a_threshold_lets_those_run_that_it_held_off() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let l2 = l.clone();
        let caller = Thread::spawn(at(20).threshold(10), move || {
            l2.push("start");
            once(&l2, "15", at(15));
            once(&l2, "20", at(20));
            once(&l2, "25", at(25));
            l2.push("relinquish");
            relinquish();
            l2.push("end");
        });
        sleep(1);
        assert_eq!(caller.state(), TX_COMPLETED);
        l.push("main");
        sleep(1);
    });
    log.expect("start relinquish 15 20 end 25 main");
}

// ---- preemption-threshold ------------------------------------------------------------------------

#[test]
fn only_priorities_below_the_threshold_preempt() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        identify().preemption_change(10).unwrap();
        let threads = [("11", 11), ("10", 10), ("9", 9)].map(|(name, p)| echo(&l, name, at(p)));
        for thread in threads {
            thread.resume();
            l.push("|");
        }
        sleep(1);
    });
    log.expect("| | 9 | 10 11");
}

#[test]
fn the_processor_goes_back_to_the_thread_that_a_threshold_protects() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        identify().preemption_change(10).unwrap();
        let between = echo(&l, "between", at(12));
        let l2 = l.clone();
        let high = Thread::spawn(at(5).suspended(), move || {
            loop {
                l2.push("high");
                between.resume();
                identify().suspend();
            }
        });
        high.resume();
        l.push("main");
        check();
        sleep(1);
    });
    log.expect("high main between");
}

#[test]
fn nested_thresholds_form_a_stack() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        // main 16/12 < B 10/7 < C 5/3 < D 2, each preempting the one before.
        let me = identify();
        me.preemption_change(12).unwrap();
        let held_by_main = echo(&l, "14", at(14));
        let held_by_b = echo(&l, "8", at(8));
        let held_by_c = echo(&l, "4", at(4));
        let d = {
            let l = l.clone();
            Thread::spawn(at(2).suspended(), move || {
                l.push("D");
                for thread in [held_by_main, held_by_b, held_by_c] {
                    thread.resume();
                }
                l.push("D.");
            })
        };
        let c = {
            let l = l.clone();
            Thread::spawn(at(5).threshold(3).suspended(), move || {
                l.push("C");
                d.resume();
                l.push("C.");
            })
        };
        let b = {
            let l = l.clone();
            Thread::spawn(at(10).threshold(7).suspended(), move || {
                l.push("B");
                c.resume();
                check();
                l.push("B.");
            })
        };
        l.push("A");
        b.resume();
        l.push("A.");
        check();
        sleep(1);
    });
    // When C ends, 4 is above B's threshold 7 and runs; when B ends, 8 is above main's 12.
    log.expect("A B C D D. C. 4 B. 8 A. 14");
}

#[test]
fn a_preempted_thread_loses_its_claim_when_it_is_suspended() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let between = echo(&l, "between", at(18));
        let protected = Thread::new();
        let l2 = l.clone();
        let high = Thread::spawn(at(5).suspended(), move || {
            between.resume();
            protected.suspend();
            l2.push("high");
        });
        let l2 = l.clone();
        protected.create(at(20).threshold(10), move || {
            l2.push("start");
            high.resume();
            l2.push("end");
        });
        sleep(1);
        assert_eq!(protected.state(), TX_SUSPENDED);
        l.push("main");
        protected.resume();
        sleep(1);
        check();
    });
    log.expect("start high between main end");
}

#[test]
fn a_preempted_thread_keeps_its_claim_while_its_threshold_is_only_weakened() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let [a12, a14] = [("12", 12), ("14", 14)].map(|(name, p)| echo(&l, name, at(p)));
        let protected = Thread::new();
        let high = Thread::spawn(at(5).suspended(), move || {
            a12.resume();
            a14.resume();
            assert_eq!(protected.preemption_change(13), Ok(10));
        });
        let l2 = l.clone();
        protected.create(at(20).threshold(10), move || {
            high.resume();
            l2.push("protected");
        });
        sleep(1);
        check();
    });
    log.expect("12 protected 14");
}

#[test]
fn weakening_the_own_threshold_switches_at_once_strengthening_does_not() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let me = identify();
        me.preemption_change(5).unwrap();
        let [a, b] = [("8", 8), ("12", 12)].map(|(name, p)| echo(&l, name, at(p)));
        b.resume();
        a.resume();
        l.push("1");
        assert_eq!(me.preemption_change(10), Ok(5));
        l.push("2");
        assert_eq!(me.preemption_change(16), Ok(10));
        l.push("3");
        assert_eq!(me.preemption_change(0), Ok(16));
        a.resume();
        l.push("4");
    });
    log.expect("1 8 2 12 3 4");
}

// ---- priority change -----------------------------------------------------------------------------

#[test]
fn raising_another_thread_preempts() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let low = once(&l, "low", at(20));
        l.push("1");
        assert_eq!(low.priority_change(16), Ok(20));
        l.push("2");
        assert_eq!(low.priority_change(15), Ok(16));
        l.push("3");
    });
    log.expect("1 2 low 3");
}

#[test]
fn a_running_thread_that_is_lowered_goes_to_the_front_of_its_new_list() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        once(&l, "20a", at(20));
        once(&l, "20b", at(20));
        once(&l, "18", at(18));
        assert_eq!(identify().priority_change(20), Ok(16));
        l.push("main");
        check();
        sleep(1);
        l.push("end");
    });
    log.expect("18 main 20a 20b end");
}

#[test]
fn a_lowered_thread_gives_way_to_the_one_whose_threshold_it_had_overcome() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let l2 = l.clone();
        let high = Thread::spawn(at(5).suspended(), move || {
            l2.push("high");
            identify().priority_change(14).unwrap();
            l2.push("lowered");
        });
        identify().preemption_change(10).unwrap();
        high.resume();
        l.push("main");
        check();
        sleep(1);
    });
    log.expect("high main lowered");
}

#[test]
fn a_thread_lowered_to_a_preempted_one_comes_right_after_it() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let l2 = l.clone();
        let high = Thread::spawn(at(5).suspended(), move || {
            l2.push("high");
            identify().priority_change(20).unwrap();
            l2.push("lowered");
        });
        let l2 = l.clone();
        Thread::spawn(at(20).threshold(10), move || {
            l2.push("start");
            high.resume();
            l2.push("protected");
            check();
            relinquish();
            l2.push("end");
        });
        once(&l, "equal", at(20));
        sleep(1);
        check();
    });
    log.expect("start high protected lowered equal end");
}

#[test]
fn a_thread_that_an_older_threshold_holds_off_claims_nothing() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let six = once(&l, "6", at(6).suspended());
        let four = echo(&l, "4", at(4));
        let l2 = l.clone();
        let lowered = Thread::spawn(at(4).suspended(), move || {
            let posture = preempt_disable();
            identify().priority_change(8).unwrap();
            identify().preemption_change(7).unwrap();
            six.resume();
            preempt_enable(posture);
            l2.push("8");
        });
        let l2 = l.clone();
        Thread::spawn(at(30).threshold(5), move || {
            l2.push("a");
            lowered.resume();
            l2.push("b");
            four.resume();
            l2.push("c");
        });
        sleep(1);
        check();
    });
    log.expect("a b 4 c 6 8");
}

#[test]
fn priority_change_of_a_waiting_thread_counts_when_it_wakes() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let semaphore = Semaphore::new(0);
        let l2 = l.clone();
        let waiter = Thread::spawn(at(5), move || {
            semaphore.get(TX_WAIT_FOREVER);
            l2.push("waiter");
        });
        assert_eq!(waiter.priority_change(20), Ok(5));
        semaphore.put();
        l.push("main");
        sleep(1);
    });
    log.expect("main waiter");
}

// ---- relinquish ----------------------------------------------------------------------------------

#[test]
fn relinquish_takes_turns_among_equals_only() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        once(&l, "low", at(17));
        relinquish();
        l.push("alone");
        for name in ["a", "b"] {
            let l = l.clone();
            Thread::spawn(at(16), move || {
                for _ in 0..3 {
                    l.push(name);
                    relinquish();
                }
            });
        }
        for _ in 0..4 {
            l.push("m");
            relinquish();
        }
        check();
    });
    log.expect("alone m a b m a b m a b m");
}

#[test]
fn unchecked_relinquish_is_the_same_outside_threads() {
    scenario(|| {
        isr(|| service!(_tx_thread_relinquish()));
        check();
    });
    run(|| service!(_tx_thread_relinquish()));
}

// ---- time-slices ---------------------------------------------------------------------------------

/// Two threads below the main thread that log themselves once a tick, `turns` times each.
fn tickers(log: &Log, options: [Options; 2], turns: u32) {
    for (name, options) in ["a", "b"].into_iter().zip(options) {
        let log = log.clone();
        Thread::spawn(options, move || {
            for _ in 0..turns {
                log.push(name);
                host::tick();
            }
        });
    }
}

#[test]
fn equals_with_time_slices_take_turns() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        tickers(&l, [at(20).time_slice(3), at(20).time_slice(2)], 6);
        sleep(50);
    });
    log.expect("a a a b b a a a b b b b");
}

#[test]
fn a_thread_without_a_slice_keeps_the_processor() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        tickers(&l, [at(20).time_slice(1), at(20)], 4);
        sleep(50);
    });
    log.expect("a b b b b a a a");
}

#[test]
fn a_slice_does_not_help_a_lower_thread() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        tickers(&l, [at(20).time_slice(1), at(21).time_slice(1)], 3);
        sleep(50);
    });
    log.expect("a a a b b b");
}

#[test]
fn a_threshold_switches_time_slicing_off() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        tickers(&l, [at(20).threshold(19).time_slice(1), at(20).time_slice(1)], 3);
        sleep(50);
    });
    log.expect("a a a b b b");
}

/// The main thread, at 20 with a slice of 4 and an equal, runs `before`; returns how many ticks it
/// then keeps the processor.
fn ticks_kept(before: impl Fn() + Send + Sync + 'static) -> u32 {
    let kept = Shared::new(0);
    let k = kept.clone();
    scenario(move || {
        let equal_ran = Shared::new(false);
        let e = equal_ran.clone();
        Thread::spawn(at(20), move || {
            loop {
                e.set(true);
                relinquish();
            }
        });
        identify().time_slice_change(4).unwrap();
        identify().priority_change(20).unwrap();
        before();
        equal_ran.set(false);
        for tick in 1..=10 {
            host::tick();
            if equal_ran.get() {
                k.set(tick);
                return;
            }
        }
    });
    kept.get()
}

#[test]
fn the_slice_is_fresh_after_giving_the_processor_away_and_the_rest_after_preemption() {
    assert_eq!(ticks_kept(|| {}), 4);
    assert_eq!(ticks_kept(|| ticks(3)), 1);
    assert_eq!(ticks_kept(|| ticks(4)), 4, "expiry");
    let relinquished = || {
        ticks(3);
        relinquish();
    };
    assert_eq!(ticks_kept(relinquished), 4);
    let preempted_by_interrupt = || {
        let high = Thread::spawn(at(5).suspended(), || ticks(7));
        ticks(3);
        isr(move || {
            high.resume();
        });
    };
    assert_eq!(ticks_kept(preempted_by_interrupt), 1, "ticks of the preempting thread are its own");
    let changed = || {
        ticks(3);
        identify().time_slice_change(4).unwrap();
    };
    assert_eq!(ticks_kept(changed), 4);
}

#[test]
fn the_slice_is_fresh_after_a_suspension() {
    let kept = ticks_kept(|| {
        let me = identify();
        let waker = Thread::spawn(at(20), move || {
            me.resume();
            loop {
                relinquish();
            }
        });
        ticks(3);
        me.suspend();
        waker.terminate();
    });
    assert_eq!(kept, 4);
}

#[test]
fn a_preempted_thread_continues_before_its_equals() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let l2 = l.clone();
        once(&l, "equal", at(16));
        let high = Thread::spawn(at(5).suspended(), move || l2.push("high"));
        high.resume();
        l.push("main");
        check();
    });
    log.expect("high main");
}

#[test]
fn a_slice_that_expires_alone_starts_again() {
    scenario(|| {
        let me = identify();
        me.time_slice_change(3).unwrap();
        ticks(3);
        assert_eq!(me.info().time_slice, 3);
        ticks(1);
        assert_eq!(me.info().time_slice, 2);
    });
}

#[test]
fn a_slice_and_a_higher_thread_in_the_same_tick() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let me = identify();
        once(&l, "equal", at(16));
        let l2 = l.clone();
        Timer::start(2, 0, move || l2.push("timer"));
        me.time_slice_change(2).unwrap();
        ticks(2);
        l.push("main");
        check();
    });
    log.expect("timer equal main");
}

// ---- critical sections -----------------------------------------------------------------------------

#[test]
fn nothing_switches_inside_a_critical_section() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let high = echo(&l, "high", at(5));
        once(&l, "equal", at(16));
        let posture = preempt_disable();
        let inner = preempt_disable();
        high.resume();
        l.push("1");
        relinquish();
        service!(_tx_thread_relinquish());
        l.push("2");
        preempt_enable(inner);
        l.push("3");
        preempt_enable(posture);
        l.push("4");
        check();
        relinquish();
        l.push("5");
    });
    log.expect("1 2 3 high 4 equal 5");
}

#[test]
fn whatever_would_wait_is_refused_inside_a_critical_section() {
    scenario(|| {
        let empty = Semaphore::new(0);
        let posture = preempt_disable();
        assert_eq!(sleep(0), TX_SUCCESS);
        assert_eq!(sleep(1), TX_CALLER_ERROR);
        assert_eq!(empty.get(TX_WAIT_FOREVER), TX_NO_INSTANCE);
        assert_eq!(empty.get(5), TX_NO_INSTANCE);
        assert_eq!(identify().suspend(), TX_SUSPEND_ERROR);
        preempt_enable(posture);
        assert_eq!(identify().state(), TX_READY);
        assert_eq!(empty.info().waiting, 0);
        assert_eq!(sleep(1), TX_SUCCESS);
        check();
    });
}

#[test]
fn interrupts_wait_for_the_end_of_a_critical_section() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let high = echo(&l, "high", at(5));
        let posture = preempt_disable();
        assert_eq!(posture, TX_INT_ENABLE);
        let l2 = l.clone();
        isr(move || {
            l2.push("interrupt");
            high.resume();
        });
        l.push("inside");
        preempt_enable(posture);
        l.push("after");
        let masked = interrupt_control(TX_INT_DISABLE);
        let posture = preempt_disable();
        assert_eq!(posture, TX_INT_DISABLE);
        preempt_enable(posture);
        assert_eq!(interrupt_control(masked), TX_INT_DISABLE);
    });
    log.expect("inside interrupt high after");
}

#[test]
fn an_interrupt_inside_a_critical_section_switches_at_its_end() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let high = echo(&l, "high", at(5));
        once(&l, "equal", at(16));
        identify().time_slice_change(1).unwrap();
        let posture = preempt_disable();
        interrupt_control(TX_INT_ENABLE);
        isr(move || {
            high.resume();
        });
        host::tick();
        l.push("inside");
        interrupt_control(TX_INT_DISABLE);
        preempt_enable(posture);
        l.push("after");
        check();
    });
    // The slice ran out inside as well.
    log.expect("inside high equal after");
}

#[test]
fn a_thread_that_ends_inside_a_critical_section_does_not_keep_the_processor() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        for ending in ["completes", "terminates"] {
            let l2 = l.clone();
            let high = echo(&l, "high", at(3));
            let thread = Thread::spawn(at(5), move || {
                preempt_disable();
                high.resume();
                l2.push(ending);
                if ending == "terminates" {
                    identify().terminate();
                }
            });
            assert!([TX_COMPLETED, TX_TERMINATED].contains(&thread.state()));
            assert_eq!(interrupt_control(TX_INT_ENABLE), TX_INT_ENABLE);
            sleep(1);
            check();
            l.push("main");
        }
    });
    log.expect("completes high main terminates high main");
}

#[test]
fn a_slice_that_expired_in_an_unfinished_critical_section_is_nobody_elses() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let l2 = l.clone();
        let high = Thread::spawn(at(5).time_slice(1).suspended(), move || {
            preempt_disable();
            interrupt_control(TX_INT_ENABLE);
            host::tick();
            l2.push("high");
        });
        // An equal of the one whose slice runs out, never run before that.
        let equal = once(&l, "5", at(5).suspended());
        once(&l, "equal", at(16));
        identify().preemption_change(0).unwrap();
        high.resume();
        equal.resume();
        identify().preemption_change(16).unwrap();
        let top = echo(&l, "top", at(2));
        top.resume();
        l.push("main");
        check();
    });
    log.expect("high 5 top main");
}

// ---- interrupts ----------------------------------------------------------------------------------

#[test]
fn a_switch_waits_for_the_end_of_the_outermost_interrupt() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let high = echo(&l, "high", at(5));
        let (l1, l2, l3) = (l.clone(), l.clone(), l.clone());
        isr(move || {
            l1.push("outer");
            host::allow_nesting(|| {
                isr(move || {
                    high.resume();
                    l2.push("inner");
                });
                isr(move || l3.push("second"));
            });
            l1.push("outer.");
        });
        l.push("main");
    });
    log.expect("outer inner second outer. high main");
}

#[test]
fn an_interrupt_that_readies_an_equal_or_lower_thread_switches_nothing() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let [a, b] = [("equal", 16), ("low", 20)].map(|(name, p)| echo(&l, name, at(p)));
        isr(move || {
            b.resume();
            a.resume();
        });
        l.push("main");
        sleep(1);
    });
    log.expect("main equal low");
}

#[test]
fn an_interrupt_can_suspend_the_threads_it_did_not_interrupt() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let low = once(&l, "low", at(20));
        isr(move || assert_eq!(low.suspend(), TX_SUCCESS));
        sleep(1);
        isr(move || assert_eq!(low.resume(), TX_SUCCESS));
        l.push("main");
        sleep(1);
    });
    log.expect("main low");
}

#[test]
fn what_an_interrupt_readies_and_suspends_again_does_not_run() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let high = echo(&l, "high", at(5));
        isr(move || {
            high.resume();
            high.suspend();
        });
        l.push("main");
        check();
    });
    log.expect("main");
}

#[test]
fn the_interrupt_posture_belongs_to_the_thread() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let l2 = l.clone();
        let masked = Thread::spawn(at(5), move || {
            assert_eq!(interrupt_control(TX_INT_DISABLE), TX_INT_ENABLE);
            let l3 = l2.clone();
            isr(move || l3.push("interrupt"));
            l2.push("masked");
            identify().suspend();
            let l3 = l2.clone();
            isr(move || l3.push("interrupt2"));
            l2.push("still");
            assert_eq!(interrupt_control(TX_INT_DISABLE), TX_INT_DISABLE);
            sleep(1);
            l2.push("again");
            assert_eq!(interrupt_control(TX_INT_ENABLE), TX_INT_DISABLE);
            l2.push("unmasked");
        });
        // Only that thread had them off: the first interrupt came with the switch back.
        l.push("main");
        assert_eq!(interrupt_control(TX_INT_ENABLE), TX_INT_ENABLE);
        masked.resume();
        l.push("main");
        let first = Thread::spawn(at(5), || assert_eq!(interrupt_control(TX_INT_ENABLE), TX_INT_ENABLE));
        assert_eq!(first.state(), TX_COMPLETED);
        sleep(2);
    });
    log.expect("masked interrupt main still interrupt2 main again unmasked");
}

#[test]
fn a_thread_started_by_a_masked_one_has_interrupts_on() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        interrupt_control(TX_INT_DISABLE);
        let l2 = l.clone();
        Thread::spawn(at(5), move || {
            let l3 = l2.clone();
            isr(move || l3.push("interrupt"));
            l2.push("thread");
        });
        let l2 = l.clone();
        isr(move || l2.push("late"));
        l.push("main");
        interrupt_control(TX_INT_ENABLE);
    });
    log.expect("interrupt thread main late");
}

#[test]
fn postures_nest_by_saving() {
    scenario(|| {
        let first = interrupt_control(TX_INT_DISABLE);
        let second = interrupt_control(TX_INT_DISABLE);
        assert_eq!((first, second), (TX_INT_ENABLE, TX_INT_DISABLE));
        assert_eq!(interrupt_control(second), TX_INT_DISABLE);
        assert_eq!(interrupt_control(first), TX_INT_DISABLE);
        assert_eq!(interrupt_control(first), TX_INT_ENABLE);
    });
}

// ---- K02 ---------------------------------------------------------------------------------------

type Service = Box<dyn Fn() -> UINT>;

static HIGH: Mutex<Option<Thread>> = Mutex::new(None);
static ISSUED: AtomicU32 = AtomicU32::new(0);
static RUNS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C-unwind" fn ignore_put(_semaphore: *mut TX_SEMAPHORE) {}
unsafe extern "C-unwind" fn ignore_thread(_thread: *mut TX_THREAD, _what: UINT) {}

#[test]
fn k02_a_thread_readied_in_the_middle_of_a_service_runs_before_the_caller_goes_on() {
    scenario(|| {
        let high = Thread::spawn(at(2).suspended(), || {
            loop {
                RUNS.fetch_add(1, Ordering::Relaxed);
                identify().suspend();
            }
        });
        *HIGH.lock().unwrap() = Some(high);
        ISSUED.store(0, Ordering::Relaxed);
        RUNS.store(0, Ordering::Relaxed);

        let semaphore = Semaphore::new(1);
        let notifying = Semaphore::new(0);
        notifying.put_notify(Some(ignore_put));
        let with_waiters = Semaphore::new(0);
        let waiters = [18, 20, 19].map(|p| {
            Thread::spawn(at(p), move || {
                with_waiters.get(TX_WAIT_FOREVER);
                with_waiters.get(TX_WAIT_FOREVER);
            })
        });
        let low = Thread::spawn(at(25), || {
            sleep(1000);
        });
        let over = Thread::spawn(at(3), || {});
        let fresh = Thread::new();
        let timer = Timer::start(1000, 1000, || {});
        let new_timer = Timer::new();
        let new_semaphore = Semaphore::blank();
        sleep(1);
        assert_eq!(with_waiters.info().waiting, 3);
        assert_eq!(waiters[0].state(), TX_SEMAPHORE_SUSP);

        let services: [(&str, Service); 41] = [
            ("semaphore get", Box::new(move || semaphore.get(TX_WAIT_FOREVER))),
            ("semaphore put", Box::new(move || semaphore.put())),
            ("semaphore ceiling put", Box::new(move || semaphore.ceiling_put(5))),
            ("semaphore prioritize", Box::new(move || with_waiters.prioritize())),
            ("semaphore put to a waiter", Box::new(move || with_waiters.put())),
            ("semaphore put with notification", Box::new(move || notifying.put())),
            ("semaphore notify", Box::new(move || with_waiters.put_notify(Some(ignore_put)))),
            ("semaphore put to a waiter with notification", Box::new(move || with_waiters.put())),
            ("semaphore info", Box::new(move || with_waiters.info().count)),
            ("semaphore delete", Box::new(move || with_waiters.delete())),
            ("semaphore create", Box::new(move || new_semaphore.create(0))),
            (
                "semaphore time-out",
                Box::new(move || {
                    host::tick();
                    TX_NO_INSTANCE - new_semaphore.get(1)
                }),
            ),
            ("thread create", Box::new(move || fresh.create(at(26).suspended(), || {}))),
            ("thread notify", Box::new(move || fresh.entry_exit_notify(Some(ignore_thread)))),
            ("thread resume", Box::new(move || fresh.resume())),
            ("thread suspend", Box::new(move || fresh.suspend())),
            ("thread suspend again", Box::new(move || fresh.suspend())),
            ("thread terminate", Box::new(move || fresh.terminate())),
            ("thread terminate again", Box::new(move || fresh.terminate())),
            ("thread reset", Box::new(move || fresh.reset())),
            ("thread priority", Box::new(move || fresh.priority_change(4).map_or(99, |_| 0))),
            ("thread threshold", Box::new(move || fresh.preemption_change(3).map_or(99, |_| 0))),
            ("thread time-slice", Box::new(move || fresh.time_slice_change(3).map_or(99, |_| 0))),
            ("thread info", Box::new(move || fresh.info().state - TX_SUSPENDED)),
            ("thread wait abort", Box::new(move || low.wait_abort())),
            ("thread delete", Box::new(move || over.delete())),
            ("own priority down", Box::new(|| identify().priority_change(17).map_or(99, |_| 0))),
            ("own priority up", Box::new(|| identify().priority_change(16).map_or(99, |_| 0))),
            ("own threshold", Box::new(|| identify().preemption_change(8).map_or(99, |_| 0))),
            ("own threshold off", Box::new(|| identify().preemption_change(16).map_or(99, |_| 0))),
            (
                "relinquish",
                Box::new(|| {
                    relinquish();
                    0
                }),
            ),
            ("sleep", Box::new(|| sleep(1))),
            ("interrupt control", Box::new(|| interrupt_control(TX_INT_ENABLE))),
            ("time get", Box::new(|| now() & !0xFFFF)),
            (
                "time set",
                Box::new(|| {
                    set_now(0);
                    0
                }),
            ),
            ("timer create", Box::new(move || new_timer.create(5, 5, TX_AUTO_ACTIVATE, || {}))),
            ("timer deactivate", Box::new(move || timer.deactivate())),
            ("timer change", Box::new(move || timer.change(7, 7))),
            ("timer activate", Box::new(move || timer.activate())),
            ("timer info", Box::new(move || 1 - timer.info().active)),
            ("timer delete", Box::new(move || timer.delete())),
        ];
        host::set_interrupt_point(Some(|| {
            isr(|| {
                let high = *HIGH.lock().unwrap();
                if let Some(high) = high
                    && high.resume() == TX_SUCCESS
                {
                    ISSUED.fetch_add(1, Ordering::Relaxed);
                }
            });
        }));
        for (name, service) in &services {
            let before = ISSUED.load(Ordering::Relaxed);
            let status = service();
            let (issued, runs) = (ISSUED.load(Ordering::Relaxed), RUNS.load(Ordering::Relaxed));
            assert_eq!(status, TX_SUCCESS, "{name}");
            assert!(issued > before, "no interrupt came during {name}");
            assert_eq!(issued, runs, "{name}");
        }
        host::set_interrupt_point(None);
        *HIGH.lock().unwrap() = None;
        check();
    });
}

/// The head of the ready list lags behind the fast path: a thread that then leaves three equals is followed by
/// the one behind it.
#[test]
fn one_of_three_that_suspends_after_a_relinquish_is_followed_by_the_next() {
    for ends in [false, true] {
        let log = Log::new();
        let l = log.clone();
        run(move || {
            for (name, again, last) in [("a1", "a2", "a3"), ("b1", "b2", "b3"), ("c1", "c2", "c3")] {
                let l = l.clone();
                Thread::spawn(at(16), move || {
                    l.push(name);
                    relinquish();
                    l.push(again);
                    if name == "b1" && !ends {
                        identify().suspend();
                    } else if name != "b1" {
                        relinquish();
                        l.push(last);
                    }
                });
            }
        });
        log.expect("a1 b1 c1 a2 b2 c2 a3 c3");
    }
}
