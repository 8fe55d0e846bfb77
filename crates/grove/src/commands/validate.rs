//! `grove validate`: checks manifests with the rules of admission, without a cluster.

use std::{io, path::PathBuf};

use clap::Args;
use grove_api::{
    config::{self, Loaded, SchedulerProfiles},
    field::{Errors, Path, Warning},
    manifest::{self, Document},
    review::{Review, review},
    validation::{Environment, Scheduler, Schedulers},
    wire::{ClusterTopologyBinding, KueueTopology},
};
use grove_scheduler::Registry;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    cli::Outcome,
    commands::{config::load_configuration, grouping_rules},
    findings::{Finding, Format, Report, Severity, Skipped, source_line},
    input::{self, Source},
};

/// Check manifests offline, with the rules of admission.
///
/// Reads YAML or JSON with any number of objects. ClusterTopologyBindings and Kueue Topologies in the input are used to
/// check PodCliqueSets. Rules that depend on the operator (active schedulers, topology) need --config; without it a warning
/// names what was not checked. The configuration's default topology is applied as in a cluster.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove validate -f set.yaml\n  \
    grove validate -f samples/ --config operator.yaml\n  \
    kustomize build . | grove validate -f - -o json")]
pub(crate) struct Validate {
    /// File, folder, or - for standard input; repeatable.
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    files: Vec<String>,

    /// Operator configuration to check against.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

impl Validate {
    pub(crate) fn run(self, registry: &Registry) -> io::Result<Outcome> {
        let mut environment = Environment::default();
        if let Some(path) = &self.config {
            let mut report = Report::default();
            if let Some(loaded) = load_configuration(&input::read_file(path)?, registry, &mut report) {
                environment = self::environment(&loaded);
            } else {
                report.print(self.output)?;
                return Ok(Outcome::Unusable);
            }
        }
        let report = validate(&input::read(&self.files)?, registry, environment);
        let outcome = report.print(self.output)?;
        // A check of nothing must not pass for a check: a wrong path in a pipeline would never be noticed.
        if outcome == Outcome::Success && report.checked == 0 && report.skipped.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no objects in the input"));
        }
        Ok(outcome)
    }
}

/// What an operator of this configuration knows.
pub(crate) fn environment(loaded: &Loaded) -> Environment {
    Environment {
        schedulers: Some(schedulers(&loaded.profiles)),
        topology_aware: Some(loaded.config.topology_aware()),
        default_topology: loaded.config.default_topology().map(str::to_owned),
        mnnvl: Some(loaded.config.network.auto_mnnvl_enabled),
        ..Environment::default()
    }
}

fn schedulers(profiles: &SchedulerProfiles) -> Schedulers {
    let active = profiles.active().iter();
    let active =
        active.map(|it| Scheduler { name: it.name.clone(), topology_aware: it.topology_aware }).collect();
    Schedulers { default: profiles.default_name().to_owned(), active }
}

/// Checks all objects of all sources.
pub(crate) fn validate(sources: &[Source], registry: &Registry, mut environment: Environment) -> Report {
    let mut report = Report::default();
    let mut documents: Vec<(&Source, Document)> = Vec::new();
    for source in sources {
        match manifest::parse(&source.text) {
            Ok(parsed) => {
                documents.extend(parsed.into_iter().flat_map(Document::flatten).map(|it| (source, it)));
            }
            Err(error) => report.unreadable(source, &error),
        }
    }
    for (_, document) in &documents {
        add_topology(&document.value, &mut environment);
    }
    let mut unused = grouping_rules::warnings(documents.iter().map(|(_, it)| &it.value));
    for (place, (source, document)) in documents.iter().enumerate() {
        if document.value["kind"] == "OperatorConfiguration" {
            report.checked += 1;
            match registry.with_known(|known| config::load(&document.value, known)) {
                Ok(loaded) => report.warnings(source, document, loaded.warnings),
                Err(errors) => report.errors(source, document, errors),
            }
            continue;
        }
        match review(&document.value, &environment) {
            Review::Foreign => {
                let text =
                    |field: &str| document.value.get(field).and_then(Value::as_str).unwrap_or_default();
                let kind = format!("{} ({})", text("kind"), text("apiVersion"));
                report.skipped.push(Skipped { file: source.name.clone(), line: document.line, kind });
            }
            Review::Checked(verdict) => {
                report.checked += 1;
                report.errors(source, document, verdict.errors);
                report.warnings(source, document, verdict.warnings);
                report.warnings(source, document, unused.remove(&place).into_iter().collect());
            }
        }
    }
    report
}

/// Adds a topology of either kind to what is known.
pub(crate) fn add_topology(object: &Value, environment: &mut Environment) {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if kind == "ClusterTopologyBinding"
        && let Ok(binding) = ClusterTopologyBinding::deserialize(object)
    {
        let name = binding.metadata.name.unwrap_or_default();
        environment.topologies.insert(name, binding.spec.levels);
    } else if KueueTopology::is(api_version, kind)
        && let Ok(topology) = KueueTopology::deserialize(object)
    {
        let name = topology.metadata.name.unwrap_or_default();
        environment.kueue_topologies.insert(name, topology.spec.levels());
    }
}

impl Report {
    /// Adds a source that is no YAML.
    pub(crate) fn unreadable(&mut self, source: &Source, error: &manifest::ParseError) {
        self.unusable = true;
        let line = error.line.unwrap_or(1);
        self.findings.push(Finding {
            file: source.name.clone(),
            line,
            severity: Severity::Error,
            path: String::new(),
            kind: None,
            message: error.message.clone(),
            source: error.line.map(|line| source_line(&source.text, line)).unwrap_or_default(),
        });
    }

    /// Adds field errors of an object.
    pub(crate) fn errors(&mut self, source: &Source, document: &Document, errors: Errors) {
        let findings = errors.into_iter().map(|it| Finding {
            kind: Some(it.kind),
            ..finding(source, document, &it.path, it.message(), Severity::Error)
        });
        let mut findings: Vec<Finding> = findings.collect();
        // In the order of the text, which need not be that of the fields.
        findings.sort_by_key(|it| it.line);
        self.findings.extend(findings);
    }

    /// Adds warnings about an object.
    pub(crate) fn warnings(&mut self, source: &Source, document: &Document, warnings: Vec<Warning>) {
        let findings =
            warnings.into_iter().map(|it| finding(source, document, &it.path, it.text, Severity::Warning));
        self.findings.extend(findings);
    }
}

fn finding(
    source: &Source,
    document: &Document,
    path: &Path,
    message: String,
    severity: Severity,
) -> Finding {
    let line = document.line_of(path);
    Finding {
        file: source.name.clone(),
        line,
        severity,
        path: path.to_string(),
        kind: None,
        message,
        source: source_line(&source.text, line),
    }
}
