package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// byNameAlone matches comparisons of the name of a kind with a constant.
var byNameAlone = regexp.MustCompile(`\.Name (==|!=) ((\w+\.)?AppKind|(page|hostnames|v1alpha1)\.\w*Kind\w*|HostnameKind)\b`)

// TestKindsAreToldByGroupAndName checks that the portal and the command line compare the ID of a kind, and never its
// name alone: a kind of others can have the name of one of Portico's.
func TestKindsAreToldByGroupAndName(t *testing.T) {
	for _, folder := range []string{"portal", "cmd/portico"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, found := range byNameAlone.FindAllString(string(text), -1) {
				t.Errorf("%s compares %q: compare ID()", path, found)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if !byNameAlone.MatchString("k.Name == catalog.AppKind") {
		t.Error("no comparison is found any more")
	}
}
