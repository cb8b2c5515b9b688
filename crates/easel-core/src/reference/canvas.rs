//! The one reference grammar of canvases (spec/canvas-engine §2).
