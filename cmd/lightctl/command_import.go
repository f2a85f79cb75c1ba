package main

import "github.com/spf13/cobra"

func (a *app) importCommand() *cobra.Command {
	return group("import", "Make a store of what was exported", a.importJSONLCommand())
}
