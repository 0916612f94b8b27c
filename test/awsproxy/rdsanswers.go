package awsproxy

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
)

// rdsAnswers are ways in which RDS may answer, and does not say whether it does.
type rdsAnswers struct {
	filterLimit atomic.Int64
}

// SetDatabaseFilterLimit makes RDS refuse a DescribeDBInstances of the operator
// whose filter has more than n values; 0 means that it takes any number.
func (p *Proxy) SetDatabaseFilterLimit(n int) { p.databases.answers.filterLimit.Store(int64(n)) }

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
	return x.fail(http.StatusBadRequest, "InvalidParameterValue", fmt.Sprintf("The filter db-instance-id has %d values, and can have at most %d.", values, limit))
}
