package sns

import (
	"context"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/aws/attributes"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/deleted"
)

// Deleted is how topics are found that were kept.
var Deleted = deleted.Kind{Types: []string{"sns"}, Describe: describeDeleted}

func describeDeleted(ctx context.Context, s *cloud.Session, found []deleted.Found) ([]operatorapi.Deleted, error) {
	return attributes.Deleted(ctx, s, found, attributes.Naming{List: Topics, Longest: longest, Name: "topicName", FIFO: "fifoTopic"})
}
