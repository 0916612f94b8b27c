package main

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/portico-platform/portico/api/phase"
)

// table is text in columns. Colours are added after the widths have been computed.
type table struct {
	out    io.Writer
	head   []string
	rows   [][]string
	colour bool
	widths []int // minimum widths
	bare   bool  // without its head
}

func (a *app) table(head ...string) *table {
	return &table{out: a.out, head: head, colour: a.coloured()}
}

// coloured reports whether the output is a terminal and colours are wanted.
func (a *app) coloured() bool {
	return a.shows && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"
}

func (t *table) add(cells ...string) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = clean(c)
	}
	t.rows = append(t.rows, row)
}

const gap = 3

func (t *table) write() error {
	widths := make([]int, len(t.head))
	copy(widths, t.widths)
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	var b strings.Builder
	if !t.bare {
		t.line(&b, t.head, widths)
	}
	for _, row := range t.rows {
		t.line(&b, row, widths)
	}
	_, err := io.WriteString(t.out, b.String())
	return err
}

// section writes the table and an empty line; a table without rows is left out.
func (t *table) section() error {
	if len(t.rows) == 0 {
		return nil
	}
	if err := t.write(); err != nil {
		return err
	}
	_, err := io.WriteString(t.out, "\n")
	return err
}

func (t *table) line(b *strings.Builder, row []string, widths []int) {
	last := len(row) - 1
	for last > 0 && row[last] == "" {
		last--
	}
	for i, c := range row[:last+1] {
		b.WriteString(t.paint(c))
		if i < last {
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)+gap))
		}
	}
	b.WriteByte('\n')
}

// colours are the ANSI colours of the phases; the word says the same.
var colours = map[phase.Phase]string{
	phase.Ready: "32", phase.InProgress: "33", phase.NeedsYou: "31", phase.Deleting: "35", phase.Paused: "36",
}

func (t *table) paint(cell string) string {
	if code, ok := colours[phase.Phase(cell)]; ok && t.colour {
		return "\x1b[" + code + "m" + cell + "\x1b[0m"
	}
	return cell
}
