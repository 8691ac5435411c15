//! Reading plans back, on small pages.
