//! The heap of a single-threaded program: power-of-two classes with free lists, pages for the rest.

use core::{
    alloc::{GlobalAlloc, Layout},
    cell::UnsafeCell,
    ptr::{NonNull, null_mut},
};

use crate::sys::{map_pages, unmap_pages};

/// Blocks of 16 bytes up to 64 KiB come from chunks; larger ones are mapped one by one.
const LEAST_SHIFT: u32 = 4;
const MOST_SHIFT: u32 = 16;
const CLASSES: usize = (MOST_SHIFT - LEAST_SHIFT + 1) as usize;
const CHUNK: usize = 256 << 10;

struct FreeBlock {
    next: Option<NonNull<FreeBlock>>,
}

struct State {
    free: [Option<NonNull<FreeBlock>>; CLASSES],
    chunk: *mut u8,
    left: usize,
}

/// The allocator. Only for a program that never has a second thread.
pub struct Heap(UnsafeCell<State>);

// SAFETY: the program has one thread, so no two threads ever use the heap.
unsafe impl Sync for Heap {}

impl Heap {
    /// An empty heap.
    pub const fn new() -> Heap {
        Heap(UnsafeCell::new(State { free: [None; CLASSES], chunk: null_mut(), left: 0 }))
    }
}

impl Default for Heap {
    fn default() -> Self {
        Heap::new()
    }
}

fn class_of(layout: &Layout) -> Option<(usize, usize)> {
    let size = layout.size().max(layout.align()).max(1 << LEAST_SHIFT).next_power_of_two();
    (size <= 1 << MOST_SHIFT).then(|| ((size.trailing_zeros() - LEAST_SHIFT) as usize, size))
}

// SAFETY: blocks are disjoint, large enough, and aligned to their power-of-two size up to a page,
// which is the most that this program asks for.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some((class, size)) = class_of(&layout) else {
            return map_pages(layout.size()).unwrap_or(null_mut());
        };
        // SAFETY: one thread, and no reference outlives this call.
        let state = unsafe { &mut *self.0.get() };
        if let Some(block) = state.free[class] {
            // SAFETY: a block in the list is free and was written by `dealloc`.
            state.free[class] = unsafe { block.as_ref() }.next;
            return block.as_ptr().cast();
        }
        let skip = state.chunk.align_offset(size.min(4096));
        if state.chunk.is_null() || state.left < size + skip {
            let Ok(chunk) = map_pages(CHUNK) else { return null_mut() };
            (state.chunk, state.left) = (chunk, CHUNK);
            return carve(state, size, 0);
        }
        carve(state, size, skip)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the same layout.
        let pointer = unsafe { self.alloc(layout) };
        // Fresh pages are zero already, and touching a megabyte of them costs half a millisecond.
        if class_of(&layout).is_some() && !pointer.is_null() {
            // SAFETY: the block is at least this long and ours.
            unsafe { pointer.write_bytes(0, layout.size()) };
        }
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let Some((class, _)) = class_of(&layout) else {
            unmap_pages(pointer, layout.size());
            return;
        };
        let Some(block) = NonNull::new(pointer.cast::<FreeBlock>()) else { return };
        // SAFETY: one thread, and no reference outlives this call.
        let state = unsafe { &mut *self.0.get() };
        // SAFETY: the block is ours again, at least 16 bytes long and aligned to its size.
        unsafe { block.write(FreeBlock { next: state.free[class] }) };
        state.free[class] = Some(block);
    }
}

fn carve(state: &mut State, size: usize, skip: usize) -> *mut u8 {
    // SAFETY: the caller checked that `skip + size` bytes are left in the chunk.
    let (block, rest) = unsafe { (state.chunk.add(skip), state.chunk.add(skip + size)) };
    state.chunk = rest;
    state.left -= skip + size;
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_disjoint_and_reused() {
        let heap = Heap::new();
        let mut blocks = std::vec::Vec::new();
        for size in [1, 16, 17, 100, 4096, 5000, 65_536, 70_000, 300_000] {
            for align in [1, 8, 64, 4096] {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: the layout is not empty.
                let pointer = unsafe { heap.alloc(layout) };
                assert!(!pointer.is_null());
                assert_eq!(pointer as usize % align, 0);
                // SAFETY: the block is ours.
                unsafe { pointer.write_bytes(blocks.len() as u8, size) };
                blocks.push((pointer, layout));
            }
        }
        for (index, (pointer, layout)) in blocks.iter().enumerate() {
            for offset in 0..layout.size() {
                // SAFETY: the block is ours and was written whole.
                assert_eq!(unsafe { *pointer.add(offset) }, index as u8);
            }
        }
        let (first, layout) = blocks[0];
        // SAFETY: allocated above with this layout.
        unsafe { heap.dealloc(first, layout) };
        // SAFETY: the layout is not empty.
        assert_eq!(unsafe { heap.alloc(layout) }, first);
    }
}
