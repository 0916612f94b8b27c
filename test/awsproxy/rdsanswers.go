package awsproxy

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
)

// rdsAnswers are behaviours that RDS may have; its documentation does not say whether it does.
type rdsAnswers struct {
	filterLimit atomic.Int64
	tagless     atomic.Bool
	uncounted   atomic.Bool
}

// CountCopiedTags sets whether the tags that RDS copies to a final snapshot count as the request's, aws:RequestTag
// and aws:TagKeys. The User Guide says since 2024 that copying requires rds:AddTagsToResource, but not whether they
// count; they do unless it is called with false.
func (s *rdsService) CountCopiedTags(count bool) { s.answers.uncounted.Store(!count) }

// SetDatabaseFilterLimit makes RDS refuse a DescribeDBInstances of the operator whose filter has more than n values;
// 0 means no limit.
func (s *rdsService) SetDatabaseFilterLimit(n int) { s.answers.filterLimit.Store(int64(n)) }

// HideDatabaseTags makes RDS leave out the tags when it describes instances and snapshots to the operator, until it
// is called with false.
func (s *rdsService) HideDatabaseTags(hide bool) { s.answers.tagless.Store(hide) }

var tagListElement = regexp.MustCompile(`(?s)<TagList>.*?</TagList>|<TagList ?/>`)

// withoutTags removes the tags from a response, if HideDatabaseTags is on.
func (a *rdsAnswers) withoutTags(x *exchange, r *reply) {
	describes := x.call.Operation == "DescribeDBInstances" || x.call.Operation == "DescribeDBSnapshots"
	if a.tagless.Load() && describes && x.call.Actor == Operator {
		r.body = tagListElement.ReplaceAll(r.body, nil)
	}
}

// longFilter refuses a filter with too many values.
func (a *rdsAnswers) longFilter(x *exchange) *reply {
	limit, values := int(a.filterLimit.Load()), 0
	for key := range x.form {
		if strings.HasPrefix(key, "Filters.") && strings.Contains(key, ".Value") {
			values++
		}
	}
	if limit == 0 || values <= limit || x.call.Actor != Operator {
		return nil
	}
	return x.fail(http.StatusBadRequest, "InvalidParameterValue",
		fmt.Sprintf("The filter db-instance-id has %d values, and can have at most %d.", values, limit))
}

// UncountedTags reports whether the tags that RDS copies do not count as the request's; see CountCopiedTags.
func (s *rdsService) UncountedTags() bool { return s.answers.uncounted.Load() }
