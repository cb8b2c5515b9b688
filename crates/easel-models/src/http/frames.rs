//! Cutting the bytes of an answer into frames: server-sent events, lines of JSON, or the whole body as one.
//!
//! Bytes come in pieces of any size; a border may lie anywhere, inside a character too. What is held back is bounded.

use std::mem;

/// The largest line, and the largest event, in bytes.
pub(crate) const LONGEST_LINE: usize = 1 << 20;

/// How an answer is cut into frames.
#[derive(Debug)]
pub(crate) enum Frames {
    /// Server-sent events; a frame is an event's data.
    Events(Events),
    /// Lines of JSON; a frame is a line that is not blank.
    Lines(Lines),
    /// The whole body is one frame. The caller bounds it.
    Whole(Vec<u8>),
}

/// Why an answer cannot be cut.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unframed {
    /// A line or an event is longer than [`LONGEST_LINE`].
    TooLong,
    /// A frame is not UTF-8.
    NotText,
}

impl Frames {
    /// Takes the next bytes and appends the frames that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8], frames: &mut Vec<String>) -> Result<(), Unframed> {
        match self {
            Frames::Events(events) => events.push(bytes, frames),
            Frames::Lines(lines) => lines.push(bytes, |line| json_line(line, frames)),
            Frames::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Appends what is left when the body has ended; a last line need not be closed, nor a last event.
    pub(crate) fn end(&mut self, frames: &mut Vec<String>) -> Result<(), Unframed> {
        match self {
            Frames::Events(events) => events.end(frames),
            Frames::Lines(lines) => lines.end(|line| json_line(line, frames)),
            Frames::Whole(body) => json_line(&mem::take(body), frames),
        }
    }
}

fn json_line(line: &[u8], frames: &mut Vec<String>) -> Result<(), Unframed> {
    let line = text(line)?;
    if !line.trim().is_empty() {
        frames.push(line.to_owned());
    }
    Ok(())
}

fn text(bytes: &[u8]) -> Result<&str, Unframed> {
    std::str::from_utf8(bytes).map_err(|_| Unframed::NotText)
}

/// Splits bytes into lines that end in LF, CR or both.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// The line that has begun.
    begun: Vec<u8>,
    /// The last byte was a CR, so a LF at once after it ends no second line.
    after_cr: bool,
}

impl Lines {
    fn push(
        &mut self,
        mut bytes: &[u8],
        mut line: impl FnMut(&[u8]) -> Result<(), Unframed>,
    ) -> Result<(), Unframed> {
        if mem::take(&mut self.after_cr) {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (head, rest) = bytes.split_at(end);
            self.extend(head)?;
            line(&self.begun)?;
            self.begun.clear();
            bytes = match rest {
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [b'\r', b'\n', rest @ ..] | [_, rest @ ..] | rest => rest,
            };
        }
        self.extend(bytes)
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), Unframed> {
        if self.begun.len() + bytes.len() > LONGEST_LINE {
            return Err(Unframed::TooLong);
        }
        self.begun.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self, mut line: impl FnMut(&[u8]) -> Result<(), Unframed>) -> Result<(), Unframed> {
        match self.begun.is_empty() {
            true => Ok(()),
            false => line(&mem::take(&mut self.begun)),
        }
    }
}

/// Reads server-sent events as the HTML standard defines them, for their data alone: providers say in the data what
/// the other fields say.
#[derive(Debug, Default)]
pub(crate) struct Events {
    lines: Lines,
    event: Event,
}

/// The event that has begun.
#[derive(Debug, Default)]
struct Event {
    data: Vec<u8>,
    /// Some line of data was there, be it an empty one.
    begun: bool,
    /// The first line is behind, and with it the one place where a byte order mark may stand.
    past_first_line: bool,
}

impl Events {
    fn push(&mut self, bytes: &[u8], frames: &mut Vec<String>) -> Result<(), Unframed> {
        let event = &mut self.event;
        self.lines.push(bytes, |line| event.line(line, frames))
    }

    fn end(&mut self, frames: &mut Vec<String>) -> Result<(), Unframed> {
        let event = &mut self.event;
        self.lines.end(|line| event.line(line, frames))?;
        event.dispatch(frames)
    }
}

