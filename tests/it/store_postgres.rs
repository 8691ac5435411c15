//! The PostgreSQL store: every rule of the contract, and what several processes and a server of its
//! own add to it.

use crate::store_contract::{self as contract, for_each_history_rule, for_each_rule};
use crate::support::postgres::fresh;

macro_rules! rules {
    ($($module:ident::$rule:ident)*) => {$(
        mod $rule {
            #[tokio::test]
            async fn is_kept() {
                let Some(store) = super::fresh().await else {
                    return;
                };
                super::contract::$module::$rule(&store).await;
                planwright::engine::store::Store::close(&store).await;
            }
        }
    )*};
}
for_each_rule!(rules);

macro_rules! history_rules {
    ($($module:ident::$rule:ident)*) => {$(
        mod $rule {
            #[tokio::test]
            async fn is_kept() {
                let Some(store) = super::fresh().await else {
                    return;
                };
                let store = std::sync::Arc::new(store);
                super::contract::$module::$rule(&*store, &store.history()).await;
                planwright::engine::store::Store::close(&*store).await;
            }
        }
    )*};
}
for_each_history_rule!(history_rules);
