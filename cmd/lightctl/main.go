// Command lightctl is the admin tool of the engine: it indexes documents into
// a store, questions it, and looks after it. `lightctl help` lists the verbs.
//
// Exit codes: 0 ok, 1 failure, 2 usage, 3 not found, 4 corrupt, 5 locked.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}
