//! Lists of secrets that grow. [`zeroize::Zeroizing`] wipes a list when it is dropped, but not the
//! buffer that a growing list abandons: that is returned to the allocator as it is. Where the
//! length is known, a list is allocated with its full capacity; where it is not, it grows here.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::math::wiped;
//! use zeroize::Zeroizing;
//!
//! let mut labels = Zeroizing::new(vec![7u128, 8]);
//! wiped::resize(&mut labels, 4);
//! assert_eq!(*labels, [7, 8, 0, 0]);
//!
//! wiped::make_room(&mut labels, 2);
//! assert!(labels.capacity() >= 6);
//! ```

use zeroize::Zeroize;

/// Reserves capacity for `more` elements. If the list has to be reallocated, the old buffer is
/// wiped. A reallocated list grows by a quarter of its length, so that it is not reallocated often,
/// and by no more, since wiping it touches its whole capacity.
pub fn make_room<T: Zeroize + Clone>(list: &mut Vec<T>, more: usize) {
    let length = list.len();
    if list.capacity() - length >= more {
        return;
    }
    let mut larger = Vec::with_capacity(length + more.max(length / 4));
    larger.extend_from_slice(list);
    std::mem::replace(list, larger).zeroize();
}

/// Makes the list `length` long, with default elements at its end; never shorter.
pub fn resize<T: Zeroize + Clone + Default>(list: &mut Vec<T>, length: usize) {
    if length > list.len() {
        make_room(list, length - list.len());
        list.resize(length, T::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    /// A secret that counts how many of its kind were wiped.
    #[derive(Clone, Default)]
    struct Noted {
        value: u32,
        wiped: Rc<Cell<usize>>,
    }

    impl Zeroize for Noted {
        fn zeroize(&mut self) {
            self.value = 0;
            self.wiped.set(self.wiped.get() + 1);
        }
    }

    fn secrets(count: u32) -> (Vec<Noted>, Rc<Cell<usize>>) {
        let wiped = Rc::new(Cell::new(0));
        let secret = |value| Noted { value, wiped: Rc::clone(&wiped) };
        let mut list: Vec<Noted> = (1..=count).map(secret).collect();
        list.shrink_to_fit();
        (list, wiped)
    }

    #[test]
    fn a_list_that_moves_wipes_the_place_that_it_leaves() {
        let (mut list, wiped) = secrets(10);
        resize(&mut list, 11);
        assert_eq!(wiped.get(), 10, "all that was in the old place");
        assert!(list.iter().map(|secret| secret.value).eq((1..=10).chain([0])));
        assert_eq!(list.capacity(), 12, "a quarter more, and no more");
    }

    #[test]
    fn a_list_that_has_room_stays_where_it_is() {
        let (mut list, wiped) = secrets(10);
        make_room(&mut list, 100);
        assert_eq!((wiped.get(), list.capacity()), (10, 110));
        let place = list.as_ptr();
        for length in 10..=110 {
            resize(&mut list, length);
        }
        resize(&mut list, 3);
        assert_eq!((wiped.get(), list.len()), (10, 110), "never shorter");
        assert_eq!(list.as_ptr(), place);
    }
}
