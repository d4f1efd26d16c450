//! Operators. Those that can overflow check it themselves, whatever the profile says.

use core::fmt;
use core::iter::Sum;
use core::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
    Mul, MulAssign, Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use crate::IVec3_128;

/// Ends an operator without a result. Out of line, so that operators inline small.
#[cold]
#[inline(never)]
#[track_caller]
fn no_result(a: impl fmt::Display, op: &str, b: impl fmt::Display, instead: &str) -> ! {
    panic!("{a} {op} {b} has no result in i128; use {instead} to handle that")
}

/// Operators that can fail: vector with vector, vector with number, number with vector, and both
/// assigning forms.
macro_rules! checked_operators {
    ($($op:ident $method:ident $assign:ident $assign_method:ident $sign:literal $checked:ident;)*) => {$(
        impl $op for IVec3_128 {
            type Output = Self;

            /// Works axis by axis.
            ///
            /// # Panics
            /// When a component has no result in `i128`, in every profile.
            #[inline]
            #[track_caller]
            fn $method(self, other: Self) -> Self {
                match self.$checked(other) {
                    Some(result) => result,
                    None => no_result(self, $sign, other, stringify!($checked)),
                }
            }
        }

        impl $op<i128> for IVec3_128 {
            type Output = Self;

            /// Works with the same number on every axis.
            ///
            /// # Panics
            /// When a component has no result in `i128`, in every profile.
            #[inline]
            #[track_caller]
            fn $method(self, other: i128) -> Self {
                match self.$checked(Self::splat(other)) {
                    Some(result) => result,
                    None => no_result(self, $sign, other, stringify!($checked)),
                }
            }
        }

        impl $op<IVec3_128> for i128 {
            type Output = IVec3_128;

            /// Works with the same number on every axis.
            ///
            /// # Panics
            /// When a component has no result in `i128`, in every profile.
            #[inline]
            #[track_caller]
            fn $method(self, other: IVec3_128) -> IVec3_128 {
                match IVec3_128::splat(self).$checked(other) {
                    Some(result) => result,
                    None => no_result(self, $sign, other, stringify!($checked)),
                }
            }
        }

        impl $assign for IVec3_128 {
            #[inline]
            #[track_caller]
            fn $assign_method(&mut self, other: Self) {
                *self = $op::$method(*self, other);
            }
        }

        impl $assign<i128> for IVec3_128 {
            #[inline]
            #[track_caller]
            fn $assign_method(&mut self, other: i128) {
                *self = $op::$method(*self, other);
            }
        }
    )*};
}

checked_operators! {
    Add add AddAssign add_assign "+" checked_add;
    Sub sub SubAssign sub_assign "-" checked_sub;
    Mul mul MulAssign mul_assign "*" checked_mul;
    Div div DivAssign div_assign "/" checked_div;
    Rem rem RemAssign rem_assign "%" checked_rem;
}

/// Bitwise operators, which cannot fail, in the same five forms.
macro_rules! bit_operators {
    ($($op:ident $method:ident $assign:ident $assign_method:ident;)*) => {$(
        impl $op for IVec3_128 {
            type Output = Self;

            #[inline]
            fn $method(self, other: Self) -> Self {
                self.zip(other, $op::$method)
            }
        }

        impl $op<i128> for IVec3_128 {
            type Output = Self;

            #[inline]
            fn $method(self, other: i128) -> Self {
                self.map(|c| $op::$method(c, other))
            }
        }

        impl $op<IVec3_128> for i128 {
            type Output = IVec3_128;

            #[inline]
            fn $method(self, other: IVec3_128) -> IVec3_128 {
                other.map(|c| $op::$method(self, c))
            }
        }

        impl $assign for IVec3_128 {
            #[inline]
            fn $assign_method(&mut self, other: Self) {
                *self = $op::$method(*self, other);
            }
        }

        impl $assign<i128> for IVec3_128 {
            #[inline]
            fn $assign_method(&mut self, other: i128) {
                *self = $op::$method(*self, other);
            }
        }
    )*};
}

bit_operators! {
    BitAnd bitand BitAndAssign bitand_assign;
    BitOr bitor BitOrAssign bitor_assign;
    BitXor bitxor BitXorAssign bitxor_assign;
}

/// Shifts of every axis by the same number of bits.
macro_rules! shifts {
    ($($op:ident $method:ident $assign:ident $assign_method:ident $sign:literal $checked:ident;)*) => {$(
        impl $op<u32> for IVec3_128 {
            type Output = Self;

            /// Shifts every component; bits that are shifted out are lost, as with integers.
            ///
            /// # Panics
            /// When `bits` is 128 or more, in every profile.
            #[inline]
            #[track_caller]
            fn $method(self, bits: u32) -> Self {
                match self.$checked(bits) {
                    Some(result) => result,
                    None => no_result(self, $sign, bits, stringify!($checked)),
                }
            }
        }

        impl $assign<u32> for IVec3_128 {
            #[inline]
            #[track_caller]
            fn $assign_method(&mut self, bits: u32) {
                *self = $op::$method(*self, bits);
            }
        }
    )*};
}

shifts! {
    Shl shl ShlAssign shl_assign "<<" checked_shl;
    Shr shr ShrAssign shr_assign ">>" checked_shr;
}

impl Neg for IVec3_128 {
    type Output = Self;

    /// Turns the displacement around.
    ///
    /// # Panics
    /// When a component is `i128::MIN`, in every profile.
    #[inline]
    #[track_caller]
    fn neg(self) -> Self {
        match self.checked_neg() {
            Some(result) => result,
            None => panic!("-{self} has no result in i128; use checked_neg to handle that"),
        }
    }
}

impl Not for IVec3_128 {
    type Output = Self;

    /// Turns every bit around.
    #[inline]
    fn not(self) -> Self {
        self.map(Not::not)
    }
}

impl Sum for IVec3_128 {
    /// Adds displacements one after the other.
    ///
    /// # Panics
    /// When a running sum leaves `i128`, in every profile.
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        let mut sum = Self::ZERO;
        for v in iter {
            sum += v;
        }
        sum
    }
}
