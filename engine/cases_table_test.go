package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// cases are inputs on which other implementations of LightRAG went wrong,
// collected from their public reports and from what models really answered.
// Each names its tests: the directory where it is not this one, the function,
// and of a table the row.
var cases = []struct {
	number int
	about  string
	tests  []string
}{
	// Reports about LightRAG.
	{1, "a spaced <|> in a description", []string{"llm.TestParseCurrentFormat/spaced core-less delimiter is text"}},
	{2, "a spaced <|| in a description", []string{"llm.TestParseCurrentFormat/spaced double pipe is text"}},
	{3, "<|> for every delimiter", []string{"llm.TestParseCurrentFormat/glued core-less delimiters"}},
	{5, "<||> and < | >", []string{"llm.TestParseCurrentFormat/glued double pipe", "llm.TestParseCurrentFormat/spaced pipe is left alone"}},
	{6, "a relation of six fields", []string{"llm.TestParseCurrentFormat/six fields are dropped"}},
	{7, "a number as description", []string{"llm.TestParseCurrentFormat/numeric description is no weight", "TestMergingRelations/a number is no weight"}},
	{10, "keywords in a fence", []string{"llm.TestParseKeywords"}},
	{11, "keywords among thoughts", []string{"llm.TestParseKeywords"}},
	{12, "keywords as one text, between prose", []string{"llm.TestParseKeywords"}},
	{14, "source code for keywords", []string{"llm.TestParseKeywords", "TestKeywordsOfTheModel/no JSON, short question", "TestKeywordsOfTheModel/no JSON, long question"}},
	{15, "JSON that is no extraction", []string{"llm.TestParseJSONFormat/two objects in a list", "llm.TestParseJSONFormat/note and a list", "llm.TestParseJSONFormat/bracket in an open quote"}},
	{17, "a formula with single backslashes", []string{"llm.TestParseJSONFormat/formula", "TestXMLSafe"}},
	{18, "NUL in a text", []string{"llm.TestSanitizeText", "TestHostileTextIsCleanedAndCounted"}},
	{19, "invalid UTF-8 in a text and in a name", []string{"llm.TestSanitizeText", "TestHostileTextIsCleanedAndCounted", "TestUnusableInputIsRefusedBeforeAnythingIsWritten/invalid UTF-8 in a path"}},
	{20, "forms of names", []string{"llm.TestNormalizeName"}},
	{21, "a quoted part of a name", []string{"TestMerging/a quoted part of a name"}},
	{22, "a name of 300 Han characters", []string{"llm.TestNormalizeNameCutsOnARune", "llm.TestParseCurrentFormat/long name on both sides"}},
	{23, "types that are lists, hold a slash, are empty", []string{"llm.TestParseCurrentFormat/type list", "llm.TestParseCurrentFormat/forbidden type", "llm.TestParseCurrentFormat/empty type"}},
	{25, "renaming an entity with a self loop", []string{"TestIsolatedAndSelfNamedEntities"}},
	{27, "one document processed twice", []string{"TestWhatBecomesOfARepeatedDocument", "graphstore.TestCommitAgainChangesNothing"}},
	{28, "one relation in two documents", []string{"TestMergingRelations/one more document, one more weight"}},
	{29, "an end that was not extracted", []string{"TestMerging/an end that was never extracted"}},
	{31, "types are voted, keywords distinct", []string{"TestMerging/two of three", "TestMergingRelations/keywords are split, trimmed, distinct and sorted"}},
	{32, "nothing to extract", []string{"TestADocumentWithNothingToExtract"}},
	{33, "blank texts", []string{"TestUnusableInputIsRefusedBeforeAnythingIsWritten/empty text", "TestUnusableInputIsRefusedBeforeAnythingIsWritten/blank text"}},
	{34, "one id twice in a call", []string{"TestUnusableInputIsRefusedBeforeAnythingIsWritten/one id twice"}}, // ids are fields of documents: there are always as many
	{35, "one text twice, in a call and later", []string{"TestOneTextTwiceInOneCallIsStoredOnce", "TestWhatBecomesOfARepeatedDocument"}},
	{37, "a long text without a separator", []string{"TestOneLineOfTwoMegabytes"}},
	{39, "1,250 tokens in windows of 1,200 and 100", []string{"llm.TestWindowsFollowTheRule"}},
	{40, "vectors of zeros, NaN and Inf", []string{"TestUnusableVectorsAreRefused/zero", "TestUnusableVectorsAreRefused/NaN", "TestUnusableVectorsAreRefused/Inf", "TestDamagedDirectories/rows hold NaN, Inf and zeros"}},
	{41, "vectors of another dimension", []string{"TestUnusableVectorsAreRefused/wrong dimension"}},
	{42, "a vector too few", []string{"TestUnusableVectorsAreRefused/one vector short"}},
	{43, "a store opened with another dimension", []string{"TestAnotherEmbedderIsRefused"}},
	{45, "no chunk wanted of each owner", []string{"TestPickWeightFollowsTheLinearQuota"}},
	{47, "a question with history, then without", []string{"TestHistoryNeverMeetsTheCache", "TestHistoryIsForTheAnswerOnly"}},
	{48, "cache keys of parts that join to one text", []string{"TestEveryPartOfARequestChangesItsKey", "TestTheAnswerCacheTellsRequestsApart"}},
	{49, "cache keys of two models", []string{"TestEveryPartOfARequestChangesItsKey", "TestACachedAnswerIsNeverStale"}},
	{50, "an answer cut by its length", []string{"TestATruncatedAnswerIsNotCached", "TestATruncatedAnswerIsFlagged", "TestAnswersThatAreNone/length limit before the first word"}},
	{51, "no choices", []string{"llm.TestFailures/no choices", "TestAnswersThatAreNone/no choices"}},
	{52, "deleting one of two documents that share", []string{"TestDeletingOneOfTwoDocumentsThatShare"}},
	{54, "deleting a failed document with its answers", []string{"TestDeletingWithTheAnswers"}},
	{55, "killed while documents are processed", []string{"TestKilledProcessResumes"}},
	{57, "a file of no bytes in a directory to import", []string{"TestEveryFileMayBeMissing"}},
	{59, "isolated entities in the whole graph", []string{"TestIsolatedAndSelfNamedEntities", "TestGraphMLHoldsTheGraph", "TestHTMLHoldsTheGraph"}},
	{60, "blank names and questions", []string{"TestBlankNamesAndQuestionsAreRefused", "TestCurationErrors/blank name"}},
	{62, "deleting nothing and the unknown", []string{"TestDeletingNothing"}},
	{64, "one name of a person and a place", []string{"TestMerging/one name, two types: the vote decides"}},

	// Answers of real models.
	{66, "<#|> for a delimiter", []string{"llm.TestParseCurrentFormat/#>"}},
	{67, "<|#||> for a delimiter", []string{"llm.TestParseCurrentFormat/doubled pipe behind", "llm.TestParseCurrentFormat/unclosed"}},
	{68, "<||> and <||#|> for a delimiter", []string{"llm.TestParseCurrentFormat/core missing before the description", "llm.TestParseCurrentFormat/doubled pipe before"}},
	{69, "<|#|#|> for a delimiter", []string{"llm.TestParseCurrentFormat/doubled core"}},
	{71, "<# |> behind the kind", []string{"llm.TestParseCurrentFormat/space inside a prefix delimiter"}},
	{72, "an unknown delimiter", []string{"llm.TestParseCurrentFormat/unknown delimiter completes a row", "llm.TestMalformedAnswers"}},
	{73, "<|#=> and <|##> for a delimiter", []string{"llm.TestParseCurrentFormat/stray characters", "llm.TestParseCurrentFormat/doubled core"}},
	{74, "stray characters in a delimiter", []string{"llm.TestParseCurrentFormat/stray characters"}},
	{75, "a relation called an entity", []string{"llm.TestParseCurrentFormat/relation written as entity"}},
	{77, "a relation without keywords", []string{"llm.TestParseCurrentFormat/relation without keywords", "llm.TestMalformedAnswers"}},
	{78, "a self loop", []string{"llm.TestParseCurrentFormat/self loop", "TestMerging/a self loop is no relation"}},
	{80, "nothing found", []string{"llm.TestParseWithoutRecords", "TestAnswersThatAreNone/nothing found"}},
	{81, "thoughts before records", []string{"llm.TestParseCurrentFormat/prose and fences around"}},
	{82, "a refusal for a gleaning answer", []string{"llm.TestParseWithoutRecords"}},
	{83, "a list of bullets", []string{"llm.TestParseWithoutRecords", "TestAnswersThatAreNone/prose"}},
	{85, "broken delimiters of the older format", []string{
		"llm.TestParseOldFormat/broken delimiter: no less-than", "llm.TestParseOldFormat/broken delimiter: line break",
		"llm.TestParseOldFormat/broken delimiter: slash", "llm.TestParseOldFormat/broken delimiter: plus",
	}},
	{88, "closing chatter", []string{"llm.TestParseOldFormat/closing chatter"}},
	{89, "no mark at the end", []string{"llm.TestMalformedAnswers/no_completion", "llm.TestParseCurrentFormat/relationship and capitals"}},
	{90, "content keywords", []string{"llm.TestParseContentKeywords"}},
}

