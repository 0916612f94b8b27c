package docs

import (
	"regexp"
	"strings"
)

// Block is a unit of commands: a block of sh, a line after a prompt, or a command within a sentence.
type Block struct {
	Line     int
	Headings []string // the headings above it, outermost first
	Commands []string
	Shows    []string // the output on the page; nil if it shows none

	typed bool
}

// file is a block of YAML whose first line is a comment with its name.
type file struct{ name, text string }

var (
	fence = regexp.MustCompile("^( *(?:[0-9]+\\. +|- +)?)```([a-z]*)$")
	title = regexp.MustCompile(`^(#{2,}) +(.*)$`)
	named = regexp.MustCompile(`^# ([a-z./-]+\.yaml)\n`)
)

// reading is the state while a page is read.
type reading struct {
	inline   *regexp.Regexp // matches commands within sentences; nil to ignore them
	headings []string
	blocks   []*Block
	files    []file
}

// read parses a page.
func read(text, programs string) *reading {
	r := &reading{}
	if programs != "" {
		r.inline = regexp.MustCompile("`((?:" + programs + ")\\s[^`]+)`")
	}
	var part []string
	begin, indent, language, fenced := 1, 0, "", false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		m := fence.FindStringSubmatch(line)
		switch {
		case fenced && strings.TrimSpace(line) == "```":
			r.fenced(language, strings.Join(part, "\n")+"\n", begin)
			fenced, part, begin = false, nil, i+2
		case fenced:
			part = append(part, line[min(indent, len(line)-len(strings.TrimLeft(line, " "))):])
		case m != nil:
			r.sentences(part, begin)
			indent, language, fenced = len(m[1]), m[2], true
			part, begin = nil, i+2
		default:
			part = append(part, line)
		}
	}
	r.sentences(part, begin)
	return r
}

func (r *reading) add(line int, commands, shows []string) {
	r.blocks = append(r.blocks, &Block{Line: line, Headings: r.headings, Commands: commands, Shows: shows})
}

func (r *reading) fenced(language, text string, begin int) {
	switch language {
	case "sh":
		r.add(begin, commands(text), nil)
	case "console":
		r.prompts(text, begin)
	case "yaml":
		if m := named.FindStringSubmatch(text); m != nil {
			r.files = append(r.files, file{m[1], text})
		}
	}
}

func (r *reading) prompts(text string, begin int) {
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			r.add(begin+i, []string{command}, nil)
			continue
		}
		last := r.blocks[len(r.blocks)-1]
		last.Shows = append(last.Shows, line)
	}
}

// sentences finds the commands in the text between two blocks. A command can continue on the next line.
func (r *reading) sentences(lines []string, begin int) {
	var paragraph strings.Builder
	at := begin
	flush := func() {
		if r.inline != nil {
			for _, m := range r.inline.FindAllStringSubmatch(paragraph.String(), -1) {
				r.add(at, []string{strings.Join(strings.Fields(m[1]), " ")}, nil)
			}
		}
		paragraph.Reset()
	}
	for i, line := range lines {
		if m := title.FindStringSubmatch(line); m != nil {
			flush()
			level := min(len(m[1])-2, len(r.headings))
			r.headings = append(r.headings[:level:level], m[2])
		}
		if paragraph.Len() == 0 {
			at = begin + i
		}
		paragraph.WriteString(line + "\n")
	}
	flush()
}

var (
	continued = regexp.MustCompile(`(\\|\||&&)$`)
	heredoc   = regexp.MustCompile(`<<'?([A-Z]+)'?`)
)

// commands splits a script into commands, each with all of its lines.
func commands(script string) (all []string) {
	var command, end string
	for line := range strings.Lines(script) {
		text := strings.TrimSpace(line)
		if command == "" && (text == "" || text[0] == '#') {
			continue
		}
		command += line
		switch m := heredoc.FindStringSubmatch(line); {
		case end != "" && text != end:
			continue
		case end == "" && m != nil:
			end = m[1]
			continue
		case end == "" && continued.MatchString(text):
			continue
		}
		all = append(all, strings.TrimSuffix(command, "\n"))
		command, end = "", ""
	}
	if command != "" { // incomplete: the shell reports that
		all = append(all, command)
	}
	return all
}
