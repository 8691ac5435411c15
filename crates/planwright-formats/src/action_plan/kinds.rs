//! Kinds of errors: for each a stable name for programs and a description for people, which is its documentation.

macro_rules! kinds {
    (
        $(#[doc = $about:literal])+ $type:ident:
        $($(#[doc = $doc:literal])+ $name:ident = $code:literal,)+
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type {
            $($(#[doc = $doc])+ $name,)+
        }

        impl $type {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Stable name for programs, in kebab case.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// What it means, as one sentence for people; code in back-ticks.
            pub fn describe(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+).trim_start(),)+
                }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

pub(super) use kinds;
