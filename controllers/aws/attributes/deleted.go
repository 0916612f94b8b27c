package attributes

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/deleted"
)

// Naming describes how resources of a kind are named.
type Naming struct {
	// List lists the ARNs of all resources of the kind.
	List    func(context.Context, *cloud.Session) ([]string, error)
	Longest int
	// Name and FIFO are the names of the spec's fields for the name, and for the order of messages.
	Name, FIFO string
}

// Deleted returns how to find kept resources of the kind. resourceType is their type in the tagging API.
func Deleted(resourceType string, n Naming) deleted.Kind {
	return deleted.Kind{Types: []string{resourceType}, Describe: n.describe}
}

func (n Naming) describe(ctx context.Context, s *cloud.Session, found []deleted.Found) (
	all []operatorapi.Deleted, err error,
) {
	listed, err := n.List(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, f := range deleted.There(found, listed) {
		name := f.LastPart(":")
		item := f.Item(name)
		fifo := strings.HasSuffix(name, FIFOSuffix)
		if fifo {
			item.Fields[n.FIFO] = "true"
		}
		if name != GeneratedName(s, &metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Name}, n.Longest, fifo) {
			item.Fields[n.Name] = name
		}
		all = append(all, item)
	}
	return all, nil
}

// Maximum lengths of names in SQS and SNS, in characters.
const (
	LongestQueueName = 80
	LongestTopicName = 256
)

// GeneratedName returns the name that Portico generates for an object's resource, of at most limit characters.
func GeneratedName(s *cloud.Session, obj metav1.Object, limit int, fifo bool) string {
	if fifo {
		return s.Identity.GeneratedName(obj, limit-len(FIFOSuffix)) + FIFOSuffix
	}
	return s.Identity.GeneratedName(obj, limit)
}
