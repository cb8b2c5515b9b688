//! The kinds of diagnostics.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::diagnostic::Severity;
use crate::explain::graph::{format, functions, models, routers, texts, tools, wiring};
use crate::explain::{edges, loops, nodes, references, rewrites, secrets};

/// What a kind of diagnostic means: the source of `easel explain` and of the rules in SARIF.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name: words joined by hyphens, of a code of graphs alone by underscores and dots. It never changes and never
    /// comes to mean anything else.
    pub name: &'static str,
    /// How bad it is, at worst.
    pub severity: Severity,
    /// In what it can be found.
    pub dialect: Dialect,
    /// What is the case, in a few words.
    pub title: &'static str,
    /// What it means.
    pub means: &'static str,
    /// Why anybody should care.
    pub matters: &'static str,
    /// What has it: a piece of a canvas, or a whole graph.
    pub example: &'static str,
    /// What to do about it.
    pub fix: &'static str,
}

/// The dialects in which a code can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Canvases alone.
    Canvas,
    /// Graphs alone.
    Graph,
    /// Both.
    Both,
}

/// Lists the codes once: the kinds, their order and their rules.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident => $rule:path,)*) => {
        /// A kind of diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[$doc])* $code,)*
        }

        impl Code {
            /// Every code, errors first.
            pub const ALL: &'static [Code] = &[$(Code::$code,)*];

            /// What it means.
            pub fn rule(self) -> &'static Rule {
                match self {
                    $(Code::$code => &$rule,)*
                }
            }
        }
    };
}