impl Event {
    fn line(&mut self, mut line: &[u8], frames: &mut Vec<String>) -> Result<(), Unframed> {
        if !mem::replace(&mut self.past_first_line, true) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch(frames);
        }
        let Some(value) = line.strip_prefix(b"data") else {
            return Ok(());
        };
        let value = match value {
            [] => value,
            [b':', b' ', value @ ..] | [b':', value @ ..] => value,
            // Another field, whose name begins alike.
            _ => return Ok(()),
        };
        if self.data.len() + value.len() > LONGEST_LINE {
            return Err(Unframed::TooLong);
        }
        if mem::replace(&mut self.begun, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        Ok(())
    }

    fn dispatch(&mut self, frames: &mut Vec<String>) -> Result<(), Unframed> {
        if mem::take(&mut self.begun) {
            frames.push(text(&self.data)?.to_owned());
            self.data.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(mut frames: Frames, pieces: &[&[u8]]) -> Result<Vec<String>, Unframed> {
        let mut found = Vec::new();
        for piece in pieces {
            frames.push(piece, &mut found)?;
        }
        frames.end(&mut found)?;
        Ok(found)
    }

    fn events(pieces: &[&[u8]]) -> Result<Vec<String>, Unframed> {
        read(Frames::Events(Events::default()), pieces)
    }

    fn lines(pieces: &[&[u8]]) -> Result<Vec<String>, Unframed> {
        read(Frames::Lines(Lines::default()), pieces)
    }

    #[test]
    fn data_lines_of_an_event_are_joined_and_other_fields_ignored() {
        let body = b"\xef\xbb\xbfevent: x\ndata: a\ndata:b\nid: 1\n\n: ping\n\ndata\n\ndatum: c\ndata:  d\n\n";
        assert_eq!(events(&[body]).unwrap(), ["a\nb", "", " d"]);
    }

    #[test]
    fn lines_end_in_any_of_three_ways() {
        assert_eq!(
            events(&[b"data: a\r\n\r\ndata: b\r\rdata: c\n\n"]).unwrap(),
            ["a", "b", "c"]
        );
        assert_eq!(
            events(&[b"data: a\r", b"\n\r", b"\ndata: b"]).unwrap(),
            ["a", "b"]
        );
    }

    #[test]
    fn a_last_event_need_not_be_closed() {
        assert_eq!(events(&[b"data: a\n\ndata: b"]).unwrap(), ["a", "b"]);
        assert_eq!(
            lines(&[b"{\"a\":1}\n\n{\"b\":", b"2}"]).unwrap(),
            ["{\"a\":1}", "{\"b\":2}"]
        );
    }

    #[test]
    fn the_whole_body_is_one_frame() {
        let whole = || Frames::Whole(Vec::new());
        assert_eq!(read(whole(), &[b"{\n", b"}"]).unwrap(), ["{\n}"]);
        assert!(read(whole(), &[b" \n"]).unwrap().is_empty());
    }

    #[test]
    fn a_line_or_event_without_end_is_refused() {
        let long = vec![b'x'; LONGEST_LINE / 2];
        let line = [b"data: ".as_slice(), &long, &long];
        assert_eq!(events(&line), Err(Unframed::TooLong));
        let event = [
            b"data: ".as_slice(),
            &long,
            b"\ndata: ",
            &long,
            b"\ndata: x",
        ];
        assert_eq!(events(&event), Err(Unframed::TooLong));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        assert_eq!(events(&[b"data: \xff\n\n"]), Err(Unframed::NotText));
        assert_eq!(lines(&[b"\xff\n"]), Err(Unframed::NotText));
    }

    fn cut<'b>(bytes: &'b [u8], at: &[prop::sample::Index]) -> Vec<&'b [u8]> {
        let mut cuts: Vec<usize> = at
            .iter()
            .map(|index| index.index(bytes.len() + 1))
            .collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        cuts.windows(2).map(|w| &bytes[w[0]..w[1]]).collect()
    }

    proptest! {
        #[test]
        fn borders_between_pieces_change_nothing(
            data in prop::collection::vec("[ -~éß世🎨]{0,12}", 0..6),
            end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
            at in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let body: String = data.iter().map(|d| format!("data: {d}{end}: ping{end}{end}")).collect();
            prop_assert_eq!(&events(&cut(body.as_bytes(), &at)).unwrap(), &data);
        }

        #[test]
        fn any_bytes_are_read_the_same_in_any_pieces(
            body in prop::collection::vec(prop::sample::select(b"dat: \r\n\xc3\xa9x\xff".to_vec()), 0..60),
            at in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            prop_assert_eq!(events(&cut(&body, &at)), events(&[&body]));
            prop_assert_eq!(lines(&cut(&body, &at)), lines(&[&body]));
        }
    }
}
