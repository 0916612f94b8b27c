package pods

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// followEvery is how often a followed log is read.
const followEvery = 200 * time.Millisecond

// ServeLog serves a Pod's log, as a kubelet does, with the parameters tailLines and follow.
func (n *Node) ServeLog(w http.ResponseWriter, r *http.Request, uid types.UID) {
	n.mu.Lock()
	p := n.pods[uid]
	n.mu.Unlock()
	if p == nil {
		http.Error(w, "the Pod is not known here", http.StatusNotFound)
		return
	}
	file, err := os.Open(filepath.Clean(p.log()))
	if err != nil {
		http.Error(w, "the container has not been started", http.StatusBadRequest)
		return
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(file)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if lines, err := strconv.Atoi(r.URL.Query().Get("tailLines")); err == nil {
		content = tail(content, lines)
	}
	out := http.NewResponseController(w)
	_, err = w.Write(content)
	for err == nil && r.URL.Query().Get("follow") == "true" && r.Context().Err() == nil {
		_ = out.Flush()
		time.Sleep(followEvery)
		_, err = io.Copy(w, file)
	}
}

// tail returns the last n lines.
func tail(text []byte, n int) []byte {
	lines := bytes.SplitAfter(text, []byte{'\n'})
	if len(lines) > 0 && len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1] // the empty text after the last newline
	}
	return bytes.Join(lines[max(0, len(lines)-n):], nil)
}
