//! RAGFlow canvases: text to workflow and back.
