// Command train makes the tables that package offline embeds, out of the text
// of Debian packages. It fetches a package once with apt-get download and
// unpacks it with dpkg-deb, so it runs on Debian and its kin, needs no root, and
// installs nothing:
//
//	go run ./llm/offline/train sources    # fetches the packages, lists them
//	go run ./llm/offline/train lexicon    # the parts of speech of the extractor
//	go run ./llm/offline/train vectors    # makes the word vectors of the embedder
//
// Equal package versions give equal tables, byte for byte, on every platform
// and with any number of processors.
package main

import (
	"fmt"
	"os"
)

const usage = `usage: train COMMAND [flags]

  sources    fetch the packages that the tables are made from, and list them
  lexicon    write the part-of-speech lexicon out of WordNet
  vectors    make the word vectors of the embedder

Every command takes -h.`

// run does what args say and returns the error that the command ends with.
func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no command\n%s", usage)
	}
	switch name, rest := args[0], args[1:]; name {
	case "sources":
		return sources(rest)
	case "lexicon":
		return lexicon(rest)
	case "vectors":
		return vectors(rest)
	default:
		return fmt.Errorf("unknown command %q\n%s", name, usage)
	}
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}
