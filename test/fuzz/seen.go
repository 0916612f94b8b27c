package fuzz

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// mostSeen and mostBytes limit the inputs of one target that are kept between two runs. Go adds to a fuzz target's
// corpus in each run and never removes anything; running the corpus should take only a second or two.
const (
	mostSeen  = 1000
	mostBytes = 4 << 20
)

// forget removes the oldest files of a folder until at most the given number of files and bytes is left. A missing
// folder counts as empty.
func forget(folder string, most int, bytes int64) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	files := make([]fs.FileInfo, 0, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		files = append(files, info)
	}
	slices.SortStableFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, f := range files {
		if bytes -= f.Size(); i < most && bytes >= 0 {
			continue
		}
		if err := os.Remove(filepath.Join(folder, f.Name())); err != nil {
			return err
		}
	}
	return nil
}
