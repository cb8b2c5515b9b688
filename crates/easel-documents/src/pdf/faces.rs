//! Faces: those that come with Easel, and those of the machine for what they do not have.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use fontdb::{Database, FaceInfo, Source, Style as Slant, Weight};
use rustybuzz::ttf_parser;

use crate::block::Style;

/// The fonts that documents are set in.
#[derive(Clone, Debug)]
pub(crate) struct Fonts(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    others: Others,
    database: OnceLock<Database>,
}

/// Where faces come from beside those that come with Easel.
#[derive(Debug)]
enum Others {
    Nowhere,
    Machine,
    Folder(PathBuf),
}

impl Fonts {
    /// Those that come with Easel: Noto Sans, DejaVu Sans and DejaVu Sans Mono.
    pub(crate) fn built_in() -> Fonts {
        Fonts::with(Others::Nowhere)
    }

    /// Those, and what is installed on the machine.
    pub(crate) fn of_machine() -> Fonts {
        Fonts::with(Others::Machine)
    }

    /// Those, and what is in a folder.
    pub(crate) fn in_folder(folder: PathBuf) -> Fonts {
        Fonts::with(Others::Folder(folder))
    }

    fn with(others: Others) -> Fonts {
        Fonts(Arc::new(Inner {
            others,
            database: OnceLock::new(),
        }))
    }

    /// What is known of other faces; looked up the first time that one is needed.
    fn database(&self) -> &Database {
        self.0.database.get_or_init(|| {
            let mut database = Database::new();
            match &self.0.others {
                Others::Nowhere => {}
                Others::Machine => database.load_system_fonts(),
                Others::Folder(folder) => database.load_fonts_dir(folder),
            }
            database
        })
    }

    /// A face of the machine that has the character, the most fitting first.
    pub(super) fn other_with(&self, c: char, bold: bool) -> Option<Bytes> {
        let database = self.database();
        let mut faces: Vec<&FaceInfo> = database.faces().collect();
        faces.sort_by_key(|face| (rank(face, bold), face.post_script_name.clone()));
        let has = |face: &&FaceInfo| {
            let found = database.with_face_data(face.id, |data, index| draws(data, index, c));
            found == Some(true)
        };
        // One that cannot be read when it is to be used is as good as absent.
        faces.into_iter().filter(has).find_map(Bytes::read)
    }
}

/// How well a face fits; the least fits best. Other regions' forms of Chinese characters come after the simplified ones.
fn rank(face: &FaceInfo, bold: bool) -> (bool, u8, u16) {
    let family = face.families.first().map_or("", |(name, _)| name.as_str());
    let wanted = if bold { Weight::BOLD } else { Weight::NORMAL };
    let preferred = match family {
        "Noto Sans CJK SC" => 0,
        name if name.starts_with("Noto Sans") && !name.contains("Mono") => 1,
        name if name.contains("Sans") || name.contains("Gothic") => 2,
        name if name.contains("Emoji") => 4,
        _ => 3,
    };
    let slanted = face.style != Slant::Normal;
    (slanted, preferred, face.weight.0.abs_diff(wanted.0))
}

/// Whether a face draws the character with lines of its own: a picture of an emoji is none.
fn draws(data: &[u8], index: u32, c: char) -> bool {
    let Ok(face) = ttf_parser::Face::parse(data, index) else {
        return false;
    };
    let glyph = face.glyph_index(c);
    glyph.is_some_and(|glyph| c.is_whitespace() || face.glyph_bounding_box(glyph).is_some())
}

/// The bytes of a face.
#[derive(Clone)]
pub(super) struct Bytes {
    pub data: Arc<dyn AsRef<[u8]> + Send + Sync>,
    pub index: u32,
}

impl Bytes {
    fn read(face: &FaceInfo) -> Option<Bytes> {
        let data: Arc<dyn AsRef<[u8]> + Send + Sync> = match &face.source {
            Source::Binary(data) | Source::SharedFile(_, data) => data.clone(),
            Source::File(path) => Arc::new(std::fs::read(path).ok()?),
        };
        Some(Bytes {
            data,
            index: face.index,
        })
    }

    /// Whether it has the character.
    pub(super) fn has(&self, c: char) -> bool {
        let face = ttf_parser::Face::parse((*self.data).as_ref(), self.index);
        face.is_ok_and(|face| face.glyph_index(c).is_some())
    }
}

/// Faces that come with Easel for a look, the first choice first. Noto Sans has the alphabets of Europe, DejaVu Sans also
/// Arabic, Hebrew, arrows and signs of mathematics.
pub(super) fn built_in(style: Style) -> Vec<&'static [u8]> {
    let sans = match (style.bold, style.italic) {
        (false, false) => notosans::REGULAR_TTF,
        (true, false) => notosans::BOLD_TTF,
        (false, true) => notosans::ITALIC_TTF,
        (true, true) => notosans::BOLD_ITALIC_TTF,
    };
    let signs = match style.bold {
        false => dejavu::sans::regular(),
        true => dejavu::sans::bold(),
    };
    let mono = match style.bold {
        false => dejavu::sans_mono::regular(),
        true => dejavu::sans_mono::bold(),
    };
    match style.code {
        true => vec![mono, sans, signs],
        false => vec![sans, signs],
    }
}
