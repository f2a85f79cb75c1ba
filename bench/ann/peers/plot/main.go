// Command plot draws the curves of a report, read from standard input as JSON, into an SVG, PNG or PDF file:
// recall across, queries per CPU second up on a logarithmic scale, a panel a data set, a line an index (its first
// seed).
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

type set struct {
	Data    string
	Index   string
	Version string
	Seeds   [][]struct {
		Recall, QPS float64
	}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: plot FILE < report.json")
	}
	var report struct{ Curves []set }
	if err := json.NewDecoder(os.Stdin).Decode(&report); err != nil {
		return err
	}
	var panels []*plot.Plot
	var names []string // of indexes, in the order of their colours
	for i, s := range report.Curves {
		if i == 0 || report.Curves[i-1].Data != s.Data {
			panels = append(panels, panel(s.Data))
		}
		if err := add(panels[len(panels)-1], s, number(&names, s.Index)); err != nil {
			return err
		}
	}
	if len(panels) == 0 {
		return errors.New("no curves")
	}
	return write(panels, os.Args[1])
}

func number(names *[]string, name string) int {
	for i, n := range *names {
		if n == name {
			return i
		}
	}
	*names = append(*names, name)
	return len(*names) - 1
}

func panel(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = "recall@10", "queries per CPU second"
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, decades{}
	p.Legend.Left = true
	p.Legend.TextStyle.Font.Size = font.Points(8)
	p.Add(plotter.NewGrid())
	return p
}

// lowest is the least recall that is drawn.
const lowest = 0.7

// decades puts ticks at 1, 2 and 5 times the powers of ten.
type decades struct{}

func (decades) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Floor(math.Log10(low)); e <= math.Log10(high); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= low && v <= high {
				ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)})
			}
		}
	}
	return ticks
}

var colours = []color.Color{
	color.RGBA{R: 0xd6, G: 0x27, B: 0x28, A: 0xff}, color.RGBA{R: 0xff, G: 0x7f, B: 0x0e, A: 0xff},
	color.RGBA{R: 0x8c, G: 0x56, B: 0x4b, A: 0xff}, color.RGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0xff},
	color.RGBA{R: 0x2c, G: 0xa0, B: 0x2c, A: 0xff}, color.RGBA{R: 0x94, G: 0x67, B: 0xbd, A: 0xff},
	color.RGBA{R: 0x17, G: 0xbe, B: 0xcf, A: 0xff}, color.RGBA{R: 0x7f, G: 0x7f, B: 0x7f, A: 0xff},
}

func add(p *plot.Plot, s set, n int) error {
	var points plotter.XYs
	for _, q := range s.Seeds[0] {
		if q.QPS > 0 && q.Recall >= lowest {
			points = append(points, plotter.XY{X: q.Recall, Y: q.QPS})
		}
	}
	if len(points) == 0 {
		p.Legend.Add(fmt.Sprintf("%s %s: recall below %v", s.Index, s.Version, lowest))
		return nil
	}
	line, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Color, dots.Color = colours[n%len(colours)], colours[n%len(colours)]
	line.Width, dots.Shape, dots.Radius = vg.Points(1.2), draw.CircleGlyph{}, vg.Points(2)
	p.Add(line, dots)
	p.Legend.Add(strings.TrimSpace(s.Index+" "+s.Version), line, dots)
	return nil
}

func write(panels []*plot.Plot, path string) error {
	const width, height = 16 * vg.Centimeter, 11 * vg.Centimeter
	columns := min(len(panels), 2)
	rows := (len(panels) + columns - 1) / columns
	format := strings.TrimPrefix(filepath.Ext(path), ".")
	c, err := draw.NewFormattedCanvas(width*vg.Length(columns), height*vg.Length(rows), format)
	if err != nil {
		return err
	}
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: vg.Centimeter / 2, PadY: vg.Centimeter / 2}
	for i, p := range panels {
		p.Draw(tiles.At(draw.New(c), i%columns, i/columns))
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := c.WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
