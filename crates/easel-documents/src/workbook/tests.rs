use easel_core::Value;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;

fn sheet(name: &str, rows: Json) -> Sheet {
    let rows: Vec<Vec<Json>> = serde_json::from_value(rows).unwrap();
    let rows = rows
        .into_iter()
        .map(|row| row.into_iter().map(Value::from).collect());
    Sheet {
        name: name.to_owned(),
        rows: rows.collect(),
    }
}

fn read_bytes(name: &str, bytes: &[u8]) -> Result<Vec<Sheet>, DocumentError> {
    let file = WorkbookFile {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
    };
    read_workbook(&file, &Limits::default())
}

fn round(sheets: &[Sheet]) -> Vec<Sheet> {
    read_bytes(
        "a.xlsx",
        &write_workbook(sheets, &Limits::default()).unwrap(),
    )
    .unwrap()
}

fn names(sheets: &[Sheet]) -> Vec<&str> {
    sheets.iter().map(|sheet| sheet.name.as_str()).collect()
}

#[test]
fn a_workbook_is_read_as_it_was_written() {
    let sheets = [
        sheet(
            "Prices",
            json!([
                ["name", "price", "sold"],
                ["pear", 1.5, true],
                ["苹果", 12, null]
            ]),
        ),
        sheet("Empty", json!([])),
        sheet("Text", json!([["=1+1", "007"], ["a\nb", "12"]])),
    ];
    assert_eq!(round(&sheets), sheets);
}

#[test]
fn names_of_sheets_are_such_as_excel_takes() {
    let long = "x".repeat(40);
    let wanted = [
        "a/b:c",
        "A/B",
        "a_b",
        "",
        "History",
        "'q'",
        &long,
        &long,
        "😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀",
    ];
    let sheets: Vec<Sheet> = wanted
        .iter()
        .map(|name| sheet(name, json!([["x"]])))
        .collect();
    let read = round(&sheets);
    let (x31, x29) = ("x".repeat(31), "x".repeat(29) + "_1");
    let got = [
        "a_bc",
        "A_B",
        "a_b_1",
        "Table_4",
        "Table_5",
        "q",
        &x31,
        &x29,
        "😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀",
    ];
    assert_eq!(names(&read), got);
}

#[test]
fn a_csv_file_is_read_whatever_stands_between_its_cells() {
    let rows = |text: &[u8]| {
        let sheets = read_bytes("prices.csv", text).unwrap();
        assert_eq!(names(&sheets), ["prices"]);
        let rows = sheets[0]
            .rows
            .iter()
            .map(|row| Value::from(row.clone()).to_json());
        Json::from(rows.collect::<Vec<_>>())
    };
    let expected = json!([["name", "n"], ["a, \"b\"", 1], ["c", null]]);
    assert_eq!(rows(b"name,n\r\n\"a, \"\"b\"\"\",1\r\n\r\nc\r\n"), expected);
    assert_eq!(
        rows(b"\xef\xbb\xbfname;n\n\"a, \"\"b\"\"\";1\nc;\n"),
        expected
    );
    assert_eq!(
        rows(b"name\tx\nM\xfcller\t007"),
        json!([["name", "x"], ["Müller", "007"]])
    );
}

#[test]
fn what_is_no_workbook_is_refused_with_the_cause() {
    let told = |name: &str, bytes: &[u8]| read_bytes(name, bytes).unwrap_err().to_string();
    assert!(
        told("a.xlsx", b"PK\x03\x04broken").starts_with("a.xlsx cannot be read as a workbook: ")
    );
    assert!(
        told("a.xls", b"\xd0\xcf\x11\xe0\0\0").contains("it is neither; give an Excel file (xlsx)")
    );
    assert!(told("a.csv", b"a,b\n\"c,d").contains("the quote that opens in line 2 never closes"));
}

#[test]
fn a_workbook_is_read_and_written_within_limits() {
    let few = Limits {
        cells: 6,
        sheets: 2,
        unpacked_bytes: 20_000,
        ..Limits::default()
    };
    let write = |sheets: &[Sheet]| {
        write_workbook(sheets, &few)
            .map(drop)
            .map_err(|e| e.to_string())
    };
    assert_eq!(write(&[sheet("a", json!([[1, 2, 3], [4, 5, 6]]))]), Ok(()));
    let told = "The workbook has more than 6 cells; split it into smaller files";
    assert_eq!(
        write(&[sheet("a", json!([[1, 2, 3, 4], [5, 6, 7]]))]),
        Err(told.to_owned())
    );
    let three = ["a", "b", "c"].map(|name| sheet(name, json!([])));
    assert!(write(&three).unwrap_err().contains("2 sheets"));
    assert!(
        write(&[sheet("a", json!([["x".repeat(40_000)]]))])
            .unwrap_err()
            .contains("characters in a cell")
    );

    let read = |bytes: Vec<u8>| {
        let name = "a.xlsx".to_owned();
        let read = read_workbook(&WorkbookFile { name, bytes }, &few);
        read.map(drop).map_err(|error| error.to_string())
    };
    // A single cell far away makes an area that nobody has room for.
    let mut far = rust_xlsxwriter::Workbook::new();
    let page = far.add_worksheet();
    page.write_string(0, 0, "near").unwrap();
    page.write_string(1_048_575, 16_383, "far").unwrap();
    assert!(
        read(far.save_to_buffer().unwrap())
            .unwrap_err()
            .contains("more than 6 cells")
    );
    let long: Vec<Vec<Json>> = (0..2_000)
        .map(|n| vec![json!(format!("row {n}"))])
        .collect();
    let large = write_workbook(&[sheet("a", json!(long))], &Limits::default()).unwrap();
    assert!(
        read(large)
            .unwrap_err()
            .contains("more than 20000 bytes when unpacked")
    );
    let csv = read_workbook(
        &WorkbookFile {
            name: "a.csv".into(),
            bytes: b"1,2,3,4\n5,6,7\n".to_vec(),
        },
        &few,
    );
    assert!(
        csv.unwrap_err()
            .to_string()
            .contains("a.csv has more than 6 cells")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_rows_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_bytes("a.csv", &bytes);
    }

    #[test]
    fn any_names_and_cells_can_be_written(name in "\\PC{0,40}", again in "\\PC{0,40}", cell in "\\PC{0,20}") {
        let rows = json!([["head"], [cell.clone()]]);
        let sheets = round(&[sheet(&name, rows.clone()), sheet(&again, rows)]);
        prop_assert_eq!(sheets.len(), 2);
        for sheet in sheets {
            let written = sheet.rows.get(1).and_then(|row| row[0].as_str()).unwrap_or_default();
            prop_assert_eq!(written, cell.as_str());
        }
    }
}
