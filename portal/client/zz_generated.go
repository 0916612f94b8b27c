// Code generated from the OpenAPI document by portal/client/generate. DO NOT EDIT.

package client

import (
	"context"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Kinds are all that the API serves.
var Kinds = []Kind{
	{Name: "AWSProvider", Plural: "awsproviders", Namespaced: false, ReadOnly: false},
	{Name: "S3Bucket", Plural: "s3buckets", Namespaced: true, ReadOnly: false},
	{Name: "CatalogEntry", Plural: "catalogentries", Namespaced: false, ReadOnly: false},
	{Name: "DomainClaim", Plural: "domainclaims", Namespaced: false, ReadOnly: true},
	{Name: "RDSInstance", Plural: "rdsinstances", Namespaced: true, ReadOnly: false},
	{Name: "DatabaseUser", Plural: "databaseusers", Namespaced: true, ReadOnly: false},
	{Name: "DeployPolicy", Plural: "deploypolicies", Namespaced: false, ReadOnly: false},
	{Name: "PoolGateway", Plural: "poolgateways", Namespaced: true, ReadOnly: true},
	{Name: "GatewayHostnameRequest", Plural: "gatewayhostnamerequests", Namespaced: true, ReadOnly: false},
	{Name: "HostnameGrant", Plural: "hostnamegrants", Namespaced: true, ReadOnly: true},
	{Name: "SQSQueue", Plural: "sqsqueues", Namespaced: true, ReadOnly: false},
	{Name: "AccessBinding", Plural: "accessbindings", Namespaced: true, ReadOnly: false},
	{Name: "Team", Plural: "teams", Namespaced: false, ReadOnly: false},
	{Name: "SNSTopic", Plural: "snstopics", Namespaced: true, ReadOnly: false},
	{Name: "EC2Instance", Plural: "ec2instances", Namespaced: true, ReadOnly: false},
	{Name: "WebApp", Plural: "webapps", Namespaced: true, ReadOnly: false},
}

// AWSProviders are all of them: they belong to no namespace.
func (c *Client) AWSProviders() Objects[v1alpha1.AWSProvider] {
	return Objects[v1alpha1.AWSProvider]{client: c, base: "/awsproviders"}
}

// S3Buckets are those of a namespace.
func (c *Client) S3Buckets(namespace string) Objects[v1alpha1.S3Bucket] {
	return Objects[v1alpha1.S3Bucket]{client: c, base: "/namespaces/" + url.PathEscape(namespace) + "/s3buckets"}
}

// CatalogEntrys are all of them: they belong to no namespace.
func (c *Client) CatalogEntrys() Objects[v1alpha1.CatalogEntry] {
	return Objects[v1alpha1.CatalogEntry]{client: c, base: "/catalogentries"}
}

// DomainClaims are all of them: they belong to no namespace.
func (c *Client) DomainClaims() Objects[v1alpha1.DomainClaim] {
	return Objects[v1alpha1.DomainClaim]{client: c, base: "/domainclaims"}
}

// RDSInstances are those of a namespace.
func (c *Client) RDSInstances(namespace string) Objects[v1alpha1.RDSInstance] {
	return Objects[v1alpha1.RDSInstance]{client: c, base: "/namespaces/" + url.PathEscape(namespace) + "/rdsinstances"}
}

// DatabaseUsers are those of a namespace.
func (c *Client) DatabaseUsers(namespace string) Objects[v1alpha1.DatabaseUser] {
	return Objects[v1alpha1.DatabaseUser]{client: c, base: "/namespaces/" + url.PathEscape(namespace) + "/databaseusers"}
}

// DeployPolicys are all of them: they belong to no namespace.
func (c *Client) DeployPolicys() Objects[v1alpha1.DeployPolicy] {
	return Objects[v1alpha1.DeployPolicy]{client: c, base: "/deploypolicies"}
}

// PoolGateways are those of a namespace.
func (c *Client) PoolGateways(namespace string) Objects[v1alpha1.PoolGateway] {
	return Objects[v1alpha1.PoolGateway]{client: c, base: "/namespaces/" + url.PathEscape(namespace) + "/poolgateways"}
}

// GatewayHostnameRequests are those of a namespace.
func (c *Client) GatewayHostnameRequests(namespace string) Objects[v1alpha1.GatewayHostnameRequest] {
	return Objects[v1alpha1.GatewayHostnameRequest]{client: c, base: "/namespaces/" + url.PathEscape(namespace) + "/gatewayhostnamerequests"}
}

// HostnameGrants are those of a namespace.
func (c *Client) HostnameGrants(namespace string) Objects[v1alpha1.HostnameGrant] {
	return Objects[v1alpha1.HostnameGrant]{client: c, base: "/namespaces/" + url.PathEscape(namespace) + "/hostnamegrants"}
}

// SQSQueues are those of a namespace.
func (c *Client) SQSQueues(namespace string) Objects[v1alpha1.SQSQueue] {
	return Objects[v1alpha1.SQSQueue]{client: c, base: "/namespaces/" + url.PathEscape(namespace) + "/sqsqueues"}
}

// AccessBindings are those of a namespace.
func (c *Client) AccessBindings(namespace string) Objects[v1alpha1.AccessBinding] {
	return Objects[v1alpha1.AccessBinding]{client: c, base: "/namespaces/" + url.PathEscape(namespace) + "/accessbindings"}
}

// Teams are all of them: they belong to no namespace.
func (c *Client) Teams() Objects[v1alpha1.Team] {
	return Objects[v1alpha1.Team]{client: c, base: "/teams"}
}

// SNSTopics are those of a namespace.
func (c *Client) SNSTopics(namespace string) Objects[v1alpha1.SNSTopic] {
	return Objects[v1alpha1.SNSTopic]{client: c, base: "/namespaces/" + url.PathEscape(namespace) + "/snstopics"}
}

// EC2Instances are those of a namespace.
func (c *Client) EC2Instances(namespace string) Objects[v1alpha1.EC2Instance] {
	return Objects[v1alpha1.EC2Instance]{client: c, base: "/namespaces/" + url.PathEscape(namespace) + "/ec2instances"}
}

// WebApps are those of a namespace.
func (c *Client) WebApps(namespace string) Objects[v1alpha1.WebApp] {
	return Objects[v1alpha1.WebApp]{client: c, base: "/namespaces/" + url.PathEscape(namespace) + "/webapps"}
}

// Checks: Get what the operator's checks found of one object.
func (o Objects[T]) Checks(ctx context.Context, name string) (*Checks, error) {
	r := o.client.request("GET", o.base+"/"+url.PathEscape(name)+"/checks")
	return do[Checks](ctx, r)
}

// CreateOptions are the parameters of Create; what is left zero is not sent.
type CreateOptions struct {
	DryRun string // All: check, admit and default, but change nothing.
}

func (o CreateOptions) fill(r *request) {
	addQuery(r, "dryRun", o.DryRun)
}

// Create: Request a new object.
func (o Objects[T]) Create(ctx context.Context, body *T, opts CreateOptions) (*Result[T], error) {
	r := o.client.request("POST", o.base)
	opts.fill(r)
	if err := r.send("application/json", body); err != nil {
		return nil, err
	}
	return doObject[T](ctx, r)
}

// DeleteOptions are the parameters of Delete; what is left zero is not sent.
type DeleteOptions struct {
	IfMatch string // ETag of the version that was read, or * for any version.
	DryRun  string // All: check, admit and default, but change nothing.
	Confirm string // The object's name, which confirms the deletion where that is asked for: see the user guide.
}

func (o DeleteOptions) fill(r *request) {
	addHeader(r, "If-Match", o.IfMatch)
	addQuery(r, "dryRun", o.DryRun)
	addQuery(r, "confirm", o.Confirm)
}

// Delete: Delete one object.
func (o Objects[T]) Delete(ctx context.Context, name string, opts DeleteOptions) (*Result[T], error) {
	r := o.client.request("DELETE", o.base+"/"+url.PathEscape(name))
	opts.fill(r)
	return doObject[T](ctx, r)
}

// Events: List the events about one object, newest first.
func (o Objects[T]) Events(ctx context.Context, name string) (*Events, error) {
	r := o.client.request("GET", o.base+"/"+url.PathEscape(name)+"/events")
	return do[Events](ctx, r)
}

// GetOptions are the parameters of Get; what is left zero is not sent.
type GetOptions struct {
	CacheControl string // no-cache: the object as Kubernetes has it now. Without it the answer may be some moments old, even after a write of one's own.
}

func (o GetOptions) fill(r *request) {
	addHeader(r, "Cache-Control", o.CacheControl)
}

// Get: Get one object.
func (o Objects[T]) Get(ctx context.Context, name string, opts GetOptions) (*Result[T], error) {
	r := o.client.request("GET", o.base+"/"+url.PathEscape(name))
	opts.fill(r)
	return doObject[T](ctx, r)
}

// History: List the last versions of one object, newest first.
func (o Objects[T]) History(ctx context.Context, name string) (*History, error) {
	r := o.client.request("GET", o.base+"/"+url.PathEscape(name)+"/history")
	return do[History](ctx, r)
}

// ListOptions are the parameters of List; what is left zero is not sent.
type ListOptions struct {
	LabelSelector string // Only objects whose labels match, in the syntax of Kubernetes: team=search,!trial.
	Status        string // Only objects that are doing so. ready: all is done. in-progress: Portico is at work. needs-you: it failed, and is tried again. paused: Portico leaves it alone. deleting: it goes away.
	Q             string // Only objects with all these words in name, kind, endpoint, provider or requester, or in the namespace where the list is of all, in capital letters or small ones.
	Sort          string // By what to sort: age is the youngest first, status what needs you first; - in front turns it round. Equals are sorted by name, namespace and kind.
	Limit         int64  // How many objects at most.
	Cursor        string // next of the page before, asked for with the same filters and sort; empty for the first page.
}

func (o ListOptions) fill(r *request) {
	addQuery(r, "labelSelector", o.LabelSelector)
	addQuery(r, "status", o.Status)
	addQuery(r, "q", o.Q)
	addQuery(r, "sort", o.Sort)
	addQuery(r, "limit", o.Limit)
	addQuery(r, "cursor", o.Cursor)
}

// List: List objects of kind object.
func (o Objects[T]) List(ctx context.Context, opts ListOptions) (*Page[T], error) {
	r := o.client.request("GET", o.base)
	opts.fill(r)
	return do[Page[T]](ctx, r)
}

// LogsOptions are the parameters of Logs; what is left zero is not sent.
type LogsOptions struct {
	Pod        string // Name of one of its Pods; left out, the newest.
	Container  string // Container of the Pod.
	Tail       int64  // How many of the last lines.
	Previous   bool   // Of the run before the last restart.
	Timestamps bool   // With the time in front of each line.
}

func (o LogsOptions) fill(r *request) {
	addQuery(r, "pod", o.Pod)
	addQuery(r, "container", o.Container)
	addQuery(r, "tail", o.Tail)
	addQuery(r, "previous", o.Previous)
	addQuery(r, "timestamps", o.Timestamps)
}

// Logs: Read the log of a Pod of one object.
func (o Objects[T]) Logs(ctx context.Context, name string, opts LogsOptions) (string, error) {
	r := o.client.request("GET", o.base+"/"+url.PathEscape(name)+"/logs")
	opts.fill(r)
	return doText(ctx, r)
}

// PatchOptions are the parameters of Patch; what is left zero is not sent.
type PatchOptions struct {
	IfMatch string // ETag of the version that was read, or * for any version.
	DryRun  string // All: check, admit and default, but change nothing.
}

func (o PatchOptions) fill(r *request) {
	addHeader(r, "If-Match", o.IfMatch)
	addQuery(r, "dryRun", o.DryRun)
}

// Patch: Change parts of one object.
func (o Objects[T]) Patch(ctx context.Context, name string, body any, opts PatchOptions) (*Result[T], error) {
	r := o.client.request("PATCH", o.base+"/"+url.PathEscape(name))
	opts.fill(r)
	if err := r.send("application/merge-patch+json", body); err != nil {
		return nil, err
	}
	return doObject[T](ctx, r)
}

// PutOptions are the parameters of Put; what is left zero is not sent.
type PutOptions struct {
	IfMatch     string // ETag of the version that was read, or * for any version.
	IfNoneMatch string // *: create the object, and only if there is none of its name.
	DryRun      string // All: check, admit and default, but change nothing.
}

func (o PutOptions) fill(r *request) {
	addHeader(r, "If-Match", o.IfMatch)
	addHeader(r, "If-None-Match", o.IfNoneMatch)
	addQuery(r, "dryRun", o.DryRun)
}

// Put: Create or replace one object.
func (o Objects[T]) Put(ctx context.Context, name string, body *T, opts PutOptions) (*Result[T], error) {
	r := o.client.request("PUT", o.base+"/"+url.PathEscape(name))
	opts.fill(r)
	if err := r.send("application/json", body); err != nil {
		return nil, err
	}
	return doObject[T](ctx, r)
}

// RevealOptions are the parameters of Reveal; what is left zero is not sent.
type RevealOptions struct {
	Master bool // Of a database: show the master password, and not that of a user of the caller's own. It is for owners.
}

func (o RevealOptions) fill(r *request) {
	addQuery(r, "master", o.Master)
}

// Reveal: Show the password in the connection details of one object.
func (o Objects[T]) Reveal(ctx context.Context, name string, opts RevealOptions) (*Password, error) {
	r := o.client.request("POST", o.base+"/"+url.PathEscape(name)+"/reveal")
	opts.fill(r)
	return do[Password](ctx, r)
}

// ListActivityOptions are the parameters of ListActivity; what is left zero is not sent.
type ListActivityOptions struct {
	Namespace string // Only of this namespace.
	Limit     int64  // How many at most.
}

func (o ListActivityOptions) fill(r *request) {
	addQuery(r, "namespace", o.Namespace)
	addQuery(r, "limit", o.Limit)
}

// ListActivity: List what was done lately through the portal, newest first.
func (c *Client) ListActivity(ctx context.Context, opts ListActivityOptions) (*Activity, error) {
	r := c.request("GET", "/activity")
	opts.fill(r)
	return do[Activity](ctx, r)
}

// ListCatalogOptions are the parameters of ListCatalog; what is left zero is not sent.
type ListCatalogOptions struct {
	Namespace string // Also say what the caller can do with each kind in this namespace, and what requests there begin with.
}

func (o ListCatalogOptions) fill(r *request) {
	addQuery(r, "namespace", o.Namespace)
}

// ListCatalog: List the kinds that can be requested.
func (c *Client) ListCatalog(ctx context.Context, opts ListCatalogOptions) (*Catalog, error) {
	r := c.request("GET", "/catalog")
	opts.fill(r)
	return do[Catalog](ctx, r)
}

// ListKindsOptions are the parameters of ListKinds; what is left zero is not sent.
type ListKindsOptions struct {
	IfNoneMatch string // ETag of an earlier answer: while it holds, the answer is 304 without a body.
}

func (o ListKindsOptions) fill(r *request) {
	addHeader(r, "If-None-Match", o.IfNoneMatch)
}

// ListKinds: List the definitions of all kinds, for clients that are made of them.
func (c *Client) ListKinds(ctx context.Context, opts ListKindsOptions) (*Definitions, error) {
	r := c.request("GET", "/kinds")
	opts.fill(r)
	return do[Definitions](ctx, r)
}

// GetKind: Get the definition of one kind, with its schema.
func (c *Client) GetKind(ctx context.Context, kind string) (*KindDefinition, error) {
	r := c.request("GET", "/kinds/"+url.PathEscape(kind))
	return do[KindDefinition](ctx, r)
}

// GetLogin: Say how command-line tools sign in.
func (c *Client) GetLogin(ctx context.Context) (*Login, error) {
	r := c.request("GET", "/login")
	return do[Login](ctx, r)
}

// GetMeOptions are the parameters of GetMe; what is left zero is not sent.
type GetMeOptions struct {
	Namespace string // Also say what the caller can do in this namespace.
}

func (o GetMeOptions) fill(r *request) {
	addQuery(r, "namespace", o.Namespace)
}

// GetMe: Say who the caller is.
func (c *Client) GetMe(ctx context.Context, opts GetMeOptions) (*Me, error) {
	r := c.request("GET", "/me")
	opts.fill(r)
	return do[Me](ctx, r)
}

// ListNamespaces: List the namespaces (teams) in which the caller can list something.
func (c *Client) ListNamespaces(ctx context.Context) (*Namespaces, error) {
	r := c.request("GET", "/namespaces")
	return do[Namespaces](ctx, r)
}

// ListDeleted: List what AWS still has of deleted resources, with how to get it back.
func (c *Client) ListDeleted(ctx context.Context, namespace string) (*Deleted, error) {
	r := c.request("GET", "/namespaces/"+url.PathEscape(namespace)+"/deleted")
	return do[Deleted](ctx, r)
}

// CheckHostnameOptions are the parameters of CheckHostname; what is left zero is not sent.
type CheckHostnameOptions struct {
	Hostname    string // Such as shop.example.com, or *.shop.example.com.
	Visibility  string // For whom.
	Environment string // What the hostname is for.
	Zone        string // ID of the hosted zone; left out, it is not judged.
}

func (o CheckHostnameOptions) fill(r *request) {
	addQuery(r, "hostname", o.Hostname)
	addQuery(r, "visibility", o.Visibility)
	addQuery(r, "environment", o.Environment)
	addQuery(r, "zone", o.Zone)
}

// CheckHostname: Tell whether the namespace could have a hostname.
func (c *Client) CheckHostname(ctx context.Context, namespace string, opts CheckHostnameOptions) (*HostnameAnswer, error) {
	r := c.request("GET", "/namespaces/"+url.PathEscape(namespace)+"/hostnames/check")
	opts.fill(r)
	return do[HostnameAnswer](ctx, r)
}

// ListSecrets: List the Secrets whose values people set, without values.
func (c *Client) ListSecrets(ctx context.Context, namespace string) (*SecretList, error) {
	r := c.request("GET", "/namespaces/"+url.PathEscape(namespace)+"/secrets")
	return do[SecretList](ctx, r)
}

// DeleteSecretOptions are the parameters of DeleteSecret; what is left zero is not sent.
type DeleteSecretOptions struct {
	Confirm string // The name, which confirms the deletion of a Secret that is in use.
}

func (o DeleteSecretOptions) fill(r *request) {
	addQuery(r, "confirm", o.Confirm)
}

// DeleteSecret: Delete a Secret whose values people set.
func (c *Client) DeleteSecret(ctx context.Context, namespace string, name string, opts DeleteSecretOptions) (*SecretValues, error) {
	r := c.request("DELETE", "/namespaces/"+url.PathEscape(namespace)+"/secrets/"+url.PathEscape(name))
	opts.fill(r)
	return do[SecretValues](ctx, r)
}

// SetSecret: Set and remove values of a Secret.
func (c *Client) SetSecret(ctx context.Context, namespace string, name string, body any) (*SecretValues, error) {
	r := c.request("PATCH", "/namespaces/"+url.PathEscape(namespace)+"/secrets/"+url.PathEscape(name))
	if err := r.send("application/merge-patch+json", body); err != nil {
		return nil, err
	}
	return do[SecretValues](ctx, r)
}

// ListResourcesOptions are the parameters of ListResources; what is left zero is not sent.
type ListResourcesOptions struct {
	LabelSelector string // Only objects whose labels match, in the syntax of Kubernetes: team=search,!trial.
	Status        string // Only objects that are doing so. ready: all is done. in-progress: Portico is at work. needs-you: it failed, and is tried again. paused: Portico leaves it alone. deleting: it goes away.
	Q             string // Only objects with all these words in name, kind, endpoint, provider or requester, or in the namespace where the list is of all, in capital letters or small ones.
	Sort          string // By what to sort: age is the youngest first, status what needs you first; - in front turns it round. Equals are sorted by name, namespace and kind.
	Limit         int64  // How many objects at most.
	Cursor        string // next of the page before, asked for with the same filters and sort; empty for the first page.
	Namespace     string // Only of this namespace.
	Kind          string // Only of this kind, by its plural name, e.g. s3buckets.
}

func (o ListResourcesOptions) fill(r *request) {
	addQuery(r, "labelSelector", o.LabelSelector)
	addQuery(r, "status", o.Status)
	addQuery(r, "q", o.Q)
	addQuery(r, "sort", o.Sort)
	addQuery(r, "limit", o.Limit)
	addQuery(r, "cursor", o.Cursor)
	addQuery(r, "namespace", o.Namespace)
	addQuery(r, "kind", o.Kind)
}

// ListResources: List objects of all kinds that the caller can list.
func (c *Client) ListResources(ctx context.Context, opts ListResourcesOptions) (*Page[unstructured.Unstructured], error) {
	r := c.request("GET", "/resources")
	opts.fill(r)
	return do[Page[unstructured.Unstructured]](ctx, r)
}

// EndSessionsOptions are the parameters of EndSessions; what is left zero is not sent.
type EndSessionsOptions struct {
	User   string // Whose: the username that GET /me tells them, such as oidc:jo@example.com. The prefix may be left out; user: in front says that it is not a group of that name.
	DryRun string // All: check, admit and default, but change nothing.
}

func (o EndSessionsOptions) fill(r *request) {
	addQuery(r, "user", o.User)
	addQuery(r, "dryRun", o.DryRun)
}

// EndSessions: End all sessions of a user.
func (c *Client) EndSessions(ctx context.Context, opts EndSessionsOptions) (*EndedSessions, error) {
	r := c.request("DELETE", "/sessions")
	opts.fill(r)
	return do[EndedSessions](ctx, r)
}

// ActivityItem is as in the document.
type ActivityItem struct {
	Actor     string    `json:"actor"`               // Who did it, as Kubernetes RBAC knows the user.
	ActorName string    `json:"actorName,omitempty"` // What the identity provider calls the user.
	Count     int64     `json:"count"`               // How often it happened.
	Kind      string    `json:"kind"`                // Kind of the object that it was done to.
	Message   string    `json:"message"`             // The same as a sentence, with the names of changed fields and without their values.
	Name      string    `json:"name"`
	Namespace string    `json:"namespace,omitempty"`
	Reason    string    `json:"reason"` // What was done, in a word, e.g. Created, Changed, Deleted, Restarted or LogsRead.
	Time      time.Time `json:"time"`   // When it happened last.
}

// Activity is as in the document.
type Activity struct {
	Items []ActivityItem `json:"items"`
}

// CatalogDefaults is as in the document.
type CatalogDefaults struct {
	DeletionPolicy string `json:"deletionPolicy,omitempty"` // What happens to AWS resources when their objects are deleted. A body that leaves it out gets the default of its kind.
	Provider       string `json:"provider,omitempty"`       // AWSProvider of what names none: the one that the team prefers, which the cluster sets for everybody, or the only one that the namespace can use, which clients fill in.
}

// CatalogItem is as in the document.
type CatalogItem struct {
	CanCreate  *bool    `json:"canCreate,omitempty"` // Whether the caller can create one in the namespace asked for.
	Help       string   `json:"help"`
	Kind       string   `json:"kind"`
	May        []string `json:"may,omitempty"`        // What the caller can do with the kind in the namespace asked for: get, list, create, update, patch, delete.
	Resource   string   `json:"resource"`             // Plural name, as in URLs.
	ShortNames []string `json:"shortNames,omitempty"` // As kubectl takes them.
	Title      string   `json:"title"`
}

// Catalog is as in the document.
type Catalog struct {
	Defaults  *CatalogDefaults  `json:"defaults,omitempty"` // What forms and the command line begin with in the namespace asked for; for those who can create something there.
	Items     []CatalogItem     `json:"items"`
	Providers []CatalogProvider `json:"providers,omitempty"` // AWS accounts that requests in the namespace asked for can name in providerRef; for those who can create something there.
}

// CatalogProvider is as in the document.
type CatalogProvider struct {
	AccountID string `json:"accountID,omitempty"`
	Name      string `json:"name"`
	Ready     bool   `json:"ready"`
	Region    string `json:"region,omitempty"`
}

// Checks is as in the document.
type Checks struct {
	Failures    int64             `json:"failures,omitempty"`    // How many of the last ones failed, one after the other.
	LastChecked *time.Time        `json:"lastChecked,omitempty"` // When the last check ended.
	LastPlan    *Plan             `json:"lastPlan,omitempty"`    // The last that a check found to do; absent if none did since the operator started.
	Live        map[string]string `json:"live,omitempty"`        // Values read from AWS just now, such as the messages in a queue; absent for kinds that have none.
	LiveError   string            `json:"liveError,omitempty"`   // Why they could not be read.
	Message     string            `json:"message,omitempty"`     // Its outcome in words.
	NextCheck   *time.Time        `json:"nextCheck,omitempty"`   // When the next one is due if nothing happens before. Absent while the object is paused, and after a failure, which is tried again with back-off.
	Passes      int64             `json:"passes,omitempty"`      // How many checks there were since the operator started.
	Reason      string            `json:"reason,omitempty"`      // Its outcome, as in the Ready condition.
	State       string            `json:"state"`                 // checked: all else is there. unchecked: the operator has not checked the object since it started. unknown: the operator does not answer.
}

// Definitions is as in the document.
type Definitions struct {
	Items    []KindDefinition `json:"items"`
	Revision string           `json:"revision"` // Changes with any kind; the ETag without its quotes.
}

// DeletedItem is as in the document.
type DeletedItem struct {
	Account   string            `json:"account"` // The AWS account that has it.
	Arn       string            `json:"arn"`
	Choose    []string          `json:"choose"`          // Required fields, by paths below spec, of which AWS knows nothing any more: choose their values.
	Facts     string            `json:"facts,omitempty"` // What it is, in words, such as its size.
	Id        string            `json:"id"`              // The name or ID of what is left, in AWS.
	Kind      string            `json:"kind"`            // Kind of the object that was deleted.
	Name      string            `json:"name"`            // Its name.
	NameInUse bool              `json:"nameInUse"`       // Another object of the kind has the name now. A resource that was kept cannot be managed again before that one is deleted.
	Provider  string            `json:"provider"`        // The AWSProvider that leads to it.
	Region    string            `json:"region"`
	Snapshot  bool              `json:"snapshot"`        // True for a snapshot of the data, false for the resource itself, which was kept.
	Spec      map[string]string `json:"spec"`            // What a request of the same kind has to say to get it back, by paths below spec: for a resource that was kept together with the same name.
	Taken     *time.Time        `json:"taken,omitempty"` // When the snapshot was taken.
}

// Deleted is as in the document.
type Deleted struct {
	Items    []DeletedItem `json:"items"`    // Sorted by kind and name.
	Pending  bool          `json:"pending"`  // AWS has not answered yet: ask again in a few seconds.
	Problems []string      `json:"problems"` // Which AWS accounts and regions did not answer, and why: what is there is not among the items.
}

// EndedSessions is as in the document.
type EndedSessions struct {
	Until *time.Time `json:"until,omitempty"` // Sessions and tokens that began until then are refused. Absent after a dry run.
	User  string     `json:"user"`            // Username as Kubernetes knows it.
}

// Event is as in the document.
type Event struct {
	Count   int64     `json:"count"` // How often it happened.
	Message string    `json:"message"`
	Reason  string    `json:"reason"`
	Time    time.Time `json:"time"` // When it happened last.
	Type    string    `json:"type"` // Normal or Warning.
}

// Events is as in the document.
type Events struct {
	Items []Event `json:"items"`
}

// History is as in the document.
type History struct {
	Items []PastVersion `json:"items"`
}

// HostnameAnswer is as in the document.
type HostnameAnswer struct {
	Field    string          `json:"field,omitempty"`    // The field of the request's spec that is the problem.
	Holder   *HostnameHolder `json:"holder,omitempty"`   // The GatewayHostnameRequest that has it. Only for those who can get such requests there.
	Hostname string          `json:"hostname,omitempty"` // As DNS has it: in lower case and IDNA form. Absent if it is invalid.
	Message  string          `json:"message"`            // The state in words.
	State    string          `json:"state"`              // free: it can be requested. invalid: it is no hostname. noGrant: the namespace can have none. notGranted: its HostnameGrant does not allow this one. taken: another namespace has it. overlaps: another namespace has one that overlaps. yours: a request of the namespace asks for it already.
}

// HostnameHolder is as in the document.
type HostnameHolder struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// KindDefinition is as in the document.
type KindDefinition struct {
	Definition map[string]any `json:"definition"` // The CustomResourceDefinition, with the version in use. In lists the schema has no content.
	Entry      map[string]any `json:"entry"`      // The CatalogEntry: how people see the kind.
	Resource   string         `json:"resource"`   // Plural name, as in the paths of its objects.
	Revision   string         `json:"revision"`   // Changes with the entry and with the definition.
}

// Login is as in the document.
type Login struct {
	Audiences   []string `json:"audiences"`          // Of which a token must have one.
	ClientID    string   `json:"clientID,omitempty"` // Public client of command-line tools, for the device flow and for redirects to loopback. Absent if there is none: bring a token.
	Issuer      string   `json:"issuer"`             // URL of the OpenID Connect provider.
	JobAudience string   `json:"jobAudience"`        // The audience of a token that a CI system gives a job, to be exchanged at /oauth/token.
	Scopes      []string `json:"scopes,omitempty"`   // What to ask for with it.
}

// Me is as in the document.
type Me struct {
	Email      string              `json:"email,omitempty"`
	Groups     []string            `json:"groups"`
	May        map[string][]string `json:"may,omitempty"` // In the namespace asked for: what the caller can do, by the plural name of the kind: get, list, create, update, patch, delete.
	Name       string              `json:"name,omitempty"`
	Namespaces []string            `json:"namespaces"` // Where the caller can list something.
	Username   string              `json:"username"`   // As Kubernetes RBAC knows the caller.
}

// NamespaceItem is as in the document.
type NamespaceItem struct {
	Name string `json:"name"`
}

// Namespaces is as in the document.
type Namespaces struct {
	Items []NamespaceItem `json:"items"`
}

// Password is as in the document.
type Password struct {
	Access    string     `json:"access,omitempty"` // What the caller's own user may do in the database: Read or ReadWrite. Absent where the password is the object's.
	Database  string     `json:"database,omitempty"`
	ExpiresAt *time.Time `json:"expiresAt,omitempty"` // When the caller's own user is dropped.
	Host      string     `json:"host,omitempty"`
	Password  string     `json:"password"`
	Port      string     `json:"port,omitempty"`
	Type      string     `json:"type,omitempty"` // Of the binding, such as postgresql.
	Username  string     `json:"username,omitempty"`
}

// PastVersion is as in the document.
type PastVersion struct {
	Changed     []string       `json:"changed"`               // What differs from the next older version, as JSON pointers.
	ChangedBy   string         `json:"changedBy,omitempty"`   // Who changed it, as Kubernetes RBAC knows the user; absent if that is not known.
	ChangedRun  string         `json:"changedRun,omitempty"`  // The run of a pipeline that changed it, in one line; absent if none did.
	ChangedWith string         `json:"changedWith,omitempty"` // The field manager that changed it, which is what the client says of itself, such as portico-portal or kubectl-edit; absent if that is not known.
	Generation  int64          `json:"generation"`            // metadata.generation of the object in this version. Those that are missing were not recorded.
	Spec        map[string]any `json:"spec"`                  // The spec in this version.
	Time        time.Time      `json:"time"`                  // When it was changed, or if that is not known when it was recorded.
}

// Plan is as in the document.
type Plan struct {
	At    time.Time `json:"at"`
	Steps []Step    `json:"steps"`
}

// SecretKey is as in the document.
type SecretKey struct {
	Name  string     `json:"name"`
	SetAt *time.Time `json:"setAt,omitempty"` // When it was set through Portico; absent if it was set in another way.
	SetBy string     `json:"setBy,omitempty"` // By whom, as Kubernetes RBAC knows the user.
}

// SecretList is as in the document.
type SecretList struct {
	Items []SecretValues `json:"items"`
}

// SecretUse is as in the document.
type SecretUse struct {
	Effect string `json:"effect"` // When the object takes a new value.
	Kind   string `json:"kind"`
	Name   string `json:"name"`
}

// SecretValues is as in the document.
type SecretValues struct {
	Created time.Time   `json:"created"`
	Keys    []SecretKey `json:"keys"` // Sorted. There is no way to read their values here.
	Name    string      `json:"name"`
	UsedBy  []SecretUse `json:"usedBy,omitempty"` // Objects whose spec names the Secret, as far as the caller can list them.
}

// Step is as in the document.
type Step struct {
	Call string `json:"call"`          // The call to AWS.
	Why  string `json:"why,omitempty"` // The difference that asked for it.
}
