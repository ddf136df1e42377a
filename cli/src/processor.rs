//! Whether this processor has the instructions that the program is compiled for.

/// The instructions that the program uses and the processor lacks, in words.
#[cfg(all(target_arch = "x86_64", target_feature = "avx2", target_feature = "bmi2"))]
pub(crate) fn missing_instructions() -> Option<&'static str> {
    // `is_x86_feature_detected!` answers yes without looking where the
    // compiler has been told that the feature is there, so the processor
    // itself is asked.
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const OS_SAVES_REGISTERS: u32 = 1 << 27;
    const AVX: u32 = 1 << 28;
    const BMI1: u32 = 1 << 3;
    const AVX2: u32 = 1 << 5;
    const BMI2: u32 = 1 << 8;
    const LZCNT: u32 = 1 << 5;
    const EXTENDED: u32 = 0x8000_0001;
    // Newer compilers call these safe.
    #[allow(unused_unsafe)]
    // SAFETY: every x86-64 processor has the instruction and these two leaves.
    let (leaves, extended_leaves) = unsafe { (__cpuid(0).eax, __cpuid(0x8000_0000).eax) };
    if leaves < 7 || extended_leaves < EXTENDED {
        return Some("AVX2 and BMI2");
    }
    #[allow(unused_unsafe)]
    // SAFETY: as above, and the processor has just said that it has these leaves.
    let (first, seventh, extended) = unsafe { (__cpuid(1), __cpuid_count(7, 0), __cpuid(EXTENDED)) };
    if first.ecx & (OS_SAVES_REGISTERS | AVX) != OS_SAVES_REGISTERS | AVX || seventh.ebx & AVX2 == 0 {
        Some("AVX2")
    } else if seventh.ebx & (BMI1 | BMI2) != BMI1 | BMI2 || extended.ecx & LZCNT == 0 {
        Some("BMI2")
    } else {
        None
    }
}

/// The program is compiled for any processor of its kind.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx2", target_feature = "bmi2")))]
pub(crate) fn missing_instructions() -> Option<&'static str> {
    None
}
