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

// The ownership tags. They go into the call that creates a resource, so that no resource of ours is ever without.
const (
	tagPrefix  = "portico.dev/"
	TagCluster = tagPrefix + "cluster"
	TagKind    = tagPrefix + "kind"
	// TagNamespace names the namespace that may use a resource of the account.
	TagNamespace    = tagPrefix + "namespace"
	tagNamespaceUID = tagPrefix + "namespace-uid"
	TagName         = tagPrefix + "name"
	// TagUID is the UID of the object.
	TagUID = tagPrefix + "uid"
	// TagAdopt is set by somebody with access to AWS to offer a resource to <namespace>/<name>.
	TagAdopt = tagPrefix + "adopt"
	// TagBucketPrefix is on sessions only: see BucketPrefix.
	TagBucketPrefix = tagPrefix + "bucket-prefix"
)

// Identity is what makes an object's resources recognisable in AWS.
type Identity struct {
	Cluster      string // the UID of kube-system, or what --cluster-id says
	Kind         string
	NamespaceUID string
	// FormerNamespaceUIDs are those of the namespace in clusters that are lost, as an admin has said: what carries one
	// of them is taken back.
	FormerNamespaceUIDs []string
}

// formerUIDs reads what an admin has said that a namespace was; nil if nothing.
func formerUIDs(ns metav1.Object) []string {
	return strings.FieldsFunc(ns.GetAnnotations()[v1alpha1.AnnotationFormerUID], func(r rune) bool { return r == ',' || r == ' ' })
}

// isNamespace reports whether a mark is of obj's namespace, in this cluster or in one that is lost.
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

// SearchTags returns the values of the ownership tags by which what is obj's is found: of the namespace's UID, all that
// count.
func (id Identity) SearchTags(obj client.Object) map[string][]string {
	all := map[string][]string{}
	for key, value := range id.OwnershipTags(obj) {
		all[key] = []string{value}
	}
	all[tagNamespaceUID] = append(all[tagNamespaceUID], id.FormerNamespaceUIDs...)
	return all
}

// NamespaceTags returns the values of the ownership tags by which all that the namespace has in AWS is found, and what
// it had in clusters that are lost.
func (id Identity) NamespaceTags() map[string][]string {
	return map[string][]string{TagCluster: {id.Cluster}, tagNamespaceUID: append([]string{id.NamespaceUID}, id.FormerNamespaceUIDs...)}
}

// Owner reads ownership off tags. A namespace counts by its UID: a name that was given to another team inherits
// nothing. What carries a UID that the namespace had in a lost cluster is of an earlier life.
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

// notOurs returns Offered for a resource that is offered to obj, else Foreign. To be taken over it must not carry
// another object's marks: whoever has it must let go of it first. To be looked at it need only be shared with the
// namespace.
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

// SharedWith reports whether somebody with access to AWS lets obj's namespace use what carries these tags and is not
// obj's own: it names the namespace, or is offered to obj. Marks of the cluster and of the namespace's UID, which are
// on all that Portico made and on copies of it, count where they are: those of another life are no consent.
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

// prefixDigits is how many hexadecimal digits of a hash a bucket prefix has: 64 bits, so that nobody who may choose the
// name of a namespace finds one with another's prefix.
const prefixDigits = 16

// BucketPrefix returns what the names of a namespace's buckets begin with, if Portico picks them, and a hyphen follows.
// Policies go by it: IAM's * crosses hyphens, so that the namespace's name alone would let pay act on the buckets of
// pay-roll. It begins with 0, for the policy of chosen names to tell it from the name of a namespace, and is the same
// in a cluster that takes the place of a lost one.
func BucketPrefix(cluster, namespace string) string {
	sum := sha256.Sum256([]byte(cluster + "/" + namespace))
	return "0" + hex.EncodeToString(sum[:])[:prefixDigits]
}

// GeneratedBucketName returns the name of obj's bucket, if it leaves the choice to us:
// <prefix>-<namespace>-<name>-<hash>, at most limit long. The prefix is always whole, and stands first: nowhere else
// could it not be part of another namespace's name.
func (id Identity) GeneratedBucketName(obj metav1.Object, limit int) string {
	prefix := BucketPrefix(id.Cluster, obj.GetNamespace()) + "-"
	return prefix + id.GeneratedName(obj, limit-len(prefix))
}

// GeneratedName returns the AWS name of an object that leaves the choice to us: <namespace>-<name>-<hash>, of
// lower-case letters, digits and hyphens, at most limit long. The hash keeps apart what shortening, or another cluster,
// would make equal.
func (id Identity) GeneratedName(obj metav1.Object, limit int) string {
	sum := sha256.Sum256([]byte(id.Cluster + "/" + obj.GetNamespace() + "/" + obj.GetName()))
	hash := hex.EncodeToString(sum[:4])
	name := strings.ReplaceAll(obj.GetNamespace()+"-"+obj.GetName(), ".", "-")
	if most := limit - len(hash) - 1; len(name) > most {
		name = strings.TrimRight(name[:most], "-")
	}
	return name + "-" + hash
}
