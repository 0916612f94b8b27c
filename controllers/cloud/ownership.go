package cloud

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

// The ownership tags. They are part of the call that creates a resource, so that none of our resources is ever without
// them.
const (
	tagPrefix  = "portico.dev/"
	TagCluster = tagPrefix + "cluster"
	TagKind    = tagPrefix + "kind"
	// TagNamespace names the namespace that can use a resource of the account.
	TagNamespace    = tagPrefix + "namespace"
	tagNamespaceUID = tagPrefix + "namespace-uid"
	TagName         = tagPrefix + "name"
	// TagUID is the UID of the object.
	TagUID = tagPrefix + "uid"
	// TagAdopt is set by somebody with access to AWS to offer a resource to <namespace>/<name>.
	TagAdopt = tagPrefix + "adopt"
	// TagBucketPrefix is a session tag only: see BucketPrefix.
	TagBucketPrefix = tagPrefix + "bucket-prefix"
)

// Identity identifies an object's resources in AWS.
type Identity struct {
	Cluster      string // the UID of kube-system, or the value of --cluster-id
	Kind         string
	NamespaceUID string
	// FormerNamespaceUIDs are the UIDs of the namespace in lost clusters, as declared by an admin: resources with one
	// of them are adopted.
	FormerNamespaceUIDs []string
}

// formerUIDs returns the former UIDs that an admin has declared for a namespace; nil if none.
func formerUIDs(ns metav1.Object) []string {
	return strings.FieldsFunc(ns.GetAnnotations()[v1alpha1.AnnotationFormerUID], func(r rune) bool {
		return r == ',' || r == ' '
	})
}

// isNamespace reports whether uid is that of obj's namespace, in this cluster or in a lost one.
func (id Identity) isNamespace(uid string) bool {
	return uid == id.NamespaceUID || slices.Contains(id.FormerNamespaceUIDs, uid)
}

// OwnershipTags returns obj's ownership tags.
func (id Identity) OwnershipTags(obj client.Object) map[string]string {
	return map[string]string{
		TagCluster:      id.Cluster,
		TagKind:         id.Kind,
		TagNamespace:    obj.GetNamespace(),
		tagNamespaceUID: id.NamespaceUID,
		TagName:         obj.GetName(),
		TagUID:          string(obj.GetUID()),
	}
}

// SearchTags returns the ownership tags that find obj's resources; for the namespace's UID all accepted values.
func (id Identity) SearchTags(obj client.Object) map[string][]string {
	all := map[string][]string{}
	for key, value := range id.OwnershipTags(obj) {
		all[key] = []string{value}
	}
	all[tagNamespaceUID] = append(all[tagNamespaceUID], id.FormerNamespaceUIDs...)
	return all
}

// NamespaceTags returns the ownership tags that find everything the namespace has in AWS, also from lost clusters.
func (id Identity) NamespaceTags() map[string][]string {
	return map[string][]string{
		TagCluster: {id.Cluster}, tagNamespaceUID: append([]string{id.NamespaceUID}, id.FormerNamespaceUIDs...),
	}
}

// Owner returns the owner according to tags. A namespace is identified by its UID: a new namespace of the same name
// inherits nothing. Resources with a UID from a lost cluster belong to an earlier object.
func (id Identity) Owner(obj client.Object, tags map[string]string) external.Owner {
	marks := id.OwnershipTags(obj)
	ours := tags[TagUID] == marks[TagUID] && tags[tagNamespaceUID] == id.NamespaceUID
	delete(marks, TagUID)
	if id.isNamespace(tags[tagNamespaceUID]) {
		marks[tagNamespaceUID] = tags[tagNamespaceUID]
	}
	for key, value := range marks {
		if tags[key] != value || value == "" {
			return id.notOurs(obj, tags)
		}
	}
	if ours {
		return external.Ours
	}
	return external.Earlier
}

// notOurs returns Offered for a resource that is offered to obj, else Foreign. To be adopted it must not carry another
// object's tags: its owner must release it first. To be observed it need only be shared with the namespace.
func (id Identity) notOurs(obj client.Object, tags map[string]string) external.Owner {
	looks, ok := obj.(external.Object)
	if isOffered(obj, tags) || (ok && external.ObserveOnly(looks) && id.SharedWith(obj, tags)) {
		return external.Offered
	}
	return external.Foreign
}

func isOffered(obj client.Object, tags map[string]string) bool {
	return tags[TagUID] == "" && tags[TagCluster] == "" && tags[TagAdopt] == obj.GetNamespace()+"/"+obj.GetName()
}

// SharedWith reports whether somebody with access to AWS lets obj's namespace use a resource with these tags that is
// not obj's own: the tags name the namespace, or offer it to obj. Tags of the cluster and of the namespace's UID, which
// Portico's resources and their copies carry, must match if they are present: those of another cluster or UID are no
// consent.
func (id Identity) SharedWith(obj client.Object, tags map[string]string) bool {
	if cluster, marked := tags[TagCluster]; marked && cluster != id.Cluster {
		return false
	}
	if uid, marked := tags[tagNamespaceUID]; marked && !id.isNamespace(uid) {
		return false
	}
	return tags[TagNamespace] == obj.GetNamespace() || isOffered(obj, tags)
}

// LongestBucketName is S3's limit for a bucket name, in characters.
const LongestBucketName = 63

// prefixDigits is the number of hexadecimal digits of a hash in a bucket prefix: 64 bits, so that somebody who can
// choose a namespace's name cannot find one with the prefix of another.
const prefixDigits = 16

// BucketPrefix returns the prefix of the bucket names that Portico generates for a namespace; a hyphen follows. IAM
// policies rely on it: IAM's * matches hyphens, so the namespace's name alone would let pay access the buckets of
// pay-roll. It begins with 0, so that policies for chosen names can distinguish it from a namespace's name, and is the
// same in a cluster that replaces a lost one.
func BucketPrefix(cluster, namespace string) string {
	sum := sha256.Sum256([]byte(cluster + "/" + namespace))
	return "0" + hex.EncodeToString(sum[:])[:prefixDigits]
}

// GeneratedBucketName returns the generated bucket name of obj: <prefix>-<namespace>-<name>-<hash>, at most limit
// characters. The prefix is never shortened, and comes first: anywhere else it could be part of another namespace's
// name.
func (id Identity) GeneratedBucketName(obj metav1.Object, limit int) string {
	prefix := BucketPrefix(id.Cluster, obj.GetNamespace()) + "-"
	return prefix + id.GeneratedName(obj, limit-len(prefix))
}

// GeneratedName returns the generated AWS name of obj: <namespace>-<name>-<hash>, of lower-case letters, digits and
// hyphens, at most limit characters. The hash keeps names distinct after shortening, and between clusters.
func (id Identity) GeneratedName(obj metav1.Object, limit int) string {
	sum := sha256.Sum256([]byte(id.Cluster + "/" + obj.GetNamespace() + "/" + obj.GetName()))
	hash := hex.EncodeToString(sum[:4])
	name := strings.ReplaceAll(obj.GetNamespace()+"-"+obj.GetName(), ".", "-")
	if most := limit - len(hash) - 1; len(name) > most {
		name = strings.TrimRight(name[:most], "-")
	}
	return name + "-" + hash
}
