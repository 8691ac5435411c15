//! Classes of ASCII bytes that credentials are made of. No byte of a multi-byte character is in any of them.

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Letters, digits, `_`.
    Word,
    /// [`Class::Word`] and `-`.
    WordOrHyphen,
    /// [`Class::WordOrHyphen`] and `.`.
    Token,
    /// What an `Authorization` value is made of (RFC 9110 `token68`).
    Token68,
    /// Capital letters and digits.
    CapitalOrDigit,
    /// Letters, digits, `+`, `/`.
    Base64,
    /// Base64 with padding, line ends and written-out `\n`.
    PemMaterial,
    /// The words between the dashes of a PEM marker.
    Label,
    /// The dashes.
    Hyphen,
    /// What may stand between `://` and the end of `user:password@host`.
    Authority,
    /// Space and tab.
    Blank,
    /// Quotation marks and the backslash that escapes them.
    Quote,
}

impl Class {
    /// How many classes there are.
    pub(super) const COUNT: usize = Self::Quote as usize + 1;

    /// Whether the byte is in the class.
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::WordOrHyphen => Self::Word.has(byte) || byte == b'-',
            Self::Token => Self::WordOrHyphen.has(byte) || byte == b'.',
            Self::Token68 => Self::Token.has(byte) || matches!(byte, b'~' | b'+' | b'/' | b'='),
            Self::CapitalOrDigit => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'),
            Self::PemMaterial => {
                Self::Base64.has(byte) || matches!(byte, b'=' | b'\r' | b'\n' | b'\\')
            }
            Self::Label => byte.is_ascii_uppercase() || byte == b' ',
            Self::Hyphen => byte == b'-',
            Self::Authority => byte.is_ascii_graphic() && !b"/?#\"'<>`()|\\,".contains(&byte),
            Self::Blank => matches!(byte, b' ' | b'\t'),
            Self::Quote => matches!(byte, b'"' | b'\'' | b'\\'),
        }
    }
}
