package rds

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// answers are behaviours that RDS may have; its documentation does not say whether it does.
type answers struct {
	filterLimit atomic.Int64
	tagless     atomic.Bool
	uncounted   atomic.Bool
}

// CountCopiedTags sets whether the tags that RDS copies to a final snapshot count as the request's, aws:RequestTag
// and aws:TagKeys. The User Guide says since 2024 that copying requires rds:AddTagsToResource, but not whether they
// count; they do unless it is called with false.
func (s *Service) CountCopiedTags(count bool) { s.answers.uncounted.Store(!count) }

// SetDatabaseFilterLimit makes RDS refuse a DescribeDBInstances of the operator whose filter has more than n values;
// 0 means no limit.
func (s *Service) SetDatabaseFilterLimit(n int) { s.answers.filterLimit.Store(int64(n)) }

// HideDatabaseTags makes RDS leave out the tags when it describes instances and snapshots to the operator, until it
// is called with false.
func (s *Service) HideDatabaseTags(hide bool) { s.answers.tagless.Store(hide) }

var tagListElement = regexp.MustCompile(`(?s)<TagList>.*?</TagList>|<TagList ?/>`)

// withoutTags removes the tags from a response, if HideDatabaseTags is on.
func (a *answers) withoutTags(x *wire.Exchange, r *wire.Reply) {
	describes := x.Call.Operation == "DescribeDBInstances" || x.Call.Operation == "DescribeDBSnapshots"
	if a.tagless.Load() && describes && x.Call.Actor == wire.Operator {
		r.Body = tagListElement.ReplaceAll(r.Body, nil)
	}
}

// longFilter refuses a filter with too many values.
func (a *answers) longFilter(x *wire.Exchange) *wire.Reply {
	limit, values := int(a.filterLimit.Load()), 0
	for key := range x.Form {
		if strings.HasPrefix(key, "Filters.") && strings.Contains(key, ".Value") {
			values++
		}
	}
	if limit == 0 || values <= limit || x.Call.Actor != wire.Operator {
		return nil
	}
	return x.Fail(http.StatusBadRequest, "InvalidParameterValue",
		fmt.Sprintf("The filter db-instance-id has %d values, and can have at most %d.", values, limit))
}

// UncountedTags reports whether the tags that RDS copies do not count as the request's; see CountCopiedTags.
func (s *Service) UncountedTags() bool { return s.answers.uncounted.Load() }
