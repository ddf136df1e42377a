//! The system's allocator, told to give large arrays back.

/// Has memory of large arrays go back to the system as soon as they are freed.
///
/// The GNU allocator maps large arrays by themselves, but after it has freed one of up to 32 MiB it takes those of up to this
/// size from its heaps, which keep what is freed behind anything that is not: building `chess KRPvK` with distances on two
/// threads then held 140 MB where 100 MB were in use. With a fixed size it does not adapt.
///
/// To be called before there are threads. Other allocators stay as they are.
pub(crate) fn give_large_arrays_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // Below, mapping would cost more than it saves: solving takes the same arrays again and again.
        const MAPPED_FROM: libc::c_int = 4 << 20;
        // SAFETY: it sets a number of the allocator, which takes any at any time before there are threads.
        let set = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM) };
        // Refused, memory is given back later.
        let _ = set;
    }
}
