//! Belief updates as JSON lines: one object in, the same object with the posterior out.
//!
//! The fields are those of the golden files: `mu_sa, var_sa, r, gamma, var_w, mu_next, var_next` and, optionally,
//! `terminal`. All other fields pass through as they are. Which file is read and what happens after an error is the
//! caller's business.

use adfq::Belief;
use adfq::update::{Component, Next, NoiseKind, Transition, Update};
use indexmap::IndexMap;
use serde_json::value::RawValue;

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is not a JSON object.
    #[error("not a JSON object: {0}")]
    Json(#[from] serde_json::Error),
    /// A field that must be there is not.
    #[error("the field `{0}` is missing")]
    Missing(&'static str),
    /// A field holds something else than it should.
    #[error("the field `{field}` must be {need}, but it is {found}")]
    Kind {
        /// The field's name.
        field: &'static str,
        /// What it must hold.
        need: &'static str,
        /// What it holds, shortened.
        found: String,
    },
    /// The next means and variances are not of one length.
    #[error("`mu_next` has {means} values but `var_next` has {vars}: give one of each for every next action")]
    Lengths {
        /// Length of `mu_next`.
        means: usize,
        /// Length of `var_next`.
        vars: usize,
    },
    /// A value is not valid.
    #[error("`{field}`: {source}")]
    Field {
        /// The field's name.
        field: String,
        /// What is wrong with its value.
        source: adfq::Error,
    },
    /// The update itself cannot be done.
    #[error(transparent)]
    Update(#[from] adfq::Error),
}

/// How the posterior of a line is computed.
///
/// ```
/// use adfq::update::{NoiseKind, Rule, Update};
/// use adfq_lab::lines::LineUpdate;
///
/// let lines = LineUpdate {
///     update: Update::new(Rule::Analytic),
///     noise: NoiseKind::None,
///     terminal_var: 0.0,
///     components: false,
/// };
/// let line = r#"{"id":7,"mu_sa":0,"var_sa":1,"r":0,"gamma":1,"mu_next":[2],"var_next":[1]}"#;
/// let updated = lines.apply(line).unwrap();
/// assert!(updated.starts_with(r#"{"id":7,"#));
/// assert!(updated.ends_with(r#""mean":1.0000000000000000e0,"var":5.0000000000000000e-1}"#));
/// assert_eq!(lines.apply(r#"{"mu_sa":0}"#).unwrap_err().to_string(), "the field `var_sa` is missing");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LineUpdate {
    /// Rule and variance floor.
    pub update: Update,
    /// How `var_w` is treated; [`NoiseKind::None`] leaves it out.
    pub noise: NoiseKind,
    /// Target variance of terminal transitions.
    pub terminal_var: f64,
    /// Whether to add `mu_star`, `sd_star` and `weight`, one value for each next action.
    pub components: bool,
}

type Fields = IndexMap<String, Box<RawValue>>;

impl LineUpdate {
    /// The line with `mean` and `var` of the posterior, 17 significant digits each, as its last fields or in their
    /// place.
    pub fn apply(&self, line: &str) -> Result<String, LineError> {
        let mut fields: Fields = serde_json::from_str(line)?;
        let prior = belief(&fields, "mu_sa", "var_sa")?;
        let (reward, gamma) = (number(&fields, "r")?, number(&fields, "gamma")?);
        let var_w = if fields.contains_key("var_w") { number(&fields, "var_w")? } else { 0.0 };
        let beliefs;
        let next = if flag(&fields, "terminal")? {
            Next::Terminal { target_var: self.terminal_var }
        } else {
            beliefs = next_beliefs(&fields)?;
            Next::Beliefs(&beliefs)
        };
        let transition = Transition::new(prior, reward, gamma, next)?;
        let noise = self.noise.with_var(var_w);
        let posterior = self.update.apply(&transition, noise)?;
        set(&mut fields, "mean", digits(posterior.mean()))?;
        set(&mut fields, "var", digits(posterior.var()))?;
        if self.components {
            let components = self.update.components(&transition, noise)?;
            let list = |value: fn(&Component) -> f64| {
                let values: Vec<_> = components.as_slice().iter().map(|part| digits(value(part))).collect();
                format!("[{}]", values.join(","))
            };
            set(&mut fields, "mu_star", list(|part| part.mean))?;
            set(&mut fields, "sd_star", list(Component::sd))?;
            set(&mut fields, "weight", list(|part| part.weight))?;
        }
        Ok(serde_json::to_string(&fields)?)
    }
}

/// 17 significant digits: enough to read back the same double.
fn digits(value: f64) -> String {
    format!("{value:.16e}")
}

fn set(fields: &mut Fields, name: &str, json: String) -> Result<(), LineError> {
    fields.insert(name.into(), RawValue::from_string(json)?);
    Ok(())
}

fn raw<'a>(fields: &'a Fields, name: &'static str) -> Result<&'a str, LineError> {
    fields.get(name).map(|value| value.get()).ok_or(LineError::Missing(name))
}

/// The error for a field that holds something else.
fn kind(field: &'static str, need: &'static str, found: &str) -> LineError {
    let mut short: String = found.chars().take(40).collect();
    if short.len() < found.len() {
        short.push('…');
    }
    LineError::Kind { field, need, found: short }
}

/// JSON numbers are read by `f64::from_str`, which rounds correctly at any length.
fn number(fields: &Fields, name: &'static str) -> Result<f64, LineError> {
    let text = raw(fields, name)?;
    parse_number(text).ok_or_else(|| kind(name, "a number", text))
}

/// The token of a JSON number begins with a digit or a minus; everything else that `f64` would read ("inf") does not.
fn parse_number(text: &str) -> Option<f64> {
    if text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

fn numbers(fields: &Fields, name: &'static str) -> Result<Vec<f64>, LineError> {
    let text = raw(fields, name)?;
    let wrong = || kind(name, "a list of numbers", text);
    let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|_| wrong())?;
    items.iter().map(|item| parse_number(item.get()).ok_or_else(wrong)).collect()
}

fn flag(fields: &Fields, name: &'static str) -> Result<bool, LineError> {
    match fields.get(name).map(|value| value.get()) {
        None | Some("false" | "null") => Ok(false),
        Some("true") => Ok(true),
        Some(other) => Err(kind(name, "true or false", other)),
    }
}

/// Names the field of the two that is to blame.
fn checked(mean: f64, var: f64, mean_name: &str, var_name: &str) -> Result<Belief, LineError> {
    Belief::new(mean, var).map_err(|source| {
        let field = if matches!(source, adfq::Error::Mean(_)) { mean_name } else { var_name };
        LineError::Field { field: field.into(), source }
    })
}

fn belief(fields: &Fields, mean: &'static str, var: &'static str) -> Result<Belief, LineError> {
    checked(number(fields, mean)?, number(fields, var)?, mean, var)
}

fn next_beliefs(fields: &Fields) -> Result<Vec<Belief>, LineError> {
    let (means, vars) = (numbers(fields, "mu_next")?, numbers(fields, "var_next")?);
    if means.len() != vars.len() {
        return Err(LineError::Lengths { means: means.len(), vars: vars.len() });
    }
    let pairs = means.iter().zip(&vars).enumerate();
    pairs
        .map(|(b, (&mean, &var))| checked(mean, var, &format!("mu_next[{b}]"), &format!("var_next[{b}]")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::update::Rule;

    fn apply(line: &str) -> Result<String, LineError> {
        let update = Update::new(Rule::Exact).with_floor(0.0)?;
        LineUpdate { update, noise: NoiseKind::Exact, terminal_var: 0.0, components: true }.apply(line)
    }

    #[test]
    fn every_wrong_line_is_told_what_is_wrong() {
        let line = |replace: &str, by: &str| {
            let good =
                r#"{"mu_sa":0,"var_sa":1,"r":0,"gamma":0.9,"var_w":0,"mu_next":[1,2],"var_next":[1,1]}"#;
            assert!(apply(good).is_ok());
            let bad = good.replace(replace, by);
            assert_ne!(good, bad);
            apply(&bad).unwrap_err().to_string()
        };
        assert!(line("{", "[").starts_with("not a JSON object: "));
        assert!(line(r#""var_sa":1,"#, "").contains("`var_sa` is missing"));
        assert_eq!(
            line(r#""mu_sa":0"#, r#""mu_sa":"x""#),
            "the field `mu_sa` must be a number, but it is \"x\""
        );
        assert_eq!(
            line(r#""mu_next":[1,2]"#, r#""mu_next":[1,null]"#),
            "the field `mu_next` must be a list of numbers, but it is [1,null]"
        );
        assert!(
            line(r#""var_next":[1,1]"#, r#""var_next":[1]"#)
                .contains("`mu_next` has 2 values but `var_next` has 1")
        );
        assert!(
            line(r#""var_next":[1,1]"#, r#""var_next":[1,-1]"#).starts_with("`var_next[1]`: the variance")
        );
        assert!(line(r#""var_sa":1"#, r#""var_sa":0"#).starts_with("`var_sa`: the variance"));
        assert!(line(r#""mu_sa":0"#, r#""mu_sa":1e999"#).starts_with("`mu_sa`: the mean"));
        assert!(line(r#""mu_sa":0"#, r#""mu_sa":NaN"#).starts_with("not a JSON object"));
        assert!(line(r#""gamma":0.9"#, r#""gamma":1.5"#).contains("discount must lie in [0, 1]"));
        assert!(line(r#""gamma":0.9"#, r#""gamma":0"#).contains("known for certain"));
        assert!(line(r#""r":0"#, r#""terminal":true,"r":0"#).contains("known for certain"));
        assert!(line(r#""r":0"#, r#""terminal":1,"r":0"#).contains("must be true or false"));
        assert!(line(r#""var_w":0"#, r#""var_w":-1"#).contains("noise variance"));
        assert!(
            line(r#""mu_next":[1,2],"var_next":[1,1]"#, r#""mu_next":[],"var_next":[]"#)
                .contains("no action")
        );
    }

    #[test]
    fn other_fields_pass_through_untouched() {
        let line = r#"{"tag":"é","x":1.50,"mu_sa":0,"var_sa":1,"r":0,"gamma":0.9,"mu_next":[1,2],"var_next":[1,1],"mean":3}"#;
        let updated = apply(line).unwrap();
        assert!(updated.starts_with(r#"{"tag":"é","x":1.50,"mu_sa":0,"#), "{updated}");
        assert_eq!(updated.matches("\"mean\"").count(), 1);
        assert!(updated.contains("\"weight\":["));
    }

    #[test]
    fn a_terminal_needs_no_next_beliefs() {
        let updated = apply(r#"{"mu_sa":0,"var_sa":1,"r":4,"gamma":0.9,"var_w":1,"terminal":true}"#).unwrap();
        assert!(updated.contains(r#""mean":2.0000000000000000e0,"var":5.0000000000000000e-1"#), "{updated}");
    }
}
