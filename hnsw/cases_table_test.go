package hnsw_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// caseRows are public reports of other vector indexes, and for each the tests, of this directory, of what is right.
var caseRows = []struct {
	reports, about string
	tests          []string
}{
	{"nmslib/hnswlib#352", "an isolated point is unreachable", []string{"TestAPointApartFromAllOthersIsFound", "TestKEqualsNReturnsEverything"}},
	{"nmslib/hnswlib#263", "wrong neighbours among copies", []string{"TestOfFiveVectorsWithHundredCopiesEachFindsItsOwn"}},
	{"nmslib/hnswlib#341", "copies cost recall", []string{"TestCopiesAmongRowsDoNotCostRecall"}},
	{"qdrant/qdrant PR#10239", "a group of copies is a sink", []string{"TestAGroupOfCopiesIsNoSink", "TestChoosingKeepsOneOfManyCopies"}},
	{"facebookresearch/faiss#1097", "copies make building slow", []string{"TestCopiesDoNotEnterTheGraph", "TestCopiesOfThreeVectors"}},
	{"GrafeoDB/grafeo#391", "newcomers after near copies lose their links", []string{"TestLateAndDistantRowsAfterNearCopiesAreFound"}},
	{"orneryd/NornicDB#433", "nearest neighbours only, and M on layer 0", []string{"TestNeighboursAreChosenForDiversity", "TestLayerZeroHoldsTwiceM"}},
	{"ryaker/SparrowDB PR#447", "islands", []string{"TestTightGroupsDoNotBecomeIslands", "TestRepairReconnectsAnIsland"}},
	{"apache/lucene#12627, PR#13566", "disconnected parts", []string{"TestNoShapeOfDataFallsApart", "TestNoDescentEndsInASink"}},
	{"zilliztech/knowhere PR#340", "unreachable vectors after a build", []string{"TestNoShapeOfDataFallsApart", "TestEveryLinkedSlotIsReachable"}},
	{"unum-cloud/USearch#735", "unreachable vectors after a parallel build", []string{"TestParallelAdditionsLeaveNothingUnreachable"}},
	{"unum-cloud/USearch#399", "replacing the first entry hides the others", []string{"TestReplacingTheFirstHidesNoOther"}},
	{"unum-cloud/USearch#445", "wrong keys after deleting all", []string{"TestAnIndexEmptiedByDeletionsIsAsNew"}},
	{"unum-cloud/USearch#393", "keys out of nothing", []string{"TestMoreAskedForThanThereIsGivesAllThereIs"}},
	{"unum-cloud/USearch#576", "ten points of recall lost by an unrelated option", []string{"TestRecallAgainstBruteForce"}},
	{"unum-cloud/USearch#776", "a crafted file is read out of bounds", []string{"TestNoDamageToAFileIsBelieved", "TestCraftedLinksAreRefused", "TestPromisesOfAHeaderAreNotAllocated", "FuzzLoad", "FuzzLoadGraph"}},
	{"unum-cloud/USearch#637", "searches wait for the disk", []string{"TestNothingReadsTheFileAfterLoad"}},
	{"coder/hnsw#10", "adding after deleting all", []string{"TestAnIndexEmptiedByDeletionsIsAsNew"}},
	{"coder/hnsw#13", "a layer points to what was deleted", []string{"TestDeletionsLeaveNoLayerPointingNowhere"}},
	{"coder/hnsw PR#17", "next to no recall, whatever ef", []string{"TestEfBuysRecall"}},
	{"weaviate/weaviate#1304, #4410, PR#11151", "no entry left to find", []string{"TestTheLastEntryIsDeletedBesideSearchesAndOtherDeletions"}},
	{"weaviate/weaviate PR#13031", "a dead entry stops the clean-up", []string{"TestCleaningUpAfterTheEntryDiedComesToAnEnd"}},
	{"weaviate/weaviate#5019", "phantom tombstones after a restart", []string{"TestARestartNeitherRevivesNorKills"}},
	{"weaviate/weaviate#1698, #1637, #8908", "a file cut short", []string{"TestAFileCutShortIsAnErrorAndNoCrash", "TestEveryDamagedByteOfAnIndexIsRefused"}},
	{"weaviate/weaviate#1868", "an index grows when it is read back", []string{"TestAFileReadAndWrittenStaysTheSame"}},
	{"pgvector/pgvector#244, #239", "the dead use up ef", []string{"TestTheDeadDoNotUseUpEf"}},
	{"pgvector/pgvector#480, PR#266, PR#282, plastic-labs/honcho#1048", "filters leave too little", []string{"TestFiltersLeaveAsManyResultsAsThereCanBe"}},
	{"pgvector/pgvector#923, milvus-io/milvus#51821, nmslib/hnswlib#74", "lengths make a graph unnavigable", []string{"TestLengthsOfVectorsChangeNothing"}},
	{"nmslib/hnswlib#581, weaviate/weaviate PR#8496, pgvector/pgvector PR#1023, qdrant/qdrant PR#9959, jelmerk/hnswlib#74", "the logarithm of zero", []string{"TestTheUnluckiestDrawIsALayer", "TestLevelsAreCappedAndDistributed"}},
	{"risingwavelabs/risingwave#23065", "a layer is skipped", []string{"TestEveryLayerOfASlotIsLinked"}},
	{"facebookresearch/faiss PR#5129, antgroup/vsag PR#1573", "the entry and its layer disagree", []string{"TestEntryAndLayersAgreeBesideParallelInsertions"}},
	{"nmslib/hnswlib#29, #205, yugabyte/yugabyte-db#32319", "a search beside an insertion crashes", []string{"TestSearchesBesideEveryKindOfWrite", "TestSearchBesideAppendLinkAndKill"}},
	{"nmslib/hnswlib#64, milvus-io/knowhere#405", "ef is shared", []string{"TestEfOfOneSearchDoesNotTouchThoseBesideIt"}},
	{"nmslib/hnswlib PR#487", "two vectors under one label", []string{"TestAnIdIsThereOnceHoweverOftenItIsReplaced", "TestIndexAgreesWithItsModel"}},
	{"nmslib/hnswlib#321", "fewer results are an error", []string{"TestMoreAskedForThanThereIsGivesAllThereIs"}},
	{"nmslib/hnswlib#673, PR#677, PR#370, nmslib/nmslib#184, microsoft/SPTAG#40", "sizes beyond 32 bits", []string{"TestAFileTooLongByAPowerOfTwoIsRefused", "TestArenasBeyondFourGigabytes", "TestCodesBeyondFourGigabytes", "TestLinksBeyondFourGigabytes", "TestSizesBeyondFourGigabytes"}},
	{"facebookresearch/faiss#1571, #1244", "padded ids; ef below k loses recall", []string{"TestNothingIsPadded", "TestEfBelowKIsAsGoodAsK"}},
	{"ruvnet/RuVector#930", "deleting the entry leaves a phantom", []string{"TestDeletingOneAfterTheOtherNeverLeavesAPhantom", "TestDeletingTheEntry"}},
	{"ruvnet/RuVector#430", "k is capped at ef", []string{"TestEfBelowKIsAsGoodAsK", "TestKAboveEfIsNotCapped"}},
	{"matrixorigin/matrixone#29082, vlasky/sqlite-vec#8, scylladb/scylladb PR#28609", "vectors without a direction", []string{"TestVectorsWithoutADirectionAreRefusedEverywhere", "TestVectorsOfAnyLengthHaveFiniteScores"}},
	{"antgroup/vsag#2294", "a row is counted before it is written", []string{"TestAScanBesideAppendsReadsOnlyWrittenRows"}},
	{"bobmatnyc/trusty-tools#5171, #5179", "other misses after each restart", []string{"TestMissesDoNotChangeWithARestart"}},
	{"nmslib/hnswlib#423, #242", "more k or ef, worse results", []string{"TestMoreEfOrMoreKNeverMeansWorseResults", "TestAnswersKeepTheirForm"}},
	{"golang/go#80828, #80829, #76969, #81209", "experimental vector code", []string{"TestKernelsUseNoExperiment"}},
}

