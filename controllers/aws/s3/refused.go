package s3

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// isKept reports whether this code means that S3 will continue to refuse the deletion.
func isKept(code string) bool {
	return slices.Contains([]string{"AccessDenied", "MethodNotAllowed", "InvalidRequest"}, code)
}

// deleteErrors returns the error for objects that S3 did not delete; nil if there are none. If somebody has to act on
// one of them, the error names that one.
func deleteErrors(errs []s3types.Error) error {
	if len(errs) == 0 {
		return nil
	}
	at := slices.IndexFunc(errs, func(e s3types.Error) bool { return isKept(aws.ToString(e.Code)) })
	if at < 0 {
		return engine.Wait(v1alpha1.ReasonEmptying, 10*time.Second, "%d objects could not be removed for now. The "+
			"first is %s. Portico tries again", len(errs), describe(errs[0]))
	}
	return engine.Blocked(v1alpha1.ReasonObjectsKept, "%d objects could not be removed. The first that S3 keeps is "+
		"%s. Look for Object Lock, a bucket policy, or a missing s3:DeleteObjectVersion permission",
		len(errs), describe(errs[at]))
}

// describe names the object, its version if it has one, and why S3 did not delete it.
func describe(e s3types.Error) string {
	text := quoted(aws.ToString(e.Key))
	if id := aws.ToString(e.VersionId); id != "" && id != "null" {
		text += ", version " + quoted(id)
	}
	text += ": " + aws.ToString(e.Code)
	if message := strings.TrimRight(aws.ToString(e.Message), ". "); message != "" {
		text += ": " + shortened(message)
	}
	return text
}

// most is the maximum number of characters of others' text in a message: keys have up to 1,024 bytes, of any kind.
const most = 200

// quoted returns the key in quotes, with an escape for each unprintable byte.
func quoted(key string) string {
	if text := shortened(key); text != key {
		return strconv.Quote(strings.TrimSuffix(text, "…")) + "…"
	}
	return strconv.Quote(key)
}

// shortened returns the text, or the beginning of it and an ellipsis.
func shortened(text string) string {
	n := 0
	for at := range text {
		if n++; n > most {
			return text[:at] + "…"
		}
	}
	return text
}
