package operator

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/portico-platform/portico/api/operatorapi"
)

// Deleted is what remains in AWS of the deleted objects of a namespace.
type Deleted struct {
	Known bool // else the operator does not answer, or lists nothing
	operatorapi.DeletedList
}

// Deleted returns what remains in AWS of the deleted objects of a namespace, with the same time limit as Of. The caller
// must have checked which kinds can be listed.
func (c *Client) Deleted(ctx context.Context, namespace string) Deleted {
	deleted, _ := c.tell(ctx, question{path: operatorapi.NamespaceDeletedPath(namespace)}, readDeleted).(Deleted)
	return deleted
}

func readDeleted(body []byte) (any, error) {
	if body == nil {
		return Deleted{}, nil
	}
	out := Deleted{Known: true}
	if err := json.Unmarshal(body, &out.DeletedList); err != nil {
		return nil, fmt.Errorf("read the operator's answer: %w", err)
	}
	return out, nil
}
