//! Which images may go. Pure, since it decides about removing what took minutes to make.

use crate::Bytes;

/// What is to be removed. Every wish that is given removes what it covers, whatever the others say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrunePolicy {
    /// Everything.
    pub all: bool,
    /// What was made longer ago than this many seconds.
    pub older_than: Option<u64>,
    /// What was not used for this many seconds.
    pub unused: Option<u64>,
    /// What was used longest ago, until the rest is no larger than this.
    pub keep_size: Option<Bytes>,
}

/// What decides about an image. Times are seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighed {
    /// Its size.
    pub size: Bytes,
    /// When it was made or fetched, if that is known.
    pub made: Option<u64>,
    /// When a box was last opened from it, if one ever was.
    pub used: Option<u64>,
    /// No name leads to it: another took its place.
    pub nameless: bool,
}

/// Why an image goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PruneReason {
    /// No name leads to it.
    Nameless,
    /// All were to go.
    All,
    /// It is too old.
    Old,
    /// It was not used for too long.
    Unused,
    /// All together are too large.
    Space,
}

/// What becomes of each image; `None` for those that stay. Of an image whose age is not known
/// nothing is assumed: only `all` and `keep_size` remove it.
pub fn doomed(images: &[Weighed], policy: &PrunePolicy, now: u64) -> Vec<Option<PruneReason>> {
    let longer_ago =
        |then: Option<u64>, span: u64| then.is_some_and(|then| now.saturating_sub(then) > span);
    let mut fates: Vec<Option<PruneReason>> = images
        .iter()
        .map(|image| {
            // One that was never used is unused since it was made.
            let last = image.used.max(image.made);
            if image.nameless {
                Some(PruneReason::Nameless)
            } else if policy.all {
                Some(PruneReason::All)
            } else if policy.older_than.is_some_and(|span| longer_ago(image.made, span)) {
                Some(PruneReason::Old)
            } else if policy.unused.is_some_and(|span| longer_ago(last, span)) {
                Some(PruneReason::Unused)
            } else {
                None
            }
        })
        .collect();
    if let Some(most) = policy.keep_size {
        make_room(images, &mut fates, most);
    }
    fates
}

fn make_room(images: &[Weighed], fates: &mut [Option<PruneReason>], most: Bytes) {
    let mut staying: Vec<usize> = (0..images.len()).filter(|&at| fates[at].is_none()).collect();
    staying.sort_by_key(|&at| images[at].used.max(images[at].made));
    let mut total: u64 = staying.iter().map(|&at| images[at].size.get()).sum();
    for at in staying {
        if total <= most.get() {
            return;
        }
        fates[at] = Some(PruneReason::Space);
        total -= images[at].size.get();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DAY: u64 = 86_400;
    const NOW: u64 = 1000 * DAY;

    fn image(size: u64, made_days_ago: u64, used_days_ago: Option<u64>) -> Weighed {
        Weighed {
            size: Bytes::new(size),
            made: Some(NOW - made_days_ago * DAY),
            used: used_days_ago.map(|days| NOW - days * DAY),
            nameless: false,
        }
    }

    #[test]
    fn each_wish_removes_what_it_covers() {
        use PruneReason::{All, Nameless, Old, Space, Unused};
        let images = [image(10, 40, Some(1)), image(20, 10, Some(8)), image(30, 5, None)];
        let fates = |policy: PrunePolicy| doomed(&images, &policy, NOW);
        let none = PrunePolicy::default();
        assert_eq!(fates(none), [None, None, None]);
        assert_eq!(fates(PrunePolicy { all: true, ..none }), [Some(All); 3]);
        let old = PrunePolicy { older_than: Some(30 * DAY), ..none };
        assert_eq!(fates(old), [Some(Old), None, None]);
        let unused = PrunePolicy { unused: Some(7 * DAY), ..none };
        assert_eq!(fates(unused), [None, Some(Unused), None], "the newest is unused for 5 days");
        let small = PrunePolicy { keep_size: Some(Bytes::new(40)), ..none };
        assert_eq!(fates(small), [None, Some(Space), None], "the one used longest ago");
        let both =
            PrunePolicy { older_than: Some(30 * DAY), keep_size: Some(Bytes::new(30)), ..none };
        assert_eq!(fates(both), [Some(Old), Some(Space), None]);
        let nameless = Weighed { nameless: true, ..images[0] };
        assert_eq!(doomed(&[nameless], &none, NOW), [Some(Nameless)]);
    }

    #[test]
    fn nothing_is_assumed_of_an_image_of_unknown_age() {
        let unknown = Weighed { size: Bytes::new(9), made: None, used: None, nameless: false };
        let strict = PrunePolicy { older_than: Some(0), unused: Some(0), ..PrunePolicy::default() };
        assert_eq!(doomed(&[unknown], &strict, NOW), [None]);
    }

    fn images() -> impl Strategy<Value = Vec<Weighed>> {
        let time = || proptest::option::of(0..NOW);
        let one =
            (0u64..1000, time(), time(), any::<bool>()).prop_map(|(size, made, used, nameless)| {
                Weighed { size: Bytes::new(size), made, used, nameless }
            });
        proptest::collection::vec(one, 0..12)
    }

    fn policy() -> impl Strategy<Value = PrunePolicy> {
        let span = || proptest::option::of(0..NOW);
        (span(), span(), proptest::option::of(0u64..5000)).prop_map(|(older_than, unused, keep)| {
            PrunePolicy { all: false, older_than, unused, keep_size: keep.map(Bytes::new) }
        })
    }

    proptest! {
        #[test]
        fn what_stays_fits_and_nothing_goes_without_a_reason(
            images in images(), policy in policy(),
        ) {
            let fates = doomed(&images, &policy, NOW);
            prop_assert_eq!(fates.len(), images.len());
            let staying = || images.iter().zip(&fates).filter(|(_, fate)| fate.is_none());
            let total: u64 = staying().map(|(image, _)| image.size.get()).sum();
            if let Some(most) = policy.keep_size {
                prop_assert!(total <= most.get());
            }
            for (image, fate) in images.iter().zip(&fates) {
                let last = image.used.max(image.made);
                let past = |then: Option<u64>, span: Option<u64>| {
                    then.zip(span).is_some_and(|(then, span)| NOW - then > span)
                };
                let asked = past(image.made, policy.older_than) || past(last, policy.unused);
                match fate {
                    None => prop_assert!(!image.nameless && !asked),
                    Some(PruneReason::Nameless) => prop_assert!(image.nameless),
                    Some(PruneReason::Old | PruneReason::Unused) => prop_assert!(asked),
                    // Nothing that stays was used longer ago.
                    Some(PruneReason::Space) => {
                        for (other, _) in staying() {
                            prop_assert!(other.used.max(other.made) >= last);
                        }
                    }
                    Some(PruneReason::All) => prop_assert!(false, "nobody wanted that"),
                }
            }
        }

        #[test]
        fn a_second_time_removes_nothing(images in images(), policy in policy()) {
            let fates = doomed(&images, &policy, NOW);
            let left: Vec<Weighed> =
                images.iter().zip(&fates).filter(|(_, fate)| fate.is_none()).map(|(i, _)| *i).collect();
            prop_assert!(doomed(&left, &policy, NOW).iter().all(Option::is_none));
        }
    }
}
