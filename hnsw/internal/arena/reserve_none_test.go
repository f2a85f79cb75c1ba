//go:build !(linux || darwin) || race

package arena

const alwaysMoves = true
