//! Excel and CSV files.
#![no_main]

use easel_documents::{Limits, read_workbook, write_workbook};
use easel_runtime::tools::documents::WorkbookFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits {
        cells: 100_000,
        unpacked_bytes: 16 << 20,
        ..Limits::default()
    };
    let file = WorkbookFile {
        name: "fuzz".into(),
        bytes: bytes.to_vec(),
    };
    if let Ok(sheets) = read_workbook(&file, &limits) {
        let cells: usize = sheets.iter().flat_map(|sheet| &sheet.rows).map(Vec::len).sum();
        assert!(cells <= limits.cells);
        let _ = write_workbook(&sheets, &limits);
    }
});
