package engine

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// helperEnv makes the test binary run as one of the helper processes below.
const helperEnv = "LIGHTRAG_ENGINE_TEST_HELPER"

var helpers = map[string]func(args []string) error{
	"insert": helpInsert,
	"open":   helpOpen,
	"import": helpImport,
}

// TestMain checks that no test left a goroutine behind. Those of a closed
// store need a moment to end, so it looks repeatedly.
func TestMain(m *testing.M) {
	if name := os.Getenv(helperEnv); name != "" {
		if err := helpers[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if code == 0 {
		deadline := time.Now().Add(10 * time.Second)
		err := goleak.Find()
		for err != nil && time.Now().Before(deadline) {
			err = goleak.Find()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}
