package s3

import (
	"context"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// bucketList is the result of ListBuckets.
type bucketList struct {
	XMLName           xml.Name `xml:"ListAllMyBucketsResult"`
	Namespace         string   `xml:"xmlns,attr,omitempty"`
	Owner             struct{ DisplayName, ID string }
	Buckets           []listedBucket `xml:"Buckets>Bucket"`
	Prefix            string         `xml:",omitempty"`
	ContinuationToken string         `xml:",omitempty"`
}

type listedBucket struct {
	Name         string
	CreationDate string
	BucketRegion string `xml:",omitempty"`
}

// maxBuckets is the maximum page size of ListBuckets.
const maxBuckets = 10_000

// list serves ListBuckets in pages, sorted by name: moto truncates without a token.
func (s *Service) list(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	size, after, refusal := pageOfBuckets(x)
	if refusal != nil {
		return refusal, nil
	}
	rest := x.Query
	rest.Del("max-buckets")
	rest.Del("continuation-token")
	x.RawQuery = rest.Encode()
	r, err := next(ctx)
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	list, err := parseBuckets(r)
	if err != nil {
		return nil, err
	}
	list.Buckets = slices.DeleteFunc(list.Buckets, func(b listedBucket) bool { return s.young(x, b.Name) })
	slices.SortFunc(list.Buckets, func(a, b listedBucket) int { return strings.Compare(a.Name, b.Name) })
	list.Buckets = slices.DeleteFunc(list.Buckets, func(b listedBucket) bool { return b.Name <= after })
	if len(list.Buckets) > size {
		list.Buckets = list.Buckets[:size]
		list.ContinuationToken = base64.StdEncoding.EncodeToString([]byte(list.Buckets[size-1].Name))
	}
	list.Prefix = x.Query.Get("prefix")
	if region := x.Query.Get("bucket-region"); region != "" {
		for i := range list.Buckets {
			list.Buckets[i].BucketRegion = region
		}
	}
	list.XMLName, list.Namespace = xml.Name{Local: "ListAllMyBucketsResult"}, namespace
	body, err := xml.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("write the list of buckets: %w", err)
	}
	r.Body = append([]byte(xml.Header), body...)
	return r, nil
}

// pageOfBuckets reads the requested number of buckets, and the name that they come after.
func pageOfBuckets(x *wire.Exchange) (size int, after string, refusal *wire.Reply) {
	size = maxBuckets
	if v := x.Query.Get("max-buckets"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > maxBuckets {
			return 0, "", x.Fail(http.StatusBadRequest, "InvalidArgument", "Argument max-buckets must be an integer "+
				"between 1 and 10000")
		}
		size = n
	}
	token, err := base64.StdEncoding.DecodeString(x.Query.Get("continuation-token"))
	if err != nil {
		return 0, "", x.Fail(http.StatusBadRequest, "InvalidArgument", "The continuation token provided is incorrect")
	}
	return size, string(token), nil
}

func parseBuckets(r *wire.Reply) (bucketList, error) {
	var list bucketList
	if err := xml.Unmarshal(r.Body, &list); err != nil {
		return list, fmt.Errorf("read the list of buckets (%d): %w", r.Status, err)
	}
	return list, nil
}