// testsIn returns the tests of a directory, each with the texts that stand in
// it.
func testsIn(t *testing.T, dir string) map[string]map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	out := make(map[string]map[string]bool)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || f.Body == nil || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			texts := make(map[string]bool)
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if s, err := strconv.Unquote(lit.Value); err == nil {
						texts[s] = true
					}
				}
				return true
			})
			out[f.Name.Name] = texts
		}
	}
	return out
}

func TestEveryCaseHasItsTest(t *testing.T) {
	there := map[string]map[string]map[string]bool{
		"": testsIn(t, "."), "llm": testsIn(t, "../llm"), "graphstore": testsIn(t, "../graphstore"),
	}
	last := 0
	for _, c := range cases {
		if c.number <= last || c.about == "" || len(c.tests) == 0 {
			t.Errorf("case %d: twice, out of order, or without a test", c.number)
		}
		last = c.number
		for _, name := range c.tests {
			dir, test, ok := strings.Cut(name, ".Test")
			if !ok {
				dir, test = "", strings.TrimPrefix(name, "Test")
			}
			test, row, _ := strings.Cut(test, "/")
			texts, ok := there[dir]["Test"+test]
			if !ok || row != "" && !texts[row] {
				t.Errorf("case %d: there is no %s", c.number, name)
			}
		}
	}
}

// TestEveryRecordedCaseIsInTheTable compares the table with the list that it
// was made of.
func TestEveryRecordedCaseIsInTheTable(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(filepath.Dir(sharedData(t)), "cases", "BUGCASES.md"))
	if err != nil {
		t.Skipf("no list of cases: %v", err)
	}
	known := make(map[int]bool)
	for _, c := range cases {
		known[c.number] = true
	}
	rows := regexp.MustCompile(`(?m)^\|(\d+)\|`).FindAllStringSubmatch(string(list), -1)
	if len(rows) != len(cases) {
		t.Errorf("%d cases, %d in the table", len(rows), len(cases))
	}
	for _, row := range rows {
		if n, err := strconv.Atoi(row[1]); err != nil || !known[n] {
			t.Errorf("case %s is not in the table", row[1])
		}
	}
}