codes! {
    /// The file is no canvas that can be read.
    NotReadable => nodes::NOT_READABLE,
    /// There is no node at which a run could start.
    NoEntry => nodes::NO_ENTRY,
    /// Two nodes have one id.
    DuplicateId => nodes::DUPLICATE_ID,
    /// A node stands in the body of something that has none.
    NoSuchContainer => nodes::NO_SUCH_CONTAINER,
    /// An edge leads to a node that does not exist.
    EdgeToNothing => edges::EDGE_TO_NOTHING,
    /// An edge leads into a body or out of one.
    EdgeAcrossBodies => edges::EDGE_ACROSS_BODIES,
    /// A circle of edges that nothing can leave.
    EndlessCircle => loops::ENDLESS_CIRCLE,
    /// Nodes wait for values of one another.
    ReferenceCircle => references::REFERENCE_CIRCLE,
    /// A reference reaches from one body into another.
    ReferenceAcrossBodies => references::REFERENCE_ACROSS_BODIES,
    /// An output has a name that belongs to the engine.
    ReservedName => nodes::RESERVED_NAME,

    /// A value has a type that its key does not take.
    Type => format::TYPE,
    /// A key that has to be there is not.
    Missing => format::MISSING,
    /// A word is none of those that its key takes.
    Choice => format::CHOICE,
    /// YAML reads a name as a boolean, a number or nothing.
    KeyNotText => format::KEY_NOT_TEXT,
    /// A node is of a kind that there is not.
    UnknownKind => format::UNKNOWN_KIND,
    /// The graph has no nodes.
    NoNodes => format::NO_NODES,
    /// Two declared inputs have one name.
    DuplicateInput => format::DUPLICATE_INPUT,
    /// A node lacks a key that its kind needs.
    Structure => format::STRUCTURE,
    /// A dependency, an output or a handler is no node, or dependencies go in a circle.
    Dag => wiring::DAG,
    /// Something depends on an output node.
    DependsOnOutput => wiring::DEPENDS_ON_OUTPUT,
    /// An output node is to handle an error.
    OutputAsHandler => wiring::OUTPUT_AS_HANDLER,
    /// A handler does not depend on what it handles.
    HandlerNotDownstream => wiring::HANDLER_NOT_DOWNSTREAM,
    /// A body depends on something outside of it.
    BodyDependencyOutside => wiring::BODY_DEPENDENCY_OUTSIDE,
    /// A container gives out a node that its body does not have.
    BodyOutputs => wiring::BODY_OUTPUTS,
    /// A guard is blank.
    BlankWhen => wiring::BLANK_WHEN,
    /// A loop's condition is blank.
    BlankUntil => wiring::BLANK_UNTIL,
    /// A loop ends by a key that is no longer read.
    BreakWhen => wiring::BREAK_WHEN,
    /// No step names a declared input.
    UnreadInput => wiring::UNREAD_INPUT,
    /// An output has neither a dependency nor a value.
    OutputEmpty => wiring::OUTPUT_EMPTY,
    /// A router has neither routes nor cases.
    RouterTargets => routers::NO_TARGETS,
    /// A router has both routes and cases.
    RoutesAndCases => routers::ROUTES_AND_CASES,
    /// A router's label is blank.
    RouterBlankLabel => routers::BLANK_LABEL,
    /// A router leads to a node that its level does not have.
    RouterUnknownTarget => routers::UNKNOWN_TARGET,
    /// A router leads to a node that does not depend on it.
    RouterTargetNotDownstream => routers::TARGET_NOT_DOWNSTREAM,
    /// A router's key stands on another kind of node.
    RouterKeyElsewhere => routers::KEY_ELSEWHERE,
    /// A placeholder of a prompt that nothing fills.
    TemplateVar => texts::TEMPLATE_VAR,
    /// A placeholder of an argument that nothing fills.
    ToolArgsTemplate => texts::TOOL_ARGS_TEMPLATE,
    /// A placeholder of a result that nothing fills.
    OutputTemplate => texts::OUTPUT_TEMPLATE,
    /// A secret in a prompt.
    SecretInPrompt => texts::SECRET_IN_PROMPT,
    /// An expression that cannot be read.
    ExpressionSyntax => texts::EXPRESSION_SYNTAX,
    /// An expression with a name that there is not.
    ExpressionName => texts::EXPRESSION_NAME,
    /// The shape of an answer cannot be used.
    Schema => models::SCHEMA,
    /// A react step without tools.
    Capability => models::CAPABILITY,
    /// A structured answer of no shape.
    StructuredWithoutSchema => models::STRUCTURED_WITHOUT_SCHEMA,
    /// A shape and tools in one base step.
    ShapeDisablesTools => models::SHAPE_DISABLES_TOOLS,
    /// A tool's name is misspelt.
    ToolTypo => tools::TYPO,
    /// There is no such tool.
    ToolGap => tools::GAP,
    /// A tool is not given an argument that it needs.
    ToolArgs => tools::TOOL_ARGS,
    /// An argument takes a field of an answer without a shape.
    SourceHasNoShape => tools::SOURCE_HAS_NO_SHAPE,
    /// An argument takes a field that an answer does not have.
    UnknownBoundField => tools::UNKNOWN_FIELD,
    /// The sidecar is not a file of the package.
    Functions => functions::SIDECAR,
    /// There is no such function.
    Callable => functions::CALLABLE,

    /// A component that Easel does not know.
    UnknownComponent => nodes::UNKNOWN_COMPONENT,
    /// A component that this version does not run.
    NotRunYet => nodes::NOT_RUN_YET,
    /// A parameter that has to be set is not.
    MissingParameter => nodes::MISSING_PARAMETER,
    /// A parameter has a value that does not fit.
    BadParameter => nodes::BAD_PARAMETER,
    /// No model is named and none is the default.
    NoModel => nodes::NO_MODEL,
    /// A model that nothing configured answers to.
    UnknownModel => nodes::UNKNOWN_MODEL,
    /// A tool has no key for its service.
    NoCredentials => secrets::NO_CREDENTIALS,
    /// A comparison that nobody knows.
    UnknownOperator => nodes::UNKNOWN_OPERATOR,
    /// Two answers to a failure are filled in.
    TwoWaysAfterFailure => nodes::TWO_WAYS_AFTER_FAILURE,
    /// An object of the file has a member twice.
    DuplicateMember => nodes::DUPLICATE_MEMBER,
    /// An agent in its own tools, or too deep in others'.
    SubAgentLeftOut => rewrites::SUB_AGENT_LEFT_OUT,

    /// A reference names nothing that exists.
    UnknownReference => references::UNKNOWN_REFERENCE,
    /// A text where a reference belongs.
    NotAReference => references::NOT_A_REFERENCE,
    /// A reference names an output that its node does not have.
    UnknownPort => references::UNKNOWN_PORT,
    /// A node may run although one that it reads did not.
    MaybeMissing => references::MAYBE_MISSING,
    /// A node does not wait for one that it reads.
    OrderingLeftOut => references::ORDERING_LEFT_OUT,
    /// A declared input that nothing reads.
    UnusedInput => references::UNUSED_INPUT,

    /// An edge that only one of its sides knows of.
    OneSidedEdge => edges::ONE_SIDED_EDGE,
    /// A node leads to itself.
    SelfEdge => edges::SELF_EDGE,
    /// A node that no edge leads to.
    UnreachableNode => edges::UNREACHABLE_NODE,
    /// A branch leads to a node that does not exist.
    NoSuchTarget => edges::NO_SUCH_TARGET,
    /// A branch leads to a node to which it has no edge.
    TargetWithoutEdge => edges::TARGET_WITHOUT_EDGE,
    /// A branch does not say what happens otherwise.
    BranchWithoutElse => edges::BRANCH_WITHOUT_ELSE,
    /// A node runs even if the branch before it does not choose it.
    TargetRunsAnyway => edges::TARGET_RUNS_ANYWAY,

    /// An edge leads back.
    BackEdge => loops::BACK_EDGE,
    /// A container without a body.
    EmptyBody => loops::EMPTY_BODY,
    /// A loop that makes no pass.
    LoopWithoutPasses => loops::LOOP_WITHOUT_PASSES,
    /// A loop that only its maximum ends.
    LoopWithoutEnd => loops::LOOP_WITHOUT_END,
    /// A variable of a loop that lacks a part.
    IncompleteVariable => loops::INCOMPLETE_VARIABLE,
    /// An exit with no loop around it.
    ExitOutsideLoop => loops::EXIT_OUTSIDE_LOOP,

    /// A `${NAME}` where none is put in.
    UndeclaredSecret => secrets::UNDECLARED_SECRET,
    /// A `${NAME}` of which nothing has a value.
    SecretNotSet => secrets::SECRET_NOT_SET,
    /// A text of the file looks like a key.
    SecretInFile => secrets::SECRET_IN_FILE,

    /// A key that no graph has.
    UnknownKey => format::UNKNOWN_KEY,
    /// A key that this kind of node does not read.
    InertKey => format::INERT_KEY,
    /// A mapping has a key twice.
    DuplicateKey => format::DUPLICATE_KEY,
    /// An override changes nothing.
    Override => format::OVERRIDE,
    /// The graph names no result.
    NoResult => wiring::NO_RESULT,
    /// Nobody takes a node's value.
    UnusedNode => wiring::UNUSED_NODE,
    /// No node depends on any other.
    Unconnected => wiring::UNCONNECTED,
    /// A node hangs on nothing.
    Isolated => wiring::ISOLATED,
    /// A router is told nothing to judge.
    ClassifiesOnNothing => routers::CLASSIFIES_ON_NOTHING,
    /// A variable that may not be written yet.
    TemplateVarUnsure => texts::TEMPLATE_VAR_UNSURE,
    /// A placeholder in a text that is not filled in.
    NotRendered => texts::NOT_RENDERED,
    /// Braces that may be meant as text.
    TemplateBraces => texts::TEMPLATE_BRACES,
    /// A step is asked for what only a tool can do.
    CapabilityGap => models::CAPABILITY_GAP,
    /// A step without instructions.
    NoInstructions => models::NO_INSTRUCTIONS,
    /// A step names no model and none is the default.
    AgentNoModel => models::NO_MODEL,
    /// A provider that is not configured.
    Provider => models::PROVIDER,
    /// Several tools, and one round to use them.
    ToolsExceedRounds => models::TOOLS_EXCEED_ROUNDS,
    /// A tool step with several tools.
    OnlyFirstTool => tools::ONLY_FIRST,
    /// A tool lacks a setting.
    SettingMissing => tools::SETTING_MISSING,
    /// A setting that a tool does not have.
    UnknownSetting => tools::UNKNOWN_SETTING,
    /// Settings of a tool that the step does not have.
    SettingForAbsentTool => tools::SETTING_FOR_ABSENT_TOOL,
    /// An argument that no tool takes.
    UnusedArgument => tools::UNUSED_ARGUMENT,
    /// Secrets on a kind that takes none.
    SecretUnusable => tools::SECRET_UNUSABLE,
    /// A secret that no argument takes.
    SecretUnbound => tools::SECRET_UNBOUND,
    /// A function may not run here.
    CallableProblem => functions::PROBLEM,
    /// A function is given more than it takes.
    UnexpectedKeyword => functions::UNEXPECTED_KEYWORD,
    /// A function is not given what it needs.
    MissingArgument => functions::MISSING_ARGUMENT,

    /// A field that nothing reads.
    UnknownField => nodes::UNKNOWN_FIELD,
    /// The drawing went under `graph`.
    DrawingLifted => rewrites::DRAWING_LIFTED,
    /// Kinds of drawn nodes got their present names.
    DrawingRepaired => rewrites::DRAWING_REPAIRED,
    /// Entries of `history` became pairs.
    HistoryReshaped => rewrites::HISTORY_RESHAPED,
    /// `retrieval` became a list.
    RetrievalReshaped => rewrites::RETRIEVAL_RESHAPED,
    /// Entries of `memory` became triples.
    MemoryReshaped => rewrites::MEMORY_RESHAPED,
    /// `variables` became an object.
    VariablesReshaped => rewrites::VARIABLES_RESHAPED,
    /// A flat component got its `obj`.
    EntryReshaped => rewrites::ENTRY_RESHAPED,
    /// A component got its present name.
    ClassRenamed => rewrites::CLASS_RENAMED,
    /// An id changed with the name of its component.
    IdRenamed => rewrites::ID_RENAMED,
    /// `components` were made from the drawing.
    ComponentsDerived => rewrites::COMPONENTS_DERIVED,
    /// A parameter got its present name or shape.
    ParamReshaped => rewrites::PARAM_RESHAPED,
    /// An old placeholder became a reference.
    PlaceholderRewritten => rewrites::PLACEHOLDER_REWRITTEN,
    /// A component that is gone became one that does the same.
    LegacyReplaced => rewrites::LEGACY_REPLACED,
    /// An old interaction point became the end of a turn or a form.
    AnswerReplaced => rewrites::ANSWER_REPLACED,
    /// A Message was added.
    MessageAdded => rewrites::MESSAGE_ADDED,

    /// A form of one field.
    SingleField => wiring::SINGLE_FIELD,
}

