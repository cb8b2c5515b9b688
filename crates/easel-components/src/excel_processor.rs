//! ExcelProcessor: reads, merges, reshapes and writes spreadsheets (spec/canvas-components §5.3).

mod merge;
mod sources;
mod table;
mod values;

use std::sync::Arc;

use easel_core::Value;
use easel_core::bind::ReadId;
use easel_core::event::{Completion, Fault, Ports};
use easel_core::template::{Rendering, Template};
use easel_tools::ToolError;
use easel_tools::documents::{DocumentFormat, Sheet};
use easel_tools::files::file_name;

use crate::behaviour::{Behaviour, Call, Failure, Prepared, Run};
use crate::made_file::Kept;
use crate::site::Site;
use sources::{Selection, Sources};
use table::Table;

/// Rows that are shown of each table that was read.
const READ: usize = 10;
/// Rows that are shown of merged ones.
const MERGED: usize = 20;

/// What is done.
enum Operation {
    Read,
    Merge(merge::Strategy),
    Transform,
    Output(Format),
}

#[derive(Clone, Copy)]
enum Format {
    Xlsx,
    Csv,
}

struct ExcelProcessor {
    operation: Operation,
    sources: Sources,
    selection: Selection,
    data: Option<ReadId>,
    filename: Template,
}

/// Reads the parameters.
pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let operation = match site.text("operation") {
        "merge" => Operation::Merge(strategy(&site)?),
        "transform" => Operation::Transform,
        "output" => Operation::Output(match site.text("output_format") {
            "csv" => Format::Csv,
            _ => Format::Xlsx,
        }),
        _ => Operation::Read,
    };
    let data = node.reference("transform_data")?;
    if matches!(operation, Operation::Transform) && data.is_none() {
        return Err(site.wrong(
            "transform_data",
            "is not set",
            "Name the data that becomes tables",
        ));
    }
    Ok(Arc::new(ExcelProcessor {
        operation,
        sources: Sources::of(&site)?,
        selection: Selection::named(site.text("sheet_selection")),
        data,
        filename: node.template("output_filename"),
    }))
}

fn strategy(site: &Site<'_>) -> Result<merge::Strategy, Fault> {
    let column = site.text("join_on").trim();
    match (site.text("merge_strategy"), column) {
        ("join", "") => Err(site.wrong(
            "join_on",
            "is not set",
            "Name the column that rows are joined on",
        )),
        ("join", column) => Ok(merge::Strategy::Join(column.into())),
        _ => Ok(merge::Strategy::Concat),
    }
}

impl Behaviour for ExcelProcessor {
    fn run(self: Arc<Self>, call: Call) -> Run {
        Run::later(async move {
            let ports = self.ports(&call).await?;
            Ok(Completion {
                ports,
                ..Completion::default()
            })
        })
    }
}

/// What a node gives.
#[derive(Default)]
struct Outcome {
    tables: Vec<Table>,
    /// What is said of it; without it each table is described.
    summary: Option<String>,
    /// What could not be done, a sentence each.
    told: Vec<String>,
    /// Rows that are shown of each table.
    shown: usize,
    attachment: Option<Value>,
}

impl ExcelProcessor {
    async fn ports(&self, call: &Call) -> Result<Ports, Failure> {
        let outcome = match &self.operation {
            Operation::Read => self.read(call).await,
            Operation::Merge(strategy) => self.merge(call, strategy).await,
            Operation::Transform => self.transform(call),
            Operation::Output(format) => self.output(call, *format).await?,
        };
        Ok(outcome.into_ports(call))
    }

    async fn read(&self, call: &Call) -> Outcome {
        let (tables, told) = self.sources.tables(call, &self.selection).await;
        let nothing = tables.is_empty() && told.is_empty();
        Outcome {
            tables,
            summary: nothing.then(|| NO_FILES.to_owned()),
            told,
            shown: READ,
            attachment: None,
        }
    }

