package lighthouse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/campaign"
)

// categories are the categories that Lighthouse scores, with the minimum score of a page; 0 means no minimum.
var categories = []struct {
	id, title string
	least     float64
}{
	{"performance", "performance", 0.95}, {"accessibility", "accessibility", 1}, {"best-practices", "best practices", 1}, {"seo", "search engines", 0},
}

// lighthouse runs Lighthouse with the browser that listens on port.
type lighthouse struct {
	program string
	port    int
	reports string
}

// result is a page's scores on one kind of device.
type result struct {
	page, device string
	scores       map[string]float64 // by category; -1 means no score
	failed       []string           // failed audits that count towards a score
	unweighted   []string           // failed audits that do not count, such as the back/forward cache
}

// report has the fields of Lighthouse's report that are used here.
type report struct {
	RuntimeError *struct{ Code, Message string }
	Categories   map[string]struct {
		Score     *float64
		AuditRefs []struct {
			ID     string
			Weight float64
		}
	}
	Audits map[string]struct {
		Score            *float64
		ScoreDisplayMode string
		DisplayValue     string
	}
}

// page runs Lighthouse on a page.
func (l lighthouse) page(ctx context.Context, name, device, url string) (result, error) {
	path := filepath.Join(l.reports, name+"-"+device)
	args := []string{
		l.program, url, "--port=" + strconv.Itoa(l.port), "--quiet", "--disable-storage-reset",
		"--no-enable-error-reporting",
		"--output=json", "--output=html", "--output-path=" + path,
	}
	if device == desktop {
		args = append(args, "--preset=desktop")
	}
	if said, err := exec.CommandContext(ctx, "node", args...).CombinedOutput(); err != nil {
		return result{}, fmt.Errorf("lighthouse of %s: %w\n%s", url, err, said)
	}
	text, err := os.ReadFile(path + ".report.json")
	if err != nil {
		return result{}, err
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return result{}, fmt.Errorf("%s.report.json: %w", path, err)
	}
	if r.RuntimeError != nil && r.RuntimeError.Code != "" {
		return result{}, fmt.Errorf("lighthouse of %s: %s: %s", url, r.RuntimeError.Code, r.RuntimeError.Message)
	}
	return r.read(name, device), nil
}

// read returns the report's scores and failed audits.
func (r report) read(name, device string) result {
	out := result{page: name, device: device, scores: map[string]float64{}}
	for _, c := range categories {
		of := r.Categories[c.id]
		out.scores[c.id] = -1
		if of.Score != nil {
			out.scores[c.id] = *of.Score
		}
		for _, ref := range of.AuditRefs {
			a := r.Audits[ref.ID]
			if a.Score == nil || *a.Score >= 0.9 || a.ScoreDisplayMode == "informative" {
				continue
			}
			says := strings.TrimSpace(ref.ID + " " + a.DisplayValue)
			if ref.Weight > 0 {
				out.failed = append(out.failed, says)
			} else {
				out.unweighted = append(out.unweighted, says)
			}
		}
	}
	slices.Sort(out.unweighted)
	return out
}

// tableOf returns the scores of each page.
func tableOf(all []result) *campaign.Results {
	t := &campaign.Results{Title: "Lighthouse's scores", Head: []string{"page", "device"}}
	for _, c := range categories {
		t.Head = append(t.Head, c.title)
	}
	t.Head = append(t.Head, "not passed")
	for _, r := range all {
		cells := []string{r.page, r.device}
		for _, c := range categories {
			cells = append(cells, fmt.Sprintf("%.2f", r.scores[c.id]))
		}
		t.Row(append(cells, strings.Join(slices.Concat(r.failed, r.unweighted), ", "))...)
	}
	return t
}

// verdict returns an error for pages that miss a minimum.
func verdict(all []result) error {
	var missed []error
	for _, r := range all {
		for _, c := range categories {
			if r.scores[c.id] < c.least {
				missed = append(missed, fmt.Errorf("%s on %s: %s is %.2f, and is to be %.2f: %s", r.page, r.device,
					c.title, r.scores[c.id], c.least, strings.Join(r.failed, ", ")))
			}
		}
	}
	return errors.Join(missed...)
}