impl Code {
    /// Its name: stable, for people and programs.
    pub fn name(self) -> &'static str {
        self.rule().name
    }

    /// The code of that name, in any case; hyphens, underscores and dots are taken for one another.
    pub fn find(name: &str) -> Option<Code> {
        let name = name.trim();
        Code::ALL
            .iter()
            .copied()
            .find(|code| spelled_alike(code.name(), name))
    }
}

fn spelled_alike(a: &str, b: &str) -> bool {
    let plain = |c: char| match c {
        '_' | '.' => '-',
        c => c.to_ascii_lowercase(),
    };
    a.chars().map(plain).eq(b.chars().map(plain))
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_code_is_explained_and_found_by_its_name() {
        let mut names = HashSet::new();
        for &code in Code::ALL {
            let rule = code.rule();
            assert!(names.insert(rule.name), "{} names two codes", rule.name);
            assert_eq!(Code::find(rule.name), Some(code));
            let joins = match rule.dialect {
                Dialect::Graph => ['_', '.'],
                Dialect::Canvas | Dialect::Both => ['-', '-'],
            };
            let word = |c: char| c.is_ascii_lowercase() || joins.contains(&c);
            assert!(rule.name.chars().all(word), "{}", rule.name);
            assert!(!rule.title.ends_with('.'), "{} has a title", rule.name);
            for sentence in [rule.means, rule.matters, rule.fix] {
                assert!(sentence.ends_with('.'), "{}: {sentence}", rule.name);
            }
            assert!(!rule.example.is_empty(), "{}", rule.name);
        }
        assert_eq!(Code::find(" No-Entry "), Some(Code::NoEntry));
        assert_eq!(
            Code::find("tool-args.template"),
            Some(Code::ToolArgsTemplate)
        );
        assert_eq!(Code::find("nonsense"), None);
    }

    #[test]
    fn errors_come_before_warnings_and_warnings_before_the_rest() {
        let severities: Vec<Severity> = Code::ALL.iter().map(|c| c.rule().severity).collect();
        assert!(severities.is_sorted());
    }
}
