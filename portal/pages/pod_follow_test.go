package pages

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portico-platform/portico/portal/pages/page"
)

// TestEventsOfAPodAreLookedForAgain: a volume that cannot be mounted changes only the events.
func TestEventsOfAPodAreLookedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := shopSite(t)
		ctx, cancel := context.WithCancel(t.Context())
		w, done := httptest.NewRecorder(), make(chan struct{})
		go func() {
			defer close(done)
			site(f, developer, noon).ServeHTTP(
				w, httptest.NewRequestWithContext(ctx, http.MethodGet, atPod+"/live", nil))
		}()
		synctest.Wait()
		f.mu.Lock()
		f.podEvents = append(f.podEvents,
			event("shop-7f8-b", "FailedMount", "Warning", "secret shop-settings not found", 0))
		f.mu.Unlock()
		time.Sleep(page.AtRest + time.Second)
		synctest.Wait()
		if got := w.Body.String(); !strings.Contains(got, "Secret shop-settings not found.") {
			t.Errorf("half a minute later the page shows\n%s", got)
		}
		cancel()
		<-done
	})
}
