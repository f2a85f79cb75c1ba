package main

import "github.com/spf13/cobra"

func (a *app) importCommand() *cobra.Command {
	return group("import", "Take over a graph from elsewhere",
		a.importJSONLCommand(), a.importLightRAGCommand(), a.importKGCommand())
}
