package rds

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
	"github.com/aws/smithy-go"
)

// fleet has every instance that is requested, and accepts a limited number in a filter.
type fleet struct {
	api
	most    int
	message string
	asked   []int // in each call
}

func (f *fleet) DescribeDBInstances(_ context.Context, in *rds.DescribeDBInstancesInput, _ ...opt) (
	*rds.DescribeDBInstancesOutput, error,
) {
	ids := in.Filters[0].Values
	f.asked = append(f.asked, len(ids))
	if len(ids) > f.most {
		return nil, &smithy.GenericAPIError{Code: "InvalidParameterValue", Message: f.message}
	}
	out := &rds.DescribeDBInstancesOutput{}
	for _, id := range ids {
		out.DBInstances = append(out.DBInstances, rdstypes.DBInstance{DBInstanceIdentifier: aws.String(id)})
	}
	return out, nil
}

// AWS does not document how many identifiers a filter may have.
func TestAFilterThatTakesFewIsLearntOnce(t *testing.T) {
	ids := make([]string, 100)
	for n := range ids {
		ids[n] = fmt.Sprintf("db-%d", n)
	}
	for message, row := range map[string]struct {
		most          int
		first, second []int // identifiers in each call
	}{
		"The filter db-instance-id takes no more than 40 values": {40, []int{100, 50, 25, 25, 25, 25}, []int{25, 25, 25, 25}},
		"Too many filter values":                                 {100, []int{100}, []int{100}},
		"The parameter MaxRecords is wrong":                      {0, []int{100}, []int{100}},
	} {
		f := &fleet{most: row.most, message: message}
		s := newService(f, 0)
		for _, want := range [][]int{row.first, row.second} {
			f.asked = nil
			found, err := s.readMany(t.Context(), ids)
			if !slices.Equal(f.asked, want) {
				t.Errorf("%s: calls for %v, want %v", message, f.asked, want)
			}
			if ok := row.most > 0; (err == nil) != ok || ok && len(found) != len(ids) {
				t.Errorf("%s: %d found, %v, want all %d: %v", message, len(found), err, len(ids), ok)
			}
		}
	}
	f := &fleet{message: "The filter db-instance-id is not for you"}
	if _, err := newService(f, 0).readMany(t.Context(), ids[:2]); paused(err) != "InvalidSpec!" ||
		!slices.Equal(f.asked, []int{2, 1}) {
		t.Errorf("a filter that is never taken: %v after calls for %v", err, f.asked)
	}
}
