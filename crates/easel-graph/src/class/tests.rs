use super::*;

fn schema(source: &str, name: &str) -> Value {
    let schema = schema_of_class(source, name).unwrap();
    assert!(jsonschema::meta::is_valid(&schema), "{schema}");
    schema
}

const SCHEMAS: &str = r#"
"""Shapes."""
from __future__ import annotations
import os
from enum import Enum
from typing import Annotated, Any, ClassVar, Literal, Optional, Union
import typing as t
from pydantic import BaseModel, Field

os.remove("/never")

class Mood(str, Enum):
    """How it sounds."""
    GOOD = "good"
    BAD = "bad"

class Base(BaseModel):
    id: int
    note: str = "none"

class Source(BaseModel):
    url: str
    score: float = Field(0.5, ge=0, le=1, description="How sure.")

class Answer(Base):
    """What was found.

    In short."""
    model_config = {"extra": "forbid"}
    VERSION: ClassVar[int] = 3
    _private: str = "x"
    text: str = Field(..., min_length=1, description="The answer.")
    mood: Mood = Mood.GOOD
    tags: list[str] = Field(default_factory=list, max_length=3)
    best: Optional[Source] = None
    sources: t.List[Source] = []
    size: Literal["small", "large"]
    either: Union[int, str]
    maybe: int | None
    pair: tuple[int, str] = (1, "a")
    by_name: dict[str, list[float]]
    anything: Any = None
    note: str
    named: Annotated[int, Field(gt=0), "A number."] = -5
    when: t.Optional[datetime] = None

    def method(self) -> str:
        return self.text
"#;

#[test]
fn a_class_gives_the_schema_that_pydantic_gives() {
    let answer = schema(SCHEMAS, "Answer");
    assert_eq!(answer["title"], "Answer");
    assert_eq!(answer["description"], "What was found.\n\nIn short.");
    assert_eq!(
        answer["required"],
        json!(["id", "text", "size", "either", "maybe", "by_name", "note"])
    );
    let of = |name: &str| answer["properties"][name].clone();
    assert_eq!(of("id"), json!({"type": "integer"}));
    assert_eq!(
        of("text"),
        json!({"type": "string", "minLength": 1, "description": "The answer."})
    );
    assert_eq!(
        of("mood"),
        json!({"enum": ["good", "bad"], "description": "How it sounds.", "default": "good"})
    );
    assert_eq!(
        of("tags"),
        json!({"type": "array", "items": {"type": "string"}, "maxItems": 3})
    );
    let source = json!({
        "type": "object", "title": "Source", "required": ["url"],
        "properties": {
            "url": {"type": "string"},
            "score": {"type": "number", "default": 0.5, "minimum": 0, "maximum": 1, "description": "How sure."},
        },
    });
    assert_eq!(
        of("best"),
        json!({"anyOf": [source, {"type": "null"}], "default": null})
    );
    assert_eq!(
        of("sources"),
        json!({"type": "array", "items": source, "default": []})
    );
    assert_eq!(of("size"), json!({"enum": ["small", "large"]}));
    assert_eq!(of("either"), json!({"type": ["integer", "string"]}));
    assert_eq!(of("maybe"), json!({"type": ["integer", "null"]}));
    assert_eq!(
        of("by_name")["additionalProperties"],
        json!({"type": "array", "items": {"type": "number"}})
    );
    assert_eq!(of("anything"), json!({"default": null}));
    assert_eq!(
        of("named"),
        json!({"type": "integer", "exclusiveMinimum": 0, "description": "A number.", "default": -5})
    );
    assert_eq!(of("when")["anyOf"][0]["format"], "date-time");
    for absent in ["VERSION", "_private", "model_config", "method"] {
        assert!(answer["properties"].get(absent).is_none(), "{absent}");
    }
}

