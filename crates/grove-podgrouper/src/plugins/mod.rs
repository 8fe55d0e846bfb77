//! The plugins: one file for each kind of workloads, or for kinds that are grouped alike.

mod aml;
mod cron_job;
mod default;
mod deployment;
mod job;
mod kubeflow;
mod mpi;
mod notebook;
mod pod;
mod runai_job;
mod spot_request;

pub(crate) use self::{
    aml::Aml,
    cron_job::CronJob,
    default::DefaultPlugin,
    deployment::Deployment,
    job::BatchJob,
    kubeflow::{JAX, TENSORFLOW, XGBOOST},
    mpi::Mpi,
    notebook::Notebook,
    pod::PodPlugin,
    runai_job::RunaiJob,
    spot_request::SpotRequest,
};

#[cfg(test)]
mod tests;
