//! The reasons why a login or a form is refused, as people see them.

use http::StatusCode;

/// The reason why a login or a form is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The callback without `state`, or without `code` and `error`.
    #[error("This address is for GitHub's answer to a login, and the answer is missing.")]
    NoAnswer,
    /// The cookie of the login is missing or forged.
    #[error("This login did not begin in this browser, or cookies are blocked.")]
    NotBegun,
    /// The `state` is that of another login.
    #[error("This answer from GitHub belongs to another login, which a later one has replaced.")]
    OtherLogin,
    /// The login took too long.
    #[error("This login began more than 10 minutes ago.")]
    Late,
    /// The user cancelled the login.
    #[error("The login was cancelled on GitHub.")]
    Cancelled,
    /// GitHub does not know the code.
    #[error("GitHub does not accept the code of this login: it was used before or is too old.")]
    Code,
    /// GitHub refuses the credentials or the callback URL.
    #[error(
        "GitHub does not accept the client ID, the client secret or the callback URL of this bot. Its operator finds the \
         details in the log."
    )]
    Credentials,
    /// GitHub did not answer as expected.
    #[error("GitHub did not confirm the login. The bot's log has the details.")]
    GitHub,
    /// The operator's token is another one.
    #[error("This is not the operator's token.")]
    Token,
    /// A form that a page of another site sent, or a program that does not say.
    #[error("The form was not sent from a page of this bot.")]
    OtherSite,
    /// A form of another session.
    #[error("The form belongs to an earlier session. Go back, reload the page, and send it again.")]
    OldForm,
}

impl Refusal {
    /// Returns the status of the response.
    pub fn status(self) -> StatusCode {
        match self {
            Self::NoAnswer => StatusCode::BAD_REQUEST,
            Self::NotBegun
            | Self::OtherLogin
            | Self::Late
            | Self::Cancelled
            | Self::Code
            | Self::Token
            | Self::OtherSite
            | Self::OldForm => StatusCode::FORBIDDEN,
            Self::Credentials | Self::GitHub => StatusCode::BAD_GATEWAY,
        }
    }
}
