//! In steady state nothing is allocated: a whole gradient step on one thread, counted.
#![allow(unsafe_code)]

use adfq_nn::{Adam, AdamSettings, Clip, Head, Layer, Network, Padding, Spec, Workspace};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Those of this thread: the test harness has threads of its own.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller vouches.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller vouches.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_gradient_step_allocates_nothing() {
    let spec = Spec {
        input: vec![9, 9, 2],
        layers: vec![
            Layer::Conv { filters: 5, kernel: 3, stride: 2, padding: Padding::Same },
            Layer::Conv { filters: 4, kernel: 2, stride: 1, padding: Padding::Valid },
            Layer::dense(20),
        ],
        head: Head { actions: 3, groups: 2, dueling: Some(8) },
    };
    let network = Network::new(&spec).expect("a network");
    let mut params = vec![0.1; network.parameters()];
    let mut grads = params.clone();
    let input = vec![0.5; 8 * network.inputs()];
    let out_grad = vec![1.0; 8 * network.outputs()];
    let mut ws = Workspace::new(&network, 1, 8).expect("a workspace");
    let mut adam = Adam::new(AdamSettings::default(), &network, 1).expect("an optimiser");
    let mut step = || {
        network.forward(&params, &input, &mut ws).expect("forward");
        network.backward(&params, &input, &out_grad, &mut ws, &mut grads).expect("backward");
        adam.step(&network, Clip::PerTensor(1.0), &mut params, &grads).expect("a step");
    };
    step();
    let before = ALLOCATIONS.get();
    for _ in 0..10 {
        step();
    }
    assert_eq!(ALLOCATIONS.get(), before);
    // The counter counts.
    drop(std::hint::black_box(vec![0_u8; 100]));
    assert_eq!(ALLOCATIONS.get(), before + 1);
}
