package awsproxy

import (
	"context"
	"encoding/xml"
	"fmt"
	"time"
)

// stsService notes when the keys that AssumeRole makes expire: moto forgets.
type stsService struct{ keys *keyring }

func (s stsService) around(ctx context.Context, _ *exchange, next forward) (*reply, error) {
	r, err := next(ctx)
	if err != nil || r.status != 200 {
		return r, err
	}
	var made struct {
		Results []struct {
			Credentials struct {
				AccessKeyID string    `xml:"AccessKeyId"`
				Expiration  time.Time `xml:"Expiration"`
			} `xml:"Credentials"`
		} `xml:",any"`
	}
	if err := xml.Unmarshal(r.body, &made); err != nil {
		return nil, fmt.Errorf("read the simulator's credentials: %w", err)
	}
	for _, result := range made.Results {
		if c := result.Credentials; c.AccessKeyID != "" && !c.Expiration.IsZero() {
			s.keys.issued(c.AccessKeyID, c.Expiration)
		}
	}
	return r, nil
}
