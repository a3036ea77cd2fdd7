//! Closed sets of words, each an enum.

/// An enum whose values have one spelling, in the log and on the wire.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$says:meta])* $value:ident => $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$says])* $value,)+
        }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$value),+];
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $word,)+
                }
            }

            /// `None` for a word that is not one of these.
            pub fn parse(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.as_str() == word)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, to: S) -> ::std::result::Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> ::std::result::Result<$name, D::Error> {
                let word = <::std::borrow::Cow<'_, str> as ::serde::Deserialize>::deserialize(from)?;
                $name::parse(&word).ok_or_else(|| {
                    let words = $name::WORDS.join(", ");
                    ::serde::de::Error::custom(format!("must be one of {words}"))
                })
            }
        }

        impl ::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!({ "type": "string", "enum": $name::WORDS })
            }
        }
    };
}

pub(crate) use words;