    async fn merge(&self, call: &Call, strategy: &merge::Strategy) -> Outcome {
        let mut outcome = self.read(call).await;
        if outcome.tables.is_empty() {
            return outcome;
        }
        let count = outcome.tables.len();
        outcome.shown = MERGED;
        match strategy.merge(std::mem::take(&mut outcome.tables)) {
            Ok(merged) => {
                let summary = format!("Merged {count} tables. {}", merged.described());
                outcome.summary = Some(summary);
                outcome.tables = vec![merged];
            }
            Err(problem) => outcome.told.push(problem),
        }
        outcome
    }

    fn transform(&self, call: &Call) -> Outcome {
        let value = self.data.map(|read| call.inputs().get(read).or_null());
        let tables = values::tables(&value.unwrap_or_default());
        Outcome {
            summary: tables.is_empty().then(|| NO_DATA.to_owned()),
            tables,
            shown: READ,
            ..Outcome::default()
        }
    }

    async fn output(&self, call: &Call, format: Format) -> Result<Outcome, Failure> {
        let mut outcome = match self.data {
            Some(_) => self.transform(call),
            None => self.read(call).await,
        };
        if outcome.tables.is_empty() {
            return Ok(outcome);
        }
        // A file leaves the run like everything that is shown.
        let mask = |table: &mut Table| table.mask(&call.run.gate);
        outcome.tables.iter_mut().for_each(mask);
        let kept = self.write(call, format, &outcome.tables).await;
        let kept = kept.map_err(|error| {
            let name = &call.node().draft.name;
            Failure::from(Fault::new(
                error.code(),
                format!("\"{name}\" could not write its file: {error}."),
            ))
        })?;
        let described: Vec<String> = outcome.tables.iter().map(Table::described).collect();
        outcome.summary = Some(format!("Wrote {}. {}", kept.file.name, described.join(" ")));
        outcome.attachment = Some(Value::from(kept.attachment(match format {
            Format::Xlsx => "xlsx",
            Format::Csv => "csv",
        })));
        Ok(outcome)
    }

    async fn write(
        &self,
        call: &Call,
        format: Format,
        tables: &[Table],
    ) -> Result<Kept, ToolError> {
        let (extension, mime_type) = match format {
            Format::Xlsx => ("xlsx", DocumentFormat::Xlsx.mime_type()),
            Format::Csv => ("csv", "text/csv"),
        };
        let bytes = match format {
            Format::Xlsx => {
                let sheets: Vec<Sheet> = tables.iter().map(Table::to_sheet).collect();
                call.run
                    .services
                    .world
                    .documents
                    .write_workbook(sheets)
                    .await?
            }
            Format::Csv => {
                if tables.len() > 1 {
                    let name = &call.node().draft.name;
                    call.warn(format!(
                        "\"{name}\" writes the first of {} tables: a CSV file holds one.",
                        tables.len()
                    ));
                }
                tables
                    .first()
                    .map(Table::to_csv)
                    .unwrap_or_default()
                    .into_bytes()
            }
        };
        let wanted = self.filename.render(call.inputs(), Rendering::Display);
        let name = file_name(&call.run.gate.mask(&wanted), extension)
            .unwrap_or_else(|| format!("output.{extension}"));
        Kept::keep(call, name, mime_type, bytes).await
    }
}

const NO_FILES: &str = "No Excel files found";
const NO_DATA: &str = "No data";

impl Outcome {
    fn into_ports(self, call: &Call) -> Ports {
        for sentence in &self.told {
            call.warn(sentence.clone());
        }
        let described = self.tables.iter().map(Table::described);
        let mut lines = match self.summary {
            Some(summary) => vec![summary],
            None => described.collect(),
        };
        lines.extend(self.told);
        let markdown = self
            .tables
            .iter()
            .map(|table| table.to_markdown(self.shown));
        let markdown = markdown.collect::<Vec<_>>().join("\n");
        let mut ports = Ports::new();
        ports.set("data", table::data(&self.tables));
        ports.set("summary", lines.join("\n"));
        ports.set(
            "markdown",
            match self.tables.is_empty() {
                true => NO_DATA.to_owned(),
                false => markdown,
            },
        );
        if let Some(attachment) = self.attachment {
            ports.set("attachment", attachment);
        }
        ports
    }
}

#[cfg(test)]
mod tests;