func TestEveryReportHasItsTest(t *testing.T) {
	if len(caseRows) != 44 {
		t.Errorf("%d rows", len(caseRows))
	}
	there := map[string]bool{}
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				there[f.Name.Name] = true
			}
		}
	}
	seen := map[string]bool{}
	for _, row := range caseRows {
		if seen[row.reports] || row.reports == "" || row.about == "" || len(row.tests) == 0 {
			t.Errorf("row %q: twice, or incomplete", row.reports)
		}
		seen[row.reports] = true
		for _, name := range row.tests {
			if !there[name] {
				t.Errorf("%s: there is no %s", row.reports, name)
			}
		}
	}
}

// golang/go#80828, #80829, #76969, #81209: vector code written with an experimental package was miscompiled, spilled
// registers or was preempted at the wrong place. Kernels here are assembly with twins in plain Go: no file
// imports or depends on an experiment.
func TestKernelsUseNoExperiment(t *testing.T) {
	sources, assembly := 0, 0
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".s":
			assembly++
			return nil
		case ".go":
			sources++
		default:
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			p := strings.Trim(i.Path.Value, `"`)
			if p == "simd" || strings.HasPrefix(p, "simd/") || strings.HasPrefix(p, "internal/") || p == "C" {
				t.Errorf("%s imports %s", path, p)
			}
		}
		for _, group := range file.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:build") && strings.Contains(c.Text, "goexperiment") {
					t.Errorf("%s: %s", path, c.Text)
				}
			}
		}
		return nil
	})
	if err != nil || sources < 20 || assembly == 0 {
		t.Errorf("%d Go files, %d of assembly, %v", sources, assembly, err)
	}
}
