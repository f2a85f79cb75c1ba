package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// app is one run of the program: where it reads and writes, and its global
// flags.
type app struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	log      *slog.Logger

	db          string
	json        bool
	quiet       bool
	verbose     int
	concurrency int
	promptDir   string
	endpoints   endpoints
}

// run executes one command line and returns the exit code. It touches nothing
// of the process but what it is given, and the files that args name.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer, env func(string) string) int {
	a := &app{in: in, out: out, env: env}
	a.err = &scrubber{w: errOut, secrets: a.secrets()}
	root := a.rootCommand()
	root.SetArgs(append([]string{}, args...)) // nil would mean those of the process
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	return a.fail(err, a.json || wantsJSON(args))
}

// wantsJSON finds --json on a command line that could not be parsed.
func wantsJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

const longHelp = `lightctl turns documents into a knowledge graph and answers questions from it.

With no endpoint configured everything runs offline: no key, no network, rules in
place of a language model and extractive answers. Endpoints speak the OpenAI API;
keys come from the environment only: OPENAI_API_KEY, LIGHTRAG_EMBED_API_KEY,
LIGHTRAG_RERANK_API_KEY.

Exit codes: 0 ok, 1 failure, 2 usage, 3 not found, 4 corrupt, 5 locked.`

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "lightctl",
		Short:         "Index documents into a knowledge graph and question it",
		Long:          longHelp,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.prepare(cmd) },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%s; see %s --help", flagText(err), cmd.CommandPath())
	})
	f := root.PersistentFlags()
	f.StringVar(&a.db, "db", "./lightrag.db", "directory of the store (or LIGHTRAG_DB)")
	f.BoolVar(&a.json, "json", false, "one JSON document on standard output, nothing else")
	f.BoolVar(&a.quiet, "quiet", false, "no notes on standard error, errors only")
	f.CountVarP(&a.verbose, "verbose", "v", "log to standard error; twice for storage events")
	f.IntVar(&a.concurrency, "concurrency", 4, "model calls in flight")
	f.StringVar(&a.promptDir, "prompts", "", "`DIR` of one's own prompts; see lightctl prompts")
	a.endpoints.register(f)
	root.AddCommand(
		a.demoCommand(), a.indexCommand(), a.queryCommand(), a.docsCommand(), a.entityCommand(), a.relationCommand(),
		a.graphCommand(), a.importCommand(), a.statsCommand(), a.checkCommand(), a.evalCommand(), a.cacheCommand(), a.promptsCommand(),
		a.rebuildCommand(), a.compactCommand(), a.backupCommand(), a.versionCommand(),
	)
	return root
}

// prepare completes the global flags once they are parsed.
func (a *app) prepare(cmd *cobra.Command) error {
	if env := a.env("LIGHTRAG_DB"); env != "" && !cmd.Flags().Changed("db") {
		a.db = env
	}
	if strings.TrimSpace(a.db) == "" {
		return usagef("--db is empty")
	}
	if a.concurrency < 1 {
		return usagef("--concurrency must be at least 1, not %d", a.concurrency)
	}
	_, a.endpoints.named = cmd.Annotations[namesEmbedder]
	if err := a.endpoints.check(); err != nil {
		return err
	}
	level := slog.LevelWarn
	switch {
	case a.quiet:
		level = slog.LevelError
	case a.verbose == 1:
		level = slog.LevelInfo
	case a.verbose > 1:
		level = slog.LevelDebug
	}
	a.log = slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
	return nil
}

// group returns a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return usagef("%s needs a verb; see %s --help", cmd.CommandPath(), cmd.CommandPath())
		},
	}
	c.AddCommand(commands...)
	return c
}

// flagText is what is wrong with a flag, without the names of Go functions.
func flagText(err error) string {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	what := "a value of another kind"
	switch f := bad.GetFlag(); f.Value.Type() {
	case "int", "count":
		what = "a whole number"
	case "float32", "float64":
		what = "a number"
	case "bool":
		what = "true or false"
	}
	return fmt.Sprintf("--%s takes %s, not %q", bad.GetFlag().Name, what, bad.GetValue())
}

func unknownCommand(cmd *cobra.Command, name string) error {
	hint := ""
	cmd.SuggestionsMinimumDistance = 2
	if s := cmd.SuggestionsFor(name); len(s) > 0 {
		hint = fmt.Sprintf(" (did you mean %s?)", strings.Join(s, ", "))
	}
	return usagef("%s has no verb %q%s; see %s --help", cmd.CommandPath(), name, hint, cmd.CommandPath())
}

// arguments makes a wrong number of arguments a usage error that shows how the
// command is called. most below 0 = any number.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("usage: %s", cmd.UseLine())
		case most == 0 && len(args) > 0:
			return usagef("%q is too much; usage: %s", args[0], cmd.UseLine())
		case most > 0 && len(args) > most:
			return usagef("%q is too much: words that belong together stand in quotes; usage: %s", args[most], cmd.UseLine())
		}
		return nil
	}
}

// note writes one line for the person at the terminal.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.err, "lightctl: "+printable(fmt.Sprintf(format, args...)))
	}
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	if s, ok := w.(*scrubber); ok {
		w = s.w
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
