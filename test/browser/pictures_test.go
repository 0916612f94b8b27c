//go:build browser

package browser

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// shot writes a screenshot of the whole page to the folder in SCREENSHOTS, if set.
func (x *tab) shot(name string) {
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	x.write(filepath.Join(dir, strings.ReplaceAll(x.t.Name(), "/", "-")+"-"+name+".png"),
		page.CaptureScreenshotFormatPng)
}

// forDocs writes a screenshot of a page to the folder in PICTURES, if set: make screenshots does that for
// docs/screens.md.
func (x *tab) forDocs(name string) {
	if dir := os.Getenv("PICTURES"); dir != "" {
		x.write(filepath.Join(dir, name+".webp"), page.CaptureScreenshotFormatWebp)
	}
}

func (x *tab) write(file string, format page.CaptureScreenshotFormat) {
	ctx, cancel := context.WithTimeout(x.ctx, 20*time.Second)
	defer cancel()
	quality, all := int64(80), true
	if format == page.CaptureScreenshotFormatPng {
		quality = 100
	}
	got, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: format, Quality: &quality, CaptureBeyondViewport: &all, FromSurface: &all,
	})
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, got.Data, 0o644))
	}
	if err != nil {
		x.t.Logf("no picture %s: %v", file, err)
	}
}
