package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Go adds to what a fuzz target begins with each time that it runs, and never takes anything away. These are the most
// inputs, and bytes, that are kept of one target between two runs: what it begins with takes a second or two.
const (
	mostSeen  = 1000
	mostBytes = 4 << 20
)

// forget removes the oldest files of a folder until so many and so many bytes are left. A folder that does not exist is
// empty.
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
