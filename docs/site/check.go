package site

import (
	"fmt"
	"io/fs"
	"path"
)

// Broken lists the links of the Markdown files of a tree, from its root, that lead nowhere: to no file, or to no
// heading of it. Links to other sites are not followed.
func Broken(tree fs.FS, files []string) ([]string, error) {
	read := map[string]document{}
	open := func(file string) (document, error) {
		d, ok := read[file]
		if !ok {
			source, err := fs.ReadFile(tree, file)
			if err != nil {
				return d, fmt.Errorf("reading a page: %w", err)
			}
			d = parse(source)
			read[file] = d
		}
		return d, nil
	}
	var broken []string
	for _, file := range files {
		d, err := open(file)
		if err != nil {
			return nil, err
		}
		d.links(func(to string) string {
			if why := wrong(tree, file, to, open); why != "" {
				broken = append(broken, fmt.Sprintf("%s: %s: %s", file, to, why))
			}
			return to
		})
	}
	return broken, nil
}

// wrong says what is wrong with a link, "" if nothing is.
func wrong(tree fs.FS, file, to string, open func(string) (document, error)) string {
	l := leads(file, to)
	if l.elsewhere {
		return ""
	}
	if l.file == "" {
		l.file = file
	}
	if _, err := fs.Stat(tree, l.file); err != nil {
		return "there is no such file"
	}
	if l.anchor == "" || path.Ext(l.file) != ".md" {
		return ""
	}
	if d, err := open(l.file); err != nil || !d.anchors[l.anchor] {
		return "there is no such heading"
	}
	return ""
}

// Files lists the Markdown files of the tree that people read: the documentation, and the pages beside it.
func Files(tree fs.FS) ([]string, error) {
	below, err := fs.Sub(tree, "docs")
	if err != nil {
		return nil, fmt.Errorf("looking for documentation: %w", err)
	}
	files, err := markdown(below)
	if err != nil {
		return nil, err
	}
	for i := range files {
		files[i] = path.Join("docs", files[i])
	}
	for _, pattern := range []string{"*.md", "charts/*/*.md", "test/*/*.md"} {
		more, err := fs.Glob(tree, pattern)
		if err != nil {
			return nil, fmt.Errorf("looking for documentation: %w", err)
		}
		files = append(files, more...)
	}
	return files, nil
}
