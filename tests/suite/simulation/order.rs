//! Disorder on demand.

use std::time::Duration;

use crate::raw::{Driver, ok, read, store, stream, trials, word};

trials! {
    a_seed_changes_the_order_between_streams_only,
}

fn a_seed_changes_the_order_between_streams_only(driver: &Driver) {
    let store_u32 = driver.kernel(c"store_u32");
    let order = |seed| {
        driver.client.expect("the simulated driver is loaded").schedule(seed, Duration::from_micros(200));
        let streams = [(); 4].map(|()| stream());
        let words = [(); 4].map(|()| word());
        for value in 1..=20 {
            for (stream, word) in streams.into_iter().zip(words) {
                store(stream, store_u32, word, value);
            }
        }
        ok!(cuStreamSynchronize(streams[0]));
        let seen = words.map(read);
        ok!(cuCtxSynchronize());
        assert_eq!(words.map(read), [20; 4], "seed {seed}");
        seen
    };
    let seen: Vec<_> = (0..8).map(order).collect();
    assert!(seen.iter().all(|seen| seen[0] == 20), "a stream's own work is done: {seen:?}");
    assert!(seen.iter().any(|seen| *seen != [20; 4]), "the streams are not in step: {seen:?}");
}
