package llm

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// PromptVersion is part of every cache key. It changes with any change of a
// prompt that can change an answer.
const PromptVersion = "1"

// Limits that the extraction prompt states. The parser does not enforce them.
const (
	promptMaxEntities = 40
	promptMaxRows     = 100
)

var defaultEntityTypes = [...]string{
	"Person", "Creature", "Organization", "Location", "Event", "Concept",
	"Method", "Content", "Data", "Artifact", "NaturalObject", "Other",
}

// DefaultEntityTypes returns a new slice of the types asked for by default.
func DefaultEntityTypes() []string { return slices.Clone(defaultEntityTypes[:]) }

// ExtractOptions shapes the extraction and gleaning prompts. The zero value is
// the default: default types, row format, language of the text, no examples.
type ExtractOptions struct {
	EntityTypes []string // nil: DefaultEntityTypes
	Language    string   // of descriptions and keywords; "": that of the text
	JSON        bool     // ask for one JSON object instead of rows
	Examples    string   // appended to the system prompt as given; "": none
}

// ExtractMessages returns the system and the user message that ask for the
// entities and relations of text. The text stands in the user message byte for
// byte, between fences longer than any run of the fence character in it.
func ExtractMessages(text string, o ExtractOptions) []Message {
	return (&Prompts{}).Extract(text, o)
}

// Extract is ExtractMessages with these prompts.
func (p *Prompts) Extract(text string, o ExtractOptions) []Message {
	types := o.EntityTypes
	if len(types) == 0 {
		types = defaultEntityTypes[:]
	}
	format := p.text(extractFormatRows)
	if o.JSON {
		format = p.text(extractFormatJSON)
	}
	system := fill(p.text(extractSystem),
		"{{FORMAT}}", strings.TrimSpace(format),
		"{{TYPES}}", strings.Join(types, ", "),
		"{{MAX_ENTITIES}}", strconv.Itoa(promptMaxEntities),
		"{{MAX_ROWS}}", strconv.Itoa(promptMaxRows),
		"{{LANGUAGE}}", orElse(o.Language, "the language of the passage"))
	if o.Examples != "" {
		system += "\n\nExamples of the form (their content is not to be used):\n" + o.Examples
	}
	return []Message{
		{Role: RoleSystem, Content: system},
		{Role: RoleUser, Content: fill(p.text(extractUser), "{{FENCE}}", fence(text), "{{TEXT}}", text)},
	}
}

// GleanMessages returns the conversation that asks for what the first answer
// left out: system, the extraction request with the text, that answer, and the
// request for the rest.
func GleanMessages(text string, o ExtractOptions, firstAnswer string) []Message {
	return (&Prompts{}).Glean(text, o, firstAnswer)
}

// Glean is GleanMessages with these prompts.
func (p *Prompts) Glean(text string, o ExtractOptions, firstAnswer string) []Message {
	nothing := "End with the end mark; if nothing is missing, give it alone."
	if o.JSON {
		nothing = "If nothing is missing, both lists are empty."
	}
	return append(p.Extract(text, o),
		Message{Role: RoleAssistant, Content: firstAnswer},
		Message{Role: RoleUser, Content: fill(p.text(gleanUser), "{{NOTHING}}", nothing)})
}

// KeywordMessages returns the message that asks for the keywords of a question
// as the JSON object that ParseKeywords reads.
func KeywordMessages(question, language string) []Message {
	return (&Prompts{}).Keywords(question, language)
}

// Keywords is KeywordMessages with these prompts.
func (p *Prompts) Keywords(question, language string) []Message {
	return []Message{{Role: RoleUser, Content: fill(p.text(keywordsUser),
		"{{FENCE}}", fence(question), "{{TEXT}}", question,
		"{{LANGUAGE}}", orElse(language, "the language of the question"))}}
}

// SummaryMessages returns the message that asks to join descriptions of one
// owner into one of at most maxTokens tokens. kind is "entity" or "relation";
// the name of a relation is "(a, b)". The descriptions are given in order, one
// JSON object {"Description": ...} per line.
func SummaryMessages(kind, name string, descriptions []string, maxTokens int, language string) []Message {
	return (&Prompts{}).Summary(kind, name, descriptions, maxTokens, language)
}

// Summary is SummaryMessages with these prompts.
func (p *Prompts) Summary(kind, name string, descriptions []string, maxTokens int, language string) []Message {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, d := range descriptions {
		// Encoding a struct of one string into memory cannot fail.
		_ = enc.Encode(struct{ Description string }{d})
	}
	text := strings.TrimSuffix(b.String(), "\n")
	return []Message{{Role: RoleUser, Content: fill(p.text(summaryUser),
		"{{KIND}}", kind, "{{NAME}}", name, "{{TEXT}}", text, "{{FENCE}}", fence(name+"\n"+text),
		"{{MAX_TOKENS}}", strconv.Itoa(maxTokens),
		"{{LANGUAGE}}", orElse(language, "the language of the descriptions"))}}
}

// AnswerOptions shapes the answer.
type AnswerOptions struct {
	ResponseType string // "": Multiple Paragraphs
	UserPrompt   string // further instructions of the asker; "": none
	NoReferences bool   // the answer is to end without a list of documents
}

// What the answer prompt says about the documents it relied on.
const (
	answerReferences   = "End with a section headed `### References` that lists the documents you relied on, at most five, one per line as `- [n] title`, where n is the reference_id of the passage and title is its entry in the document list. Cite only documents of that list; without any, leave the section out. Write nothing after it."
	answerNoReferences = "Write no list of documents or references, and no marks such as [1] in the text."
)

// AnswerSystem returns the system message for answering from contextText, which
// may be of any mode; AnswerSystem("", o) is what the prompt itself costs.
func AnswerSystem(contextText string, o AnswerOptions) string {
	return (&Prompts{}).Answer(contextText, o)
}

// Answer is AnswerSystem with these prompts.
func (p *Prompts) Answer(contextText string, o AnswerOptions) string {
	references := answerReferences
	if o.NoReferences {
		references = answerNoReferences
	}
	return fill(p.text(answerSystem),
		"{{REFERENCES}}", references,
		"{{RESPONSE_TYPE}}", orElse(o.ResponseType, "Multiple Paragraphs"),
		"{{USER_PROMPT}}", orElse(o.UserPrompt, "n/a"),
		"{{FENCE}}", fence(contextText), "{{TEXT}}", contextText)
}

// fill replaces placeholders in one pass, so that a value that looks like a
// placeholder stays as it is.
func fill(template string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(strings.TrimSuffix(template, "\n"))
}

// fence returns a run of backticks longer than any in text, so that no line of
// the text can close it. At least three, as in Markdown.
func fence(text string) string {
	longest, run := 2, 0
	for i := 0; i < len(text); i++ {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

func orElse(s, other string) string {
	if strings.TrimSpace(s) == "" {
		return other
	}
	return s
}
