//! Settings changed by name, as on the command line.

use super::Config;
use crate::{Error, Result};
use adfq_env::Args;
use serde::{Serialize, de::DeserializeOwned};
use toml::{Table, Value};

impl Config {
    /// The same with one setting changed, given as on the command line: `learning.batch=64`.
    ///
    /// ```
    /// use adfq_deep::Config;
    ///
    /// let config = Config::for_env("cartpole")?;
    /// assert_eq!(config.with("learning.batch=64")?.learning.batch, 64);
    /// assert!(config.with("adfq.rule=exact").is_ok() && config.with("adfq.rule=guess").is_err());
    /// assert_eq!(config.with("env_args.gravity=-5.0")?.env_args["gravity"], -5.0);
    /// assert!(config.with("learning.bach=64").is_err());
    /// # Ok::<(), adfq_deep::Error>(())
    /// ```
    pub fn with(&self, assignment: &str) -> Result<Self> {
        let mut table: Table = self.to_toml()?.parse().map_err(|error| wrong(assignment, error))?;
        assign(&mut table, assignment)?;
        let text = toml::to_string(&table).map_err(|error| wrong(assignment, error))?;
        let config: Self =
            toml::from_str(&text).map_err(|error| wrong(assignment, error.message().replace('\n', ", ")))?;
        config.check()?;
        Ok(config)
    }
}

/// The arguments of the environment after those among these assignments that change them. They are needed first: the
/// environment has to be made to know its space, and its space for a preset.
///
/// ```
/// let settings = ["learning.batch=64", "env_args.gravity=-5.0", "env_args.wind.power=3"].map(String::from);
/// let args = adfq_deep::config::env_args(&adfq_env::Args::new(), &settings)?;
/// assert_eq!(serde_json::Value::Object(args).to_string(), r#"{"gravity":-5.0,"wind":{"power":3}}"#);
/// # Ok::<(), adfq_deep::Error>(())
/// ```
pub fn env_args(args: &Args, assignments: &[String]) -> Result<Args> {
    assigned("env_args", args, assignments)
}

/// The wrappers of the environment after those among these assignments that change them; see [`env_args`].
///
/// ```
/// let settings = ["wrappers=['FlattenObservation']", "learning.batch=64"].map(String::from);
/// assert_eq!(adfq_deep::config::wrappers(&[], &settings)?, ["FlattenObservation"]);
/// # Ok::<(), adfq_deep::Error>(())
/// ```
pub fn wrappers(wrappers: &[String], assignments: &[String]) -> Result<Vec<String>> {
    assigned("wrappers", &wrappers.to_vec(), assignments)
}

/// The value of one setting after those among these assignments that change it.
fn assigned<T: Serialize + DeserializeOwned>(name: &str, own: &T, assignments: &[String]) -> Result<T> {
    let whole = |error: String| Error::Toml(format!("{name}: {error}"));
    let own = Value::try_from(own).map_err(|error| whole(error.to_string()))?;
    let mut table = Table::from_iter([(name.to_owned(), own)]);
    let is_its = |assignment: &&String| assignment.split(['.', '=']).next().map(str::trim) == Some(name);
    assignments.iter().filter(is_its).try_for_each(|assignment| assign(&mut table, assignment))?;
    let value = table.remove(name).unwrap_or(Value::Table(Table::new()));
    value.try_into().map_err(|error: toml::de::Error| whole(error.message().to_owned()))
}

/// Sets `name=value` in a table; tables on the way are made where there are none.
fn assign(table: &mut Table, assignment: &str) -> Result<()> {
    let (path, value) =
        assignment.split_once('=').ok_or_else(|| wrong(assignment, "say it as name=value"))?;
    let (path, value) = (path.trim(), value.trim());
    let value = parsed(value);
    let (last, parents) = match path.rsplit_once('.') {
        Some((parents, last)) => (last, parents.split('.').collect()),
        None => (path, vec![]),
    };
    let mut inner = table;
    for parent in parents {
        let entry = inner.entry(parent).or_insert_with(|| Value::Table(Table::new()));
        let no_table = || wrong(assignment, format!("{parent} has no settings within"));
        inner = entry.as_table_mut().ok_or_else(no_table)?;
    }
    inner.insert(last.to_owned(), value);
    Ok(())
}

/// A TOML value, a number as people write it (`.5`, which TOML does not know), or else a string: `rule=exact`.
fn parsed(text: &str) -> Value {
    let toml = format!("value = {text}").parse::<Table>().ok();
    let is_number =
        text.trim_start_matches(['+', '-']).starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let number = || text.parse().ok().filter(|_| is_number).map(Value::Float);
    toml.and_then(|mut table| table.remove("value"))
        .or_else(number)
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

fn wrong(assignment: &str, reason: impl std::fmt::Display) -> Error {
    Error::Toml(format!("{assignment:?}: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_files_and_assignments_together() {
        let config = Config::for_env("cartpole").unwrap();
        assert!(!config.to_toml().unwrap().contains("env_args"));
        let settings =
            ["env_args.gravity=-5.0", "env_args.sizes=[1, 2]", "env_args.mode=fast"].map(String::from);
        let set = settings.iter().fold(config, |config, setting| config.with(setting).unwrap());
        assert!(
            set.to_toml().unwrap().contains("[env_args]\ngravity = -5.0\n"),
            "{}",
            set.to_toml().unwrap()
        );
        assert_eq!(Config::from_toml(&set.to_toml().unwrap()).unwrap(), set);
        assert_eq!(env_args(&Args::new(), &settings).unwrap(), set.env_args);
        let more = ["env_args.mode=slow", "learning.batch=1"].map(String::from);
        let changed = env_args(&set.env_args, &more).unwrap();
        assert_eq!((&changed["mode"], &changed["gravity"]), (&"slow".into(), &(-5.0).into()));
    }

    #[test]
    fn numbers_may_be_written_as_people_do() {
        let config = Config::for_env("cartpole").unwrap();
        for (text, rate) in [(".001", 0.001), ("1.e-3", 0.001), ("+.5", 0.5), ("1e-3", 0.001)] {
            let set = config.with(&format!("learning.adam.rate={text}")).unwrap();
            assert_eq!(set.learning.adam.rate, rate);
        }
        for word in ["..", ".5.1", "5x", "infinity", "-", "."] {
            assert_eq!(config.with(&format!("env_args.x={word}")).unwrap().env_args["x"], word);
        }
    }

    #[test]
    fn what_no_file_can_hold_is_refused() {
        let config = Config::for_env("cartpole").unwrap();
        for value in ["nan", "[1.0, inf]", "{a = -inf}"] {
            let error = config.with(&format!("env_args.x={value}")).unwrap_err().to_string();
            assert_eq!(error, "the setting env_args must be without nan and inf");
        }
        let error = config.with("env_args=3").unwrap_err().to_string();
        assert!(error.contains("\"env_args=3\": invalid type: integer `3`, expected a map"), "{error}");
    }
}
