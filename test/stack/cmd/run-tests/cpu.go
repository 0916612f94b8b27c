package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// ticks is how many units of CPU time in /proc make a second (USER_HZ).
const ticks = 100

// usedBy returns the CPU seconds that a process and its descendants have used, those that have ended included. It
// returns 0 where there is no /proc.
func usedBy(pid int) float64 {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	used, children := map[int]float64{}, map[int][]int{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			continue // it has ended
		}
		id, parent, seconds := parseStat(text)
		used[id] = seconds
		children[parent] = append(children[parent], id)
	}
	var total func(pid int) float64
	total = func(pid int) float64 {
		sum := used[pid]
		for _, child := range children[pid] {
			sum += total(child)
		}
		return sum
	}
	return total(pid)
}

// parseStat returns a process's ID, that of its parent, and the CPU seconds of the process and of its children that
// have ended; see proc_pid_stat(5).
func parseStat(text []byte) (id, parent int, seconds float64) {
	_, _ = fmt.Sscanf(string(text), "%d", &id)
	// The name of the program is in parentheses, and may have blanks.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const parentField, userField, cutimeField = 1, 11, 14
	if len(fields) <= cutimeField {
		return id, 0, 0
	}
	parent, _ = strconv.Atoi(string(fields[parentField]))
	for _, field := range fields[userField : cutimeField+1] {
		n, _ := strconv.ParseFloat(string(field), 64)
		seconds += n / ticks
	}
	return id, parent, seconds
}
