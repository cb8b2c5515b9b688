//! Text files, in the encodings that people have.

use std::borrow::Cow;

use encoding_rs::{Encoding, GB18030, UTF_8, WINDOWS_1252};

use crate::error::ReadError;
use crate::text::Writer;

pub(super) fn read(bytes: &[u8], out: &mut Writer) -> Result<(), ReadError> {
    let text = decode(bytes)?;
    Ok(out.block(&text.replace("\r\n", "\n").replace('\r', "\n"))?)
}

/// The text of a file: by its byte order mark, else UTF-8, else the encoding that is likely.
pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, ReadError> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        let (text, _) = encoding.decode_without_bom_handling(&bytes[mark..]);
        return Ok(text);
    }
    if bytes.contains(&0) {
        return Err(ReadError::new(
            "it is neither text nor a format that is known",
            "Known are txt, md, html, pdf, docx, pptx, xlsx, epub, eml, csv and json",
        ));
    }
    let encoding = match std::str::from_utf8(bytes) {
        Ok(_) => UTF_8,
        Err(_) if is_chinese(bytes) => GB18030,
        Err(_) => WINDOWS_1252,
    };
    Ok(encoding.decode_without_bom_handling(bytes).0)
}

/// In Chinese text in GB 18030 nearly all bytes above ASCII stand in pairs; in Western text they stand alone.
fn is_chinese(bytes: &[u8]) -> bool {
    let (mut high, mut paired) = (0, 0);
    let mut run = 0;
    for byte in bytes.iter().chain(b" ") {
        if *byte >= 0xa1 {
            run += 1;
        } else {
            high += run;
            paired += run - run % 2;
            run = 0;
        }
    }
    let decodes = !GB18030.decode_without_bom_handling(bytes).1;
    decodes && high > 0 && paired * 10 >= high * 9
}
