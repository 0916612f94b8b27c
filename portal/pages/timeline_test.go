package pages

import (
	"strings"
	"testing"
)

// TestWhatIsGoneFromAWSIsNotSaidToBeThere: an ARN in the status can be of a deleted resource.
func TestWhatIsGoneFromAWSIsNotSaidToBeThere(t *testing.T) {
	f := newFake(t, lostBucket, provider)
	page := visit(t, f, developer, "/teams/payments/s3buckets/lost").Body.String()
	lacks(t, page, "Gone from AWS", "arn:aws:s3:::lost was deleted outside Portico.")
	tree := visit(t, f, developer, "/teams/payments/s3buckets/lost?tab=objects").Body.String()
	lacks(t, tree, "Gone", "It was deleted outside Portico.")
	asks := visit(t, f, developer, "/teams/payments/s3buckets/lost/delete").Body.String()
	lacks(t, asks, "arn:aws:s3:::lost is gone from AWS already")
	for _, html := range []string{page, tree, asks} {
		for _, wrong := range []string{"Created in AWS", "There\n", ">There<", "Permanently deleted from AWS"} {
			if strings.Contains(html, wrong) {
				t.Errorf("it says %q", wrong)
			}
		}
	}
	observed := visit(t, newFake(t, strings.Replace(readyBucket, "deletionPolicy: Delete", "deletionPolicy: Delete, "+
		"managementPolicy: Observe", 1)), developer, atInvoices).Body.String()
	lacks(t, observed, "Portico only observes it")
}