#[test]
fn what_cannot_be_told_from_the_text_names_its_line() {
    let refused = |source: &str| schema_of_class(source, "A").unwrap_err().to_string();
    let unknown = refused("class A(BaseModel):\n    x: int\n    y: pandas.DataFrame\n");
    assert!(
        unknown.starts_with("line 3: the type `pandas.DataFrame` can't be told from the text"),
        "{unknown}"
    );
    assert!(
        refused("class A(Other):\n    x: int\n")
            .starts_with("line 1: `Other` is no class of this file")
    );
    assert!(refused("class A(BaseModel):\n    pass\n").contains("no fields"));
    assert!(refused("class A(BaseModel):\n    x: list[A]\n").contains("holds itself"));
    assert!(refused("class A(A):\n    x: int\n").contains("inherits from itself"));
    assert!(refused("class A(BaseModel:\n    x: int\n").starts_with("line "));
    assert!(refused("def A(): pass\n").starts_with("there is no class `A`"));
    let meant = schema_of_class("class Answer: x: int\n", "Anwser").unwrap_err();
    assert!(
        meant.to_string().ends_with("did you mean `Answer`?"),
        "{meant}"
    );
}

#[test]
fn a_forward_reference_in_quotes_is_a_class_of_the_file() {
    let schema = schema(
        "class A(BaseModel):\n    b: 'B'\nclass B(BaseModel):\n    x: int\n",
        "A",
    );
    assert_eq!(schema["properties"]["b"]["title"], "B");
    let quoted = "class A(BaseModel):\n    b: 'list[B] | None'\nclass B(BaseModel):\n    x: int\n";
    let schema = schema_of_class(quoted, "A").unwrap();
    assert_eq!(schema["properties"]["b"]["anyOf"][0]["items"]["title"], "B");
    let wrong =
        schema_of_class("class A(BaseModel):\n    x: int\n    b: 'list[C'\n", "A").unwrap_err();
    assert!(
        wrong
            .to_string()
            .starts_with("line 3: the type `'list[C'` can't be told"),
        "{wrong}"
    );
}

#[test]
fn hostile_files_are_refused_and_break_nothing() {
    let mut doubling = String::new();
    for level in 0..20 {
        doubling.push_str(&format!(
            "class A{level}(BaseModel):\n    x: A{}\n    y: A{}\n",
            level + 1,
            level + 1
        ));
    }
    doubling.push_str("class A20(BaseModel):\n    x: int\n");
    assert!(
        schema_of_class(&doubling, "A0")
            .unwrap_err()
            .to_string()
            .contains("too many")
    );
    let chains = [
        format!("class A:\n    x: {}int\n", "int | ".repeat(30_000)),
        format!(
            "class A:\n    x: {}int{}\n",
            "list[".repeat(5_000),
            "]".repeat(5_000)
        ),
        format!("class A:\n    x: a{}\n", ".b".repeat(90_000)),
        format!("class A:\n    x: int = {}1\n", "-".repeat(90_000)),
        format!("class A:\n    x: int = f{}\n", "()".repeat(90_000)),
        format!("class A:\n    x: int = {}\n", "(".repeat(90_000)),
        "class A:\n".repeat(5_000),
    ];
    for source in chains {
        let start: String = source.chars().take(30).collect();
        assert!(
            schema_of_class(&source, "A").is_err() || source.contains("f()"),
            "{start}"
        );
    }
    assert!(matches!(
        schema_of_class(&" ".repeat(200_001), "A"),
        Err(ClassError::TooLarge { .. })
    ));
}

#[test]
fn a_package_gives_the_schema_of_a_class_of_its_files() {
    let text = |text: &str| text.as_bytes().to_vec();
    let package = Package::from_files([
        ("workflow.yaml".to_owned(), text("name: n\n")),
        (
            "graph.yaml".to_owned(),
            text("name: g\nnodes: [{id: a, output_schema: 'shapes.answers:A'}]\noutputs: [a]\n"),
        ),
        (
            "shapes/answers.py".to_owned(),
            text("class A:\n    x: int\n"),
        ),
    ])
    .unwrap();
    assert!(package.schema_of("shapes.answers:A").is_ok());
    assert!(package.schema_of("shapes.answers.A").is_ok());
    assert!(matches!(
        package.schema_of("pydantic:BaseModel"),
        Err(ClassError::NoModule { .. })
    ));
    assert!(matches!(
        package.schema_of("A"),
        Err(ClassError::Path { .. })
    ));
}
