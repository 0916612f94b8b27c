package s3

import (
	"encoding/xml"
	"net/http"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// refuse refuses values that S3 refuses regardless of existing resources, and moto accepts. The rows of
// test/awslimits have the sources.
func refuse(x *wire.Exchange) *wire.Reply {
	switch x.Call.Operation {
	case "PutBucketTagging":
		return bucketTags(x)
	case "PutBucketLifecycleConfiguration":
		return transitions(x)
	case "PutBucketCors":
		return origins(x)
	}
	return nil
}

// transitions refuses a transition that comes too soon after one to STANDARD_IA or ONEZONE_IA.
func transitions(x *wire.Exchange) *wire.Reply {
	var c struct {
		Rules []struct {
			Current    []transition `xml:"Transition"`
			Noncurrent []transition `xml:"NoncurrentVersionTransition"`
		} `xml:"Rule"`
	}
	if xml.Unmarshal(x.Body, &c) != nil {
		return malformed(x)
	}
	for _, rule := range c.Rules {
		for _, moves := range [][]transition{rule.Current, rule.Noncurrent} {
			if next, soon := tooSoon(moves); soon {
				return invalidArgument(x, "'Days' in the Transition action for StorageClass '"+next.StorageClass+
					"' must be 30 days more than 'Days' of the Transition action before it")
			}
		}
	}
	return nil
}

type transition struct {
	Days         int
	Noncurrent   int `xml:"NoncurrentDays"`
	StorageClass string
}

// tooSoon returns a transition out of infrequent access within 30 days.
func tooSoon(moves []transition) (next transition, soon bool) {
	for _, first := range moves {
		for _, next := range moves {
			at, then := first.Days+first.Noncurrent, next.Days+next.Noncurrent
			if strings.HasSuffix(first.StorageClass, "_IA") && then > at && then < at+30 {
				return next, true
			}
		}
	}
	return next, false
}

// bucketTags refuses tags of a bucket that S3 does not accept.
func bucketTags(x *wire.Exchange) *wire.Reply {
	var sent struct {
		Tags []wire.Tag `xml:"TagSet>Tag"`
	}
	if xml.Unmarshal(x.Body, &sent) != nil {
		return malformed(x)
	}
	return checkTags(x, sent.Tags)
}

// origins refuses asterisks that S3 does not accept in a CORS configuration.
func origins(x *wire.Exchange) *wire.Reply {
	var c struct {
		Rules []struct {
			Origins []string `xml:"AllowedOrigin"`
			Headers []string `xml:"AllowedHeader"`
			Exposed []string `xml:"ExposeHeader"`
		} `xml:"CORSRule"`
	}
	if xml.Unmarshal(x.Body, &c) != nil {
		return malformed(x)
	}
	for _, rule := range c.Rules {
		for most, list := range [][]string{rule.Exposed, append(rule.Origins, rule.Headers...)} {
			for _, text := range list {
				if strings.Count(text, "*") > most {
					return x.Fail(http.StatusBadRequest, "InvalidRequest", text+" can not have more than "+
						strconv.Itoa(most)+" wildcard.")
				}
			}
		}
	}
	return nil
}
